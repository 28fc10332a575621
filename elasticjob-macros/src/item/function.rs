//! The function of a job.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, FnArg, LitStr, Meta, Pat, PatType, ReturnType, Safety, Signature, Type, Visibility};

use crate::errors::Errors;

/// A function. Its body is never parsed, so that it is emitted as it was written, even when it is incomplete.
pub struct JobFunction {
    attrs: Vec<Attribute>,
    vis: Visibility,
    /// The signature, without the attributes of this crate on its arguments.
    pub sig: Signature,
    body: TokenStream,
}

/// An argument that is found among the beans.
#[derive(Clone)]
pub struct Argument {
    /// Its name, for messages.
    pub name: String,
    /// The name in `#[bean("...")]`.
    pub bean: Option<LitStr>,
    /// Its type.
    pub ty: Type,
}

impl Parse for JobFunction {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: body(input)?,
        })
    }
}

/// The tokens up to the end of the function; after that another item begins.
fn body(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut body = TokenStream::new();
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let is_last = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
            || matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
        body.extend([token]);
        if is_last {
            break;
        }
    }
    Ok(body)
}

impl ToTokens for JobFunction {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for attr in &self.attrs {
            attr.to_tokens(tokens);
        }
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

impl JobFunction {
    /// Whether a call of the function causes a warning.
    pub fn is_deprecated(&self) -> bool {
        self.attrs.iter().any(|attr| attr.path().is_ident("deprecated"))
    }

    /// Whether it is async. A function that is not async runs on a thread for blocking work.
    pub fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }

    /// Refuses a `cfg` of its own: the function cannot be left out here.
    pub fn check_presence(&self, errors: &mut Errors) {
        for attr in self.attrs.iter().filter(|attr| is_conditional(attr)) {
            errors.on(attr, "a dataflow job has both functions or is not there: put the `cfg` on the `impl`");
        }
    }

    /// The type that it returns. `_` where the type can be written nowhere else, because it has an `impl Trait`.
    pub fn returns(&self) -> TokenStream {
        match &self.sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) if mentions_impl(ty) => quote!(_),
            ReturnType::Type(_, ty) => ty.to_token_stream(),
        }
    }

    /// Checks the signature, removes the attributes of this crate from its arguments, and returns the arguments.
    pub fn arguments(&mut self, errors: &mut Errors) -> Vec<Argument> {
        self.check_qualifiers(errors);
        check_return(&self.sig.output, errors);
        let mut arguments = Vec::new();
        for input in &mut self.sig.inputs {
            match input {
                FnArg::Receiver(receiver) => errors.on(
                    receiver,
                    "a job is a function of its own: take what `self` would hold as an `Inject<T>` argument",
                ),
                FnArg::Typed(typed) => arguments.extend(argument(typed, errors)),
            }
        }
        arguments
    }

    fn check_qualifiers(&self, errors: &mut Errors) {
        let sig = &self.sig;
        if let Some(constness) = &sig.constness {
            errors.on(constness, "a job function cannot be `const`");
        }
        if let Safety::Unsafe(unsafety) = &sig.safety {
            errors.on(unsafety, "a job function cannot be `unsafe`: no caller could keep its promises");
        }
        if let Some(abi) = &sig.abi {
            errors.on(abi, "a job function cannot be `extern`");
        }
        if let Some(variadic) = &sig.variadic {
            errors.on(variadic, "a job function has a fixed number of arguments");
        }
        if !sig.generics.params.is_empty() {
            errors
                .on(&sig.generics, "a job function cannot be generic: nothing tells which types it would be run with");
        } else if let Some(bounds) = &sig.generics.where_clause {
            errors.on(bounds, "a job function has no `where` clause");
        }
    }
}

fn argument(typed: &mut PatType, errors: &mut Errors) -> Option<Argument> {
    let bean = take_bean(&mut typed.attrs, errors);
    for attr in typed.attrs.iter().filter(|attr| is_conditional(attr)) {
        errors.on(attr, "an argument of a job function is there or not: put the `cfg` on the function");
    }
    let name = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.unraw().to_string()),
        Pat::Wild(_) => Some("_".to_owned()),
        pattern => {
            errors.on(pattern, "an argument of a job function is a plain name: take it apart in the body");
            None
        }
    };
    match &*typed.ty {
        Type::Reference(reference) => {
            let owned = &reference.elem;
            let message = format!("an argument of a job function is owned: `{}`", owned.to_token_stream());
            errors.on(reference, message);
            None
        }
        ty if mentions_impl(ty) => {
            errors.on(ty, "an argument of a job function has a type that can be named");
            None
        }
        ty => Some(Argument { name: name?, bean, ty: ty.clone() }),
    }
}

fn is_conditional(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")
}

/// Takes `#[bean("name")]` out of the attributes of an argument. The compiler does not know it, so it is removed even
/// when it is wrong.
fn take_bean(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<LitStr> {
    let mut found = None;
    attrs.retain(|attr| {
        if !attr.path().is_ident("bean") {
            return true;
        }
        match bean_name(attr) {
            Ok(_) if found.is_some() => errors.on(attr, "an argument has one bean"),
            Ok(name) => found = Some(name),
            Err(error) => errors.add(error),
        }
        false
    });
    found
}

fn bean_name(attr: &Attribute) -> syn::Result<LitStr> {
    let expected = "a bean is named by a string literal: `#[bean(\"name\")]`";
    let Meta::List(list) = &attr.meta else { return Err(Error::new_spanned(attr, expected)) };
    let name: LitStr = syn::parse2(list.tokens.clone()).map_err(|_| Error::new_spanned(attr, expected))?;
    if name.value().trim().is_empty() {
        return Err(Error::new_spanned(name, "the name of a bean is blank"));
    }
    Ok(name)
}

fn check_return(output: &ReturnType, errors: &mut Errors) {
    if let ReturnType::Type(_, ty) = output
        && let Type::Never(never) = &**ty
    {
        errors.on(never, "a job function returns, once for each item");
    }
}

/// Whether the type contains `impl Trait`. Such a type can be written only in the signature.
fn mentions_impl(ty: &Type) -> bool {
    fn search(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "impl",
            TokenTree::Group(group) => search(group.stream()),
            _ => false,
        })
    }
    search(ty.to_token_stream())
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn arguments(mut item: JobFunction) -> (Vec<Argument>, Vec<String>, String) {
        let mut errors = Errors::default();
        let arguments = item.arguments(&mut errors);
        (arguments, errors.messages(), item.to_token_stream().to_string())
    }

    #[test]
    fn arguments_are_told_with_their_beans() {
        let (arguments, errors, code) = arguments(parse_quote! {
            async fn job(mut context: ShardingContext, #[bean("main pool")] _: Inject<Pool>, r#type: Inject<u8>) {}
        });
        assert_eq!(errors, Vec::<String>::new());
        let found = arguments.iter().map(|found| (found.name.as_str(), found.bean.as_ref().map(LitStr::value)));
        let expected = [("context", None), ("_", Some("main pool".to_owned())), ("type", None)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert!(!code.contains("bean") && code.contains("mut context"), "{code}");
    }

    #[test]
    fn all_that_is_wrong_with_a_signature_is_told_at_once() {
        let (_, errors, _) = arguments(parse_quote! {
            const unsafe extern "C" fn job<T>(&self, ref a: A, b @ _: B, c: &C, d: impl D, #[cfg(x)] e: E) -> ! {}
        });
        let expected = [
            "`const`",
            "`unsafe`",
            "`extern`",
            "generic",
            "`self`",
            "a plain name",
            "a plain name",
            "owned: `C`",
            "can be named",
            "the `cfg`",
            "returns",
        ];
        assert_eq!(errors.len(), expected.len(), "{errors:#?}");
        for expected in expected {
            assert!(errors.iter().any(|error| error.contains(expected)), "{expected}: {errors:#?}");
        }
    }

    #[test]
    fn an_argument_has_at_most_one_bean_and_it_is_a_name() {
        let (_, errors, code) = arguments(parse_quote! {
            async fn job(#[bean] a: A, #[bean("")] b: B, #[bean("x")] #[bean("y")] c: C, #[bean = "x"] d: D) {}
        });
        let expected = ["a string literal", "is blank", "has one bean", "a string literal"];
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(errors.len(), 4);
        assert!(!code.contains("bean"), "{code}");
    }
}
