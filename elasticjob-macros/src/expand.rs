//! Generates the code that registers a job.

mod bind;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{LitStr, Path};

use crate::args::JobArgs;
use crate::check::check;
use crate::errors::Errors;
use crate::item::JobItem;

/// The item as it was written, with its registration or with all its errors. `library` is the path of the library when
/// no option gives another one.
pub fn expand(library: Path, args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = JobArgs::parse(args, &mut errors);
    let mut item = match syn::parse2::<JobItem>(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let message = format!("`#[elastic_job]` stands on a function, or on an `impl` with two: {error}");
            errors.add(syn::Error::new(error.span(), message));
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    check(&args, item.kind(), &mut errors);
    let library = args.library.as_ref().unwrap_or(&library);
    let job = job(library, &mut item, &mut errors);
    let registration = match job.filter(|_| errors.is_empty()) {
        Some(job) => register(library, &args, job),
        None => errors.into_tokens(),
    };
    quote!(#item #registration)
}

/// The parts of a job.
struct Job {
    /// Name of the function or type.
    name: LitStr,
    /// The variant of its kind.
    kind: &'static str,
    /// Whether a call of it causes a warning.
    is_deprecated: bool,
    /// Finds its arguments and makes its handler.
    bind: TokenStream,
}

fn job(library: &Path, item: &mut JobItem, errors: &mut Errors) -> Option<Job> {
    match item {
        JobItem::Function(function) => {
            let arguments = function.arguments(errors);
            let name = function.sig.ident.unraw();
            let bind = bind::function(library, function, &arguments);
            let name = LitStr::new(&name.to_string(), name.span());
            Some(Job { name, kind: "Simple", is_deprecated: function.is_deprecated(), bind })
        }
        JobItem::Dataflow(dataflow) => {
            let flow = dataflow.flow(errors)?;
            let bind = bind::dataflow(library, dataflow.ty(), &flow);
            Some(Job { name: dataflow.name()?, kind: "Dataflow", is_deprecated: dataflow.is_deprecated(), bind })
        }
    }
}

fn register(library: &Path, args: &JobArgs, job: Job) -> TokenStream {
    let Job { name: function, kind, is_deprecated, bind } = job;
    // Otherwise a call of a deprecated function would cause a warning that the user cannot avoid.
    let allow = is_deprecated.then(|| quote!(#[allow(deprecated)]));
    let name = args.name.as_ref().unwrap_or(&function);
    let kind = format_ident!("{kind}");
    let settings = settings(library, args);
    // No `cfg` is repeated: the compiler has evaluated every `cfg` of the item before this macro runs. The unnamed
    // constant keeps the name of the static out of the user's module. The code has closures instead of functions, and
    // the span of the macro: names of local variables are then hygienic and cannot hide the user's function.
    quote_spanned! {Span::mixed_site()=>
        #allow
        const _: () = {
            #[#library::__private::linkme::distributed_slice(#library::spi::JOBS)]
            #[linkme(crate = #library::__private::linkme)]
            static __ELASTIC_JOB: #library::api::JobDescriptor = #library::api::JobDescriptor {
                name: #name,
                function: ::core::concat!(::core::module_path!(), "::", #function),
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                kind: #library::api::JobKind::#kind,
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
