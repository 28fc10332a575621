use std::str::FromStr;

use syn::parse_quote;

use super::*;

fn tokens(text: &str) -> TokenStream {
    TokenStream::from_str(text).expect("the text is Rust")
}

fn expanded(args: &str, item: &str) -> String {
    expand(parse_quote!(::elasticjob), tokens(args), tokens(item)).to_string()
}

#[track_caller]
fn assert_golden(args: &str, item: &str, golden: &str) {
    // Parsed code and generated code have different blanks between signs.
    let plain = |code: &str| code.split_whitespace().collect::<String>();
    let actual = expanded(args, item);
    let (left, right) = (plain(&actual), plain(&tokens(golden).to_string()));
    let same = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    let differs: String = left.chars().skip(same.saturating_sub(40)).take(100).collect();
    assert!(left == right, "the golden file has something else near: {differs}\n\n{actual}");
}

#[test]
fn a_job_with_settings_and_arguments_expands_as_the_golden_file_says() {
    assert_golden(
        r#"name = "sync-orders", cron = "0/5 * * * * ?", sharding_total_count = 3, monitor_execution = false,
           max_time_diff_seconds = -1, job_listener_types = ["A"], props = { "a.b" = "c" }"#,
        r#"/// Syncs.
           #[cfg(unix)]
           #[allow(unused)]
           pub async fn sync(context: ShardingContext, #[bean("pool")] mut pool: Inject<Pool>) -> JobResult { Ok(()) }"#,
        include_str!("golden/full.rs"),
    );
}

#[test]
fn a_bare_job_expands_as_the_golden_file_says() {
    assert_golden("", "async fn tick() {}", include_str!("golden/bare.rs"));
}

#[test]
fn a_job_that_does_not_await_expands_to_one_that_blocks() {
    let code = expanded("", "fn tick() -> JobResult {}");
    assert!(code.contains("blocking_handler :: < JobResult , _ > (| _ | tick ())"), "{code}");
}

#[test]
fn a_dataflow_job_expands_as_the_golden_file_says() {
    assert_golden(
        "cron = \"0/5 * * * * ?\"",
        r#"impl Orders {
               async fn fetch(db: Inject<Db>) -> Result<Vec<Order>, DbError> { Ok(vec![]) }
               async fn process(context: ShardingContext, #[bean("main")] db: Inject<Self>, orders: Vec<Order>) {}
           }"#,
        include_str!("golden/dataflow.rs"),
    );
}

#[test]
fn the_library_is_looked_for_where_the_option_says() {
    let code = expanded("crate = ::jobs::core", "async fn tick() {}");
    assert!(code.contains("linkme (crate = :: jobs :: core :: __private :: linkme)"), "{code}");
    assert!(!code.contains("elasticjob ::"), "{code}");
}

#[test]
fn a_raw_name_is_a_plain_name_of_a_job() {
    let code = expanded("", "async fn r#match() {}");
    assert!(code.contains(r#"name : "match""#) && code.contains("r#match ()"), "{code}");
}

#[test]
fn the_function_comes_out_without_our_attributes_even_when_all_is_wrong() {
    let code = expanded("crom = 1", r#"fn run(self, #[bean(3)] #[allow(x)] a: A) { let half = }"#);
    assert!(code.starts_with("fn run (self , # [allow (x)] a : A) { let half = }"), "{code}");
    assert_eq!(code.matches("compile_error").count(), 3, "{code}");
    assert!(!code.contains("JOBS"), "{code}");
}

#[test]
fn what_is_no_function_comes_out_as_it_went_in() {
    let code = expanded("", "struct Job;");
    assert!(code.starts_with("struct Job ;"), "{code}");
    assert!(code.contains("stands on a function, or on an `impl`"), "{code}");
}
