//! The item that the attribute is on.

mod dataflow;
mod function;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Token};

pub use dataflow::{DataflowImpl, Flow};
pub use function::{Argument, JobFunction};

/// The code of a job.
pub enum JobItem {
    /// A function.
    Function(JobFunction),
    /// The functions of a dataflow job.
    Dataflow(DataflowImpl),
}

impl JobItem {
    /// The kind of the job, as `elastic_job_type` names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Function(_) => "SIMPLE",
            Self::Dataflow(_) => "DATAFLOW",
        }
    }
}

impl Parse for JobItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Option<Token![unsafe]>>()?;
        let item =
            if ahead.peek(Token![impl]) { Self::Dataflow(input.parse()?) } else { Self::Function(input.parse()?) };
        match input.is_empty() {
            true => Ok(item),
            false => Err(input.error("expected one function or one `impl`")),
        }
    }
}

impl ToTokens for JobItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Function(function) => function.to_tokens(tokens),
            Self::Dataflow(dataflow) => dataflow.to_tokens(tokens),
        }
    }
}
