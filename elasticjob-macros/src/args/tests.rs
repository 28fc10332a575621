use quote::quote;

use super::*;

fn parse(tokens: TokenStream) -> (JobArgs, Vec<String>) {
    let mut errors = Errors::default();
    let args = JobArgs::parse(tokens, &mut errors);
    (args, errors.messages())
}

#[track_caller]
fn assert_errors(tokens: TokenStream, expected: &[&str]) {
    let (_, messages) = parse(tokens);
    assert_eq!(messages.len(), expected.len(), "{messages:#?}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.contains(expected), "`{expected}` is not in: {message}");
    }
}

#[test]
fn options_of_each_kind_are_read() {
    let (args, errors) = parse(quote! {
        name = "订单", cron = "0 0 3 * * ?", sharding_total_count = 3, params = "0=a,", failover = true,
        max_time_diff_seconds = -1, job_listener_types = ["A", "B",],
        props = { "script.command.line" = "echo", "x" = "" }, crate = ::jobs::elasticjob,
    });
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(args.name.as_ref().map(LitStr::value).as_deref(), Some("订单"));
    assert_eq!(args.text("sharding_item_parameters").map(LitStr::value).as_deref(), Some("0=a,"));
    assert!(matches!(args.get("sharding_total_count"), Some(Value::Count(3))));
    assert!(matches!(args.get("max_time_diff_seconds"), Some(Value::Number(-1))));
    assert!(matches!(args.get("job_listener_types"), Some(Value::Names(names)) if names.len() == 2));
    assert!(matches!(args.get("props"), Some(Value::Props(props)) if props.len() == 2));
    assert!(args.library.is_some());
}

#[test]
fn no_options_and_a_comma_at_the_end_are_fine() {
    assert_errors(quote!(), &[]);
    assert_errors(quote!(disabled = true,), &[]);
}

#[test]
fn values_of_the_wrong_type_are_told_what_would_be_right() {
    assert_errors(quote!(cron = 5), &["`cron` takes a string literal, for example `cron = \"0 0 3 * * ?\"`"]);
    assert_errors(quote!(cron = SCHEDULE), &["`cron` takes a string literal"]);
    assert_errors(quote!(cron = "a" "b"), &["`cron` takes a string literal"]);
    assert_errors(quote!(failover = "yes"), &["`failover` takes `true` or `false`"]);
    for count in [quote!("3"), quote!(0), quote!(-1), quote!(1.5), quote!(2147483648), quote!(3u8)] {
        assert_errors(quote!(sharding_total_count = #count), &["takes a whole number from 1 to 2147483647"]);
    }
    assert_errors(quote!(reconcile_interval_minutes = 2147483648), &["takes a whole number from -2147483648"]);
    assert_errors(quote!(job_listener_types = "A"), &["takes string literals in brackets"]);
    assert_errors(quote!(props = ["a"]), &["takes pairs of string literals in braces"]);
    assert_errors(quote!(props = { "a": "b" }), &["takes pairs of string literals in braces"]);
    assert_errors(quote!(crate = "path"), &["takes a path"]);
    assert_errors(quote!(cron =), &["`cron` takes a string literal"]);
}

#[test]
fn parts_of_lists_and_properties_are_judged_one_by_one() {
    assert_errors(
        quote!(job_listener_types = ["A", 1, "A", " "]),
        &["each of `job_listener_types` is a string literal: write \"1\"", "\"A\" is given twice", "is blank"],
    );
    assert_errors(
        quote!(props = { "a" = true, "b" = "1", "b" = "2", "" = "3", 4 = "5" }),
        &[
            "a value of `props` is a string literal: write \"true\"",
            "\"b\" is given twice",
            "is blank",
            "a key of `props`",
        ],
    );
}

#[test]
fn what_is_no_option_is_refused() {
    assert_errors(quote!(crom = "x"), &["there is no option `crom`: did you mean `cron`?"]);
    assert_errors(quote!(retries = 3), &["there is no option `retries`; the options are `name`, `cron`,"]);
    assert_errors(quote!("0/5 * * * * ?"), &["a schedule is given as `cron = \"...\"`"]);
    assert_errors(quote!(sharding - total - count = 3), &["written with `_`: `sharding_total_count`"]);
    assert_errors(quote!(failover), &["`failover` needs a value: `failover = true`"]);
    assert_errors(quote!(cron("x")), &["`cron` needs a value"]);
    assert_errors(quote!(, disabled = true,, overwrite = true), &["before this comma", "before this comma"]);
}

#[test]
fn an_option_can_be_given_once() {
    assert_errors(quote!(cron = "x", cron = "y"), &["`cron` is given twice"]);
    assert_errors(quote!(params = "0=a", sharding_item_parameters = "0=a"), &["are the same option"]);
}

#[test]
fn a_blank_text_is_refused_where_it_says_nothing() {
    assert_errors(quote!(cron = " "), &["`cron` is blank"]);
    assert_errors(quote!(description = "", job_parameter = ""), &[]);
}

#[test]
fn one_wrong_option_does_not_hide_the_next() {
    assert_errors(
        quote!(crom = "x", failover = 1, sharding_total_count = 0, cron = "y", cron = 3),
        &["no option `crom`", "`failover` takes", "`sharding_total_count` takes", "`cron` is given twice"],
    );
}
