//! The code that registers a job function.

#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{LitStr, Path, ReturnType};

use crate::args::JobArgs;
use crate::check::check;
use crate::errors::Errors;
use crate::item::{Argument, JobItem, mentions_impl};

/// The function as it was written, and its registration or all that is wrong with it. `library` is where the library
/// is found when no option says so.
pub fn expand(library: Path, args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = JobArgs::parse(args, &mut errors);
    check(&args, &mut errors);
    let mut item = match syn::parse2::<JobItem>(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            errors.add(syn::Error::new(error.span(), format!("`#[elastic_job]` stands on an async function: {error}")));
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let arguments = item.arguments(&mut errors);
    let registration = if errors.is_empty() {
        register(args.library.as_ref().unwrap_or(&library), &args, &item, &arguments)
    } else {
        errors.into_tokens()
    };
    quote!(#item #registration)
}

fn register(library: &Path, args: &JobArgs, item: &JobItem, arguments: &[Argument]) -> TokenStream {
    // A call of a deprecated function would warn where the user cannot help it.
    let allow = item.is_deprecated().then(|| quote!(#[allow(deprecated)]));
    let function = item.sig.ident.unraw();
    let function = LitStr::new(&function.to_string(), function.span());
    let name = args.name.as_ref().unwrap_or(&function);
    let settings = settings(library, args);
    let bind = bind(library, item, arguments);
    // No `cfg` is repeated: the compiler judges those of the function, wherever they stand, before it comes here.
    // The unnamed constant keeps the name of the static out of the user's module. Closures, not functions, and the
    // span of the macro: names of local variables are then hygienic and cannot hide the user's function.
    quote_spanned! {Span::mixed_site()=>
        #allow
        const _: () = {
            #[#library::__private::linkme::distributed_slice(#library::spi::JOBS)]
            #[linkme(crate = #library::__private::linkme)]
            static __ELASTIC_JOB: #library::api::JobDescriptor = #library::api::JobDescriptor {
                name: #name,
                function: ::core::concat!(::core::module_path!(), "::", #function),
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                settings: #settings,
                bind: #bind,
            };
        };
    }
}

fn settings(library: &Path, args: &JobArgs) -> TokenStream {
    let span = Span::mixed_site();
    if args.settings.is_empty() {
        return quote_spanned!(span=> ::core::default::Default::default);
    }
    let fields = args.settings.iter().map(|setting| &setting.field);
    let values = args.settings.iter().map(|setting| &setting.value);
    quote_spanned! {span=>
        || {
            let mut settings: #library::config::JobSettings = ::core::default::Default::default();
            #(settings.#fields = ::core::option::Option::Some(#values);)*
            settings
        }
    }
}

fn bind(library: &Path, item: &JobItem, arguments: &[Argument]) -> TokenStream {
    let span = Span::mixed_site();
    let function = &item.sig.ident;
    // A return type with `impl Trait` can be written nowhere else.
    let returns = match &item.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) if mentions_impl(ty) => quote!(_),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    // What the function as a whole gets wrong, a future that is not `Send`, is shown at its name.
    let at_name = span.located_at(function.span());
    let handler = |run| quote_spanned!(at_name=> #library::__private::handler::<#returns, _, _>(#run));
    if arguments.is_empty() {
        let handler = handler(quote_spanned!(at_name=> |_| #function()));
        return quote_spanned!(span=> |_| ::core::result::Result::Ok(#handler));
    }
    let found: Vec<_> = (0..arguments.len()).map(|n| format_ident!("arg{n}", span = span)).collect();
    let finds = arguments.iter().zip(&found).map(|(Argument { name, bean, ty }, found)| {
        let bean = match bean {
            Some(bean) => quote_spanned!(span=> ::core::option::Option::Some(#bean)),
            None => quote_spanned!(span=> ::core::option::Option::None),
        };
        quote_spanned!(span=> let #found = #library::__private::find::<#ty>(beans, #name, #bean, &mut missing);)
    });
    let handler = handler(quote_spanned!(at_name=> move |context| #function(#(#found(&context)),*)));
    quote_spanned! {span=>
        |beans| {
            let mut missing = ::std::vec::Vec::new();
            #(#finds)*
            let (#(::core::option::Option::Some(#found),)*) = (#(#found,)*) else {
                return ::core::result::Result::Err(missing);
            };
            ::core::result::Result::Ok(#handler)
        }
    }
}
