//! The `#[elastic_job]` attribute. Take it from `elasticjob_starter::prelude` or as `elasticjob::elastic_job`, not from
//! this crate.

mod args;
mod check;
mod errors;
mod expand;
mod item;

use proc_macro::TokenStream;
use syn::parse_quote;

#[allow(missing_docs, reason = "the documentation stands where it is exported: examples there can use the library")]
#[proc_macro_attribute]
pub fn elastic_job(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(parse_quote!(::elasticjob), args.into(), item.into()).into()
}

/// The same attribute for crates that depend only on the starter. The starter exports it as `elastic_job`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn __starter_elastic_job(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(parse_quote!(::elasticjob_starter::elasticjob), args.into(), item.into()).into()
}
