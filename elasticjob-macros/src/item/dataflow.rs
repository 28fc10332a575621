//! The `impl` of a dataflow job: one function fetches data, one processes them; other items are allowed.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{Attribute, Generics, LitStr, Token, Type, Visibility, braced};

use super::function::{Argument, JobFunction};
use crate::errors::Errors;

/// An `impl`. Of its items only the two functions are parsed, and these without their bodies.
pub struct DataflowImpl {
    attrs: Vec<Attribute>,
    unsafety: Option<Token![unsafe]>,
    impl_token: Token![impl],
    generics: Generics,
    /// The tokens `Trait for`, which are an error.
    of_trait: TokenStream,
    ty: Type,
    brace: Brace,
    items: Vec<ImplItem>,
}

enum ImplItem {
    Function(Box<JobFunction>),
    Other(TokenTree),
}

/// The two functions, with their arguments.
pub struct Flow {
    /// The types that they return.
    pub fetched: TokenStream,
    pub processed: TokenStream,
    /// The places of their names.
    pub fetch: Span,
    pub process: Span,
    /// Their arguments; those of `process` without the data.
    pub fetch_arguments: Vec<Argument>,
    pub process_arguments: Vec<Argument>,
    /// The place of the type of the data in `process`.
    pub data: Span,
}

impl Parse for DataflowImpl {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (unsafety, impl_token) = (input.parse()?, input.parse()?);
        let generics = input.parse()?;
        let (mut of_trait, mut ty) = (TokenStream::new(), input.parse()?);
        if input.peek(Token![for]) {
            let for_token: Token![for] = input.parse()?;
            of_trait = quote!(#ty #for_token);
            ty = input.parse()?;
        }
        let content;
        let brace = braced!(content in input);
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(match is_function(&content) {
                true => ImplItem::Function(content.parse()?),
                false => ImplItem::Other(content.parse()?),
            });
        }
        Ok(Self { attrs, unsafety, impl_token, generics, of_trait, ty, brace, items })
    }
}

/// Whether a function named `fetch` or `process` comes next.
fn is_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.call(Attribute::parse_outer).is_err() || ahead.parse::<Visibility>().is_err() {
        return false;
    }
    ahead.parse::<syn::Signature>().is_ok_and(|sig| sig.ident == "fetch" || sig.ident == "process")
}

impl ToTokens for DataflowImpl {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, unsafety, impl_token, generics, of_trait, ty, brace, items } = self;
        tokens.extend(quote!(#(#attrs)* #unsafety #impl_token #generics #of_trait #ty));
        brace.surround(tokens, |tokens| {
            for item in items {
                match item {
                    ImplItem::Function(function) => function.to_tokens(tokens),
                    ImplItem::Other(token) => token.to_tokens(tokens),
                }
            }
        });
    }
}

impl DataflowImpl {
    /// The type that the functions belong to.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Its name.
    pub fn name(&self) -> Option<LitStr> {
        let Type::Path(path) = &self.ty else { return None };
        let name = &path.path.segments.last()?.ident;
        Some(LitStr::new(&name.unraw().to_string(), name.span()))
    }

    /// Whether a call of a function causes a warning.
    pub fn is_deprecated(&self) -> bool {
        self.functions().any(JobFunction::is_deprecated)
    }

    /// Checks the functions, removes the attributes of this crate from their arguments, and returns what the functions
    /// need.
    pub fn flow(&mut self, errors: &mut Errors) -> Option<Flow> {
        self.check_head(errors);
        let own = self.ty.to_token_stream();
        let fetch_arguments = self.arguments_of("fetch", errors);
        let process_arguments = self.arguments_of("process", errors);
        let (mut fetch_arguments, mut process_arguments) = (fetch_arguments?, process_arguments?);
        let (fetch, process) = (self.function("fetch")?, self.function("process")?);
        if fetch.returns().to_string() == quote!(()).to_string() {
            let message = "`fetch` returns what it fetched: `Vec<T>` or `Result<Vec<T>, E>`";
            errors.on(&fetch.sig.ident, message);
        }
        let data = take_data(process, &mut process_arguments, errors);
        for argument in fetch_arguments.iter_mut().chain(&mut process_arguments) {
            argument.ty = syn::parse2(with_self(argument.ty.to_token_stream(), &own)).ok()?;
        }
        let returns = |function: &JobFunction| with_self(function.returns(), &own);
        Some(Flow {
            fetched: returns(fetch),
            processed: returns(process),
            fetch: fetch.sig.ident.span(),
            process: process.sig.ident.span(),
            fetch_arguments,
            process_arguments,
            data: data?,
        })
    }

    fn check_head(&self, errors: &mut Errors) {
        let example = "`impl Orders { async fn fetch(...) ... async fn process(...) ... }`";
        if !self.of_trait.is_empty() {
            errors.on(&self.of_trait, format!("the functions of a dataflow job belong to the type alone: {example}"));
        }
        if !self.generics.params.is_empty() {
            errors.on(&self.generics, "a job cannot be generic: nothing tells which types it would be run with");
        }
        if self.name().is_none() {
            errors.on(&self.ty, format!("the functions of a dataflow job belong to a type with a name: {example}"));
        }
        for missing in ["fetch", "process"].into_iter().filter(|name| self.function(name).is_none()) {
            let message = format!("a dataflow job has the functions `fetch` and `process`; there is no `{missing}`");
            errors.on(&self.ty, message);
        }
    }

    fn arguments_of(&mut self, name: &str, errors: &mut Errors) -> Option<Vec<Argument>> {
        let found = self.items.iter_mut().find_map(|item| match item {
            ImplItem::Function(function) if function.sig.ident == name => Some(function),
            _ => None,
        })?;
        if !found.is_async() {
            errors.on(found.sig.fn_token, format!("`{name}` is async: write `async fn`"));
        }
        found.check_presence(errors);
        Some(found.arguments(errors))
    }

    fn function(&self, name: &str) -> Option<&JobFunction> {
        self.functions().find(|function| function.sig.ident == name)
    }

    fn functions(&self) -> impl Iterator<Item = &JobFunction> {
        self.items.iter().filter_map(|item| match item {
            ImplItem::Function(function) => Some(&**function),
            ImplItem::Other(_) => None,
        })
    }
}

/// Takes the last argument of `process`, which is the fetched data. Its type may have another name than `Vec`; then no
/// other argument may be a vector.
fn take_data(process: &JobFunction, arguments: &mut Vec<Argument>, errors: &mut Errors) -> Option<Span> {
    let is_vector = |argument: &Argument| matches!(&argument.ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Vec"));
    let expected = "the last argument of `process` is what `fetch` returned, `Vec<T>`";
    let Some(last) = arguments.pop() else {
        // The errors of its arguments are reported already.
        if process.sig.inputs.is_empty() {
            errors.on(&process.sig.ident, expected);
        }
        return None;
    };
    if let Some(early) = arguments.iter().find(|argument| is_vector(argument)).filter(|_| !is_vector(&last)) {
        errors.on(&early.ty, expected);
    }
    if let Some(bean) = last.bean {
        errors.on(bean, format!("{expected}, and no bean"));
    }
    Some(syn::spanned::Spanned::span(&last.ty))
}

/// Replaces `Self`, which has no meaning outside of the `impl`, by the type itself.
fn with_self(tokens: TokenStream, own: &TokenStream) -> TokenStream {
    let is_self = |ident: &Ident| ident == "Self";
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if is_self(&ident) => own.clone(),
        TokenTree::Group(group) => {
            let mut replaced = proc_macro2::Group::new(group.delimiter(), with_self(group.stream(), own));
            replaced.set_span(group.span());
            TokenTree::Group(replaced).into()
        }
        other => other.into(),
    });
    replaced.collect()
}

#[cfg(test)]
mod tests;
