//! The errors of one item, which are reported together.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// Collects the errors of one item in the order they are found.
#[derive(Default)]
pub struct Errors(Option<Error>);

impl Errors {
    /// Adds an error that points at `span`.
    pub fn at(&mut self, span: Span, message: impl Into<String>) {
        self.add(Error::new(span, message.into()));
    }

    /// Adds an error that points at everything from the first to the last of `tokens`.
    pub fn on(&mut self, tokens: impl ToTokens, message: impl Into<String>) {
        self.add(Error::new_spanned(tokens, message.into()));
    }

    /// Adds an error of the parser.
    pub fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// Whether there is no error so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each error; no tokens when there is none.
    pub fn into_tokens(self) -> TokenStream {
        self.0.map(|errors| errors.into_compile_error()).unwrap_or_default()
    }

    /// The messages, in order.
    #[cfg(test)]
    pub fn messages(self) -> Vec<String> {
        self.0.into_iter().flatten().map(|error| error.to_string()).collect()
    }
}
