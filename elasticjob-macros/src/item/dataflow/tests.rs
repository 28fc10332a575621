use syn::parse_quote;

use super::*;

fn flow(mut item: DataflowImpl) -> (Option<Flow>, Vec<String>, String) {
    let mut errors = Errors::default();
    let flow = item.flow(&mut errors);
    (flow, errors.messages(), item.to_token_stream().to_string())
}

fn described(arguments: &[Argument]) -> Vec<String> {
    arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.ty.to_token_stream())).collect()
}

#[test]
fn both_functions_are_found_among_others_and_tell_what_they_need() {
    let (flow, errors, code) = flow(parse_quote! {
        /// Settles.
        impl shop::Orders {
            const PAGE: usize = 100;

            async fn fetch(context: ShardingContext, #[bean("main")] db: Inject<Self>) -> Result<Vec<Order>, DbError> {
                half
            }

            fn helper() {}

            pub async fn process(db: Inject<Db>, orders: Vec<Order>) {}
        }
    });
    assert_eq!(errors, Vec::<String>::new());
    let flow = flow.unwrap();
    assert_eq!(described(&flow.fetch_arguments), ["context: ShardingContext", "db: Inject < shop :: Orders >"]);
    assert_eq!(described(&flow.process_arguments), ["db: Inject < Db >"]);
    assert_eq!(flow.fetched.to_string(), "Result < Vec < Order > , DbError >");
    assert_eq!(flow.processed.to_string(), "()");
    assert!(!code.contains("bean") && code.contains("const PAGE") && code.contains("fn helper ()"), "{code}");
}

#[track_caller]
fn assert_wrong(item: DataflowImpl, expected: &[&str]) {
    let (_, errors, _) = flow(item);
    assert_eq!(errors.len(), expected.len(), "{errors:#?}");
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.contains(expected), "{expected}: {errors:#?}");
    }
}

#[test]
fn an_impl_that_is_no_dataflow_job_says_what_is_missing() {
    assert_wrong(parse_quote! { impl Orders {} }, &["no `fetch`", "no `process`"]);
    assert_wrong(
        parse_quote! { impl<T> Dataflow for [T] { async fn fetch() -> Vec<T> { vec![] } } },
        &["belong to the type alone", "generic", "a type with a name", "no `process`"],
    );
}

#[test]
fn functions_that_cannot_be_called_are_told_at_once() {
    assert_wrong(
        parse_quote! { impl Orders { #[cfg(unix)] fn fetch(&self) {} async fn process(&self) {} } },
        &["`fetch` is async", "put the `cfg` on the `impl`", "`self`", "`self`", "returns what it fetched"],
    );
}

#[test]
fn what_was_fetched_is_the_last_argument() {
    let of = |process: TokenStream| parse_quote! { impl Orders { async fn fetch() -> Vec<u8> { vec![] } #process } };
    let last = "the last argument of `process` is what `fetch` returned";
    assert_wrong(
        of(quote!(
            async fn process() {}
        )),
        &[last],
    );
    assert_wrong(
        of(quote!(
            async fn process(orders: Vec<u8>, context: ShardingContext) {}
        )),
        &[last],
    );
    assert_wrong(
        of(quote!(
            async fn process(#[bean("x")] orders: Vec<u8>) {}
        )),
        &["and no bean"],
    );
    assert_wrong(
        of(quote!(
            async fn process(context: ShardingContext, orders: Batch) {}
        )),
        &[],
    );
    assert_wrong(
        of(quote!(
            async fn process(orders: &[u8]) {}
        )),
        &["is owned"],
    );
}
