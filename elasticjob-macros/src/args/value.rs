//! The value of an option.

use elasticjob_syntax::job_option::{JobOption, OptionKind as Kind};
use proc_macro2::TokenStream;
use quote::{ToTokens, TokenStreamExt, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitBool, LitInt, LitStr, Path, Token, braced, bracketed};

use crate::errors::Errors;

/// The value of an option, with the literals it was written with.
pub enum Value {
    /// A text.
    Text(LitStr),
    /// `true` or `false`.
    Flag(LitBool),
    /// A number from 1.
    Count(u32),
    /// A number.
    Number(i32),
    /// Names.
    Names(Vec<LitStr>),
    /// Pairs of key and value.
    Props(Vec<(LitStr, LitStr)>),
    /// A path.
    Path(Path),
}

impl Value {
    /// Reads the value of `option`, which was written as `written`. `None` when the value is wrong; `errors` has the
    /// error then.
    pub fn parse(option: &JobOption, written: &Ident, tokens: TokenStream, errors: &mut Errors) -> Option<Self> {
        let parsed = (|input: ParseStream<'_>| Self::parse_kind(option.kind, input)).parse2(tokens.clone());
        let Ok(value) = parsed else {
            let example = option.written_as(&written.to_string());
            let message = format!("`{written}` takes {}, for example {example}", option.expected());
            if tokens.is_empty() {
                errors.at(written.span(), message);
            } else {
                errors.on(tokens, message);
            }
            return None;
        };
        value.check(option.kind, written, errors)
    }

    fn parse_kind(kind: Kind, input: ParseStream<'_>) -> syn::Result<Parsed> {
        Ok(match kind {
            Kind::Text | Kind::Name => Parsed::Value(Self::Text(input.parse()?)),
            Kind::Flag => Parsed::Value(Self::Flag(input.parse()?)),
            Kind::Count => {
                // The registry layout has a signed number of 32 bits here.
                match integer(&input.parse()?)? {
                    count @ 1.. => Parsed::Value(Self::Count(count.unsigned_abs())),
                    _ => return Err(input.error("below 1")),
                }
            }
            Kind::Number => Parsed::Value(Self::Number(integer(&input.parse()?)?)),
            Kind::Path => Parsed::Value(Self::Path(input.call(Path::parse_mod_style)?)),
            Kind::Names => {
                let content;
                bracketed!(content in input);
                Parsed::Names(Punctuated::parse_terminated(&content)?)
            }
            Kind::Props => {
                let content;
                braced!(content in input);
                Parsed::Props(Punctuated::parse_terminated(&content)?)
            }
        })
    }
}

/// A value of the right form, whose parts are not checked yet.
enum Parsed {
    Value(Value),
    Names(Punctuated<Lit, Token![,]>),
    Props(Punctuated<Prop, Token![,]>),
}

struct Prop {
    key: Lit,
    value: Lit,
}

impl Parse for Prop {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { key, value: input.parse()? })
    }
}

impl Parsed {
    fn check(self, kind: Kind, written: &Ident, errors: &mut Errors) -> Option<Value> {
        match self {
            Self::Value(Value::Text(text)) if kind == Kind::Name => {
                said(&text, written, errors).then_some(Value::Text(text))
            }
            Self::Value(value) => Some(value),
            Self::Names(names) => Some(Value::Names(check_names(names, written, errors))),
            Self::Props(props) => Some(Value::Props(check_props(props, written, errors))),
        }
    }
}

fn check_names(names: Punctuated<Lit, Token![,]>, written: &Ident, errors: &mut Errors) -> Vec<LitStr> {
    let mut checked: Vec<LitStr> = Vec::new();
    for name in names {
        let Some(name) = text(name, &format!("each of `{written}`"), errors) else { continue };
        if checked.iter().any(|other| other.value() == name.value()) {
            errors.on(&name, format!("{} is given twice", name.token()));
        } else if name.value().trim().is_empty() {
            errors.on(&name, format!("one of `{written}` is blank"));
        } else {
            checked.push(name);
        }
    }
    checked
}

fn check_props(props: Punctuated<Prop, Token![,]>, written: &Ident, errors: &mut Errors) -> Vec<(LitStr, LitStr)> {
    let mut checked: Vec<(LitStr, LitStr)> = Vec::new();
    for Prop { key, value } in props {
        let key = text(key, &format!("a key of `{written}`"), errors);
        let value = text(value, &format!("a value of `{written}`"), errors);
        let (Some(key), Some(value)) = (key, value) else { continue };
        if checked.iter().any(|(other, _)| other.value() == key.value()) {
            errors.on(&key, format!("the key {} is given twice", key.token()));
        } else if key.value().trim().is_empty() {
            errors.on(&key, format!("a key of `{written}` is blank"));
        } else {
            checked.push((key, value));
        }
    }
    checked
}

fn integer(literal: &LitInt) -> syn::Result<i32> {
    if literal.suffix().is_empty() {
        literal.base10_parse()
    } else {
        Err(syn::Error::new(literal.span(), "a plain number has no suffix"))
    }
}

fn text(literal: Lit, what: &str, errors: &mut Errors) -> Option<LitStr> {
    match literal {
        Lit::Str(text) => Some(text),
        other => {
            errors.on(&other, format!("{what} is a string literal: write \"{}\"", other.to_token_stream()));
            None
        }
    }
}

/// Refuses a blank text: only leaving the option out means "none".
fn said(text: &LitStr, written: &Ident, errors: &mut Errors) -> bool {
    let blank = text.value().trim().is_empty();
    if blank {
        errors.on(text, format!("`{written}` is blank: leave it out where there is nothing to say"));
    }
    !blank
}

/// The value as an expression of the type that the field of the settings holds.
impl ToTokens for Value {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(match self {
            Self::Text(text) => quote!(::std::borrow::ToOwned::to_owned(#text)),
            Self::Flag(flag) => quote!(#flag),
            Self::Count(count) => quote!(#count),
            Self::Number(number) => quote!(#number),
            Self::Names(names) => quote!(::std::vec![#(::std::borrow::ToOwned::to_owned(#names)),*]),
            Self::Props(props) => {
                let pairs = props.iter().map(|(key, value)| {
                    quote!((::std::borrow::ToOwned::to_owned(#key), ::std::borrow::ToOwned::to_owned(#value)))
                });
                quote!(::core::iter::FromIterator::from_iter([#(#pairs),*]))
            }
            Self::Path(path) => quote!(#path),
        });
    }
}
