//! Generates the code that finds the arguments and makes a handler.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Path, Type};

use crate::item::{Argument, Flow, JobFunction};

/// The code for a job that is a function.
pub(super) fn function(library: &Path, item: &JobFunction, arguments: &[Argument]) -> TokenStream {
    let span = Span::mixed_site();
    let (function, returns) = (&item.sig.ident, item.returns());
    // An error of the function as a whole, such as a future that is not `Send`, is shown at its name.
    let at_name = span.located_at(function.span());
    let handler = |run| match item.is_async() {
        true => quote_spanned!(at_name=> #library::__private::handler::<#returns, _, _>(#run)),
        false => quote_spanned!(at_name=> #library::__private::blocking_handler::<#returns, _>(#run)),
    };
    let found = names(arguments, 0);
    let run = match arguments.is_empty() {
        true => quote_spanned!(at_name=> |_| #function()),
        false => quote_spanned!(at_name=> move |context| #function(#(#found(&context)),*)),
    };
    finding(library, arguments, &found, &handler(run))
}

/// The code for a dataflow job.
pub(super) fn dataflow(library: &Path, ty: &Type, flow: &Flow) -> TokenStream {
    let span = Span::mixed_site();
    let Flow { fetched, processed, fetch, process, fetch_arguments, process_arguments, data } = flow;
    let (for_fetch, for_process) = (names(fetch_arguments, 0), names(process_arguments, fetch_arguments.len()));
    // As above, for each of the two functions. Data of a type that `process` does not take are shown at the type of its
    // argument.
    let (at_fetch, at_process) = (span.located_at(*fetch), span.located_at(*process));
    let fetch = Ident::new("fetch", *fetch);
    let process = Ident::new("process", *process);
    let data = Ident::new("data", span.located_at(*data));
    let fetching = quote_spanned! {at_fetch=>
        #library::__private::fetch::<#fetched, _, _>(move |context| <#ty>::#fetch(#(#for_fetch(&context)),*))
    };
    let handler = quote_spanned! {at_process=>
        #fetching.process::<#processed, _, _>(move |context, #data| <#ty>::#process(#(#for_process(&context),)* #data))
    };
    let arguments: Vec<Argument> = fetch_arguments.iter().chain(process_arguments).cloned().collect();
    finding(library, &arguments, &[for_fetch, for_process].concat(), &handler)
}

fn names(arguments: &[Argument], from: usize) -> Vec<Ident> {
    (from..from + arguments.len()).map(|n| format_ident!("arg{n}", span = Span::mixed_site())).collect()
}

/// Finds the arguments, each under a name of its own, then makes a handler with them.
fn finding(library: &Path, arguments: &[Argument], found: &[Ident], handler: &TokenStream) -> TokenStream {
    let span = Span::mixed_site();
    if arguments.is_empty() {
        return quote_spanned!(span=> |_| ::core::result::Result::Ok(#handler));
    }
    let finds = arguments.iter().zip(found).map(|(Argument { name, bean, ty }, found)| {
        let bean = match bean {
            Some(bean) => quote_spanned!(span=> ::core::option::Option::Some(#bean)),
            None => quote_spanned!(span=> ::core::option::Option::None),
        };
        quote_spanned!(span=> let #found = #library::__private::find::<#ty>(beans, #name, #bean, &mut missing);)
    });
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
