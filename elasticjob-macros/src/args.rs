//! The options in the parentheses of the attribute.

#[cfg(test)]
mod tests;
mod unknown;
mod value;

use elasticjob_syntax::job_option::{self, JobOption};
use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Path, Token};

use crate::errors::Errors;
use unknown::unknown;
pub use value::Value;

/// The options of one attribute.
#[derive(Default)]
pub struct JobArgs {
    /// The option `crate`: the path of the library.
    pub library: Option<Path>,
    /// The option `name`.
    pub name: Option<LitStr>,
    /// All options that are settings of the job, in the order they are written.
    pub settings: Vec<Setting>,
}

/// An option that is a setting of the job.
pub struct Setting {
    /// The field of the settings, with the span of the option's name as it is written.
    pub field: Ident,
    /// Its value.
    pub value: Value,
}

impl JobArgs {
    /// Reads the options one by one, so that a wrong option does not hide the errors of the others.
    pub fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let mut seen: Vec<(&'static JobOption, String)> = Vec::new();
        for tokens in split_at_commas(tokens, errors) {
            let result = (|input: ParseStream<'_>| args.parse_option(input, &mut seen, errors)).parse2(tokens);
            if let Err(error) = result {
                errors.add(error);
            }
        }
        args
    }

    /// The value of a setting.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.settings.iter().find(|setting| setting.field == field).map(|setting| &setting.value)
    }

    /// The literal of a text setting.
    pub fn text(&self, field: &str) -> Option<&LitStr> {
        match self.get(field) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn parse_option(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Vec<(&'static JobOption, String)>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let name = option_name(input)?;
        let written = name.to_string();
        let Some(option) = job_option::all().find(|option| option.answers_to(&written)) else {
            // Without a known option the value cannot be checked.
            input.parse::<TokenStream>()?;
            return Err(syn::Error::new(name.span(), unknown(&written)));
        };
        if let Some((_, before)) = seen.iter().find(|(known, _)| known.name == option.name) {
            input.parse::<TokenStream>()?;
            let message = if *before == written {
                format!("`{written}` is given twice")
            } else {
                format!("`{written}` and `{before}` are the same option: give one of them")
            };
            return Err(syn::Error::new(name.span(), message));
        }
        seen.push((option, written.clone()));
        if !input.peek(Token![=]) {
            let message = format!("`{written}` needs a value: {}", option.written_as(&written));
            input.parse::<TokenStream>()?;
            return Err(syn::Error::new(name.span(), message));
        }
        input.parse::<Token![=]>()?;
        let Some(value) = Value::parse(option, &name, input.parse()?, errors) else { return Ok(()) };
        match (option.name, value) {
            ("crate", Value::Path(path)) => self.library = Some(path),
            ("name", Value::Text(name)) => self.name = Some(name),
            (field, value) => self.settings.push(Setting { field: Ident::new(field, name.span()), value }),
        }
        Ok(())
    }
}

/// The name of an option, or the error of the tokens in its place.
fn option_name(input: ParseStream<'_>) -> syn::Result<Ident> {
    if !input.peek(Ident::peek_any) {
        let span = input.span();
        let schedule = input.peek(LitStr);
        input.parse::<TokenStream>()?;
        let hint = if schedule { "; a schedule is given as `cron = \"...\"`" } else { "" };
        return Err(syn::Error::new(span, format!("expected an option, `name = value`{hint}")));
    }
    let name = input.call(Ident::parse_any)?;
    if input.peek(Token![-]) {
        let rest = input.parse::<TokenStream>()?;
        let dashed: String =
            rest.into_iter().take_while(|token| !is_punct(token, '=')).map(|t| t.to_string()).collect();
        let message = format!("names of options are written with `_`: `{name}{}`", dashed.replace('-', "_"));
        return Err(syn::Error::new(name.span(), message));
    }
    Ok(name)
}

/// The tokens between the commas that are not inside of brackets.
fn split_at_commas(tokens: TokenStream, errors: &mut Errors) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match parts.last_mut() {
            Some(part) if is_punct(&token, ',') => {
                if part.is_empty() {
                    errors.at(token.span(), "expected an option before this comma");
                } else {
                    parts.push(TokenStream::new());
                }
            }
            Some(part) => part.extend([token]),
            None => unreachable!("there is always a last part"),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
