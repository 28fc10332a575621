//! What `#[elastic_job]` accepts and refuses, with the messages it gives.
//!
//! After a wanted change of a message: `TRYBUILD=overwrite cargo test -p elasticjob-tests --test macros`.

use chrono_tz::TZ_VARIANTS;
use elasticjob::config::ItemParameters;

#[test]
fn attributes_are_accepted_or_refused_with_the_recorded_messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("macros/pass/*.rs");
    cases.compile_fail("macros/fail/*.rs");
}

/// The macro has a copy of the names because it would not be light with the database itself.
#[test]
fn the_macro_knows_the_time_zones_that_the_library_knows() {
    let mut names: Vec<&str> = TZ_VARIANTS.iter().map(|zone| zone.name()).collect();
    names.sort_unstable();
    let names = names.join("\n") + "\n";
    if std::env::var_os("UPDATE_ZONES").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../elasticjob-macros/src/zones.txt");
        std::fs::write(file, &names).expect("the file can be written");
        return;
    }
    let known = include_str!("../../elasticjob-macros/src/zones.txt");
    assert!(known == names, "the zones of the macro are out of date: run this test with UPDATE_ZONES=1");
}

/// The check of the macro, which is no part of what a proc-macro crate can hand out.
#[path = "../../elasticjob-macros/src/check/items.rs"]
#[allow(dead_code, reason = "its own tests are run with the macro")]
mod items;

/// All texts of up to six of these characters.
#[test]
fn the_macro_takes_the_item_parameters_that_the_library_takes() {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..6 {
        let longer: Vec<String> =
            texts[from..].iter().flat_map(|text| "02=, a".chars().map(move |more| format!("{text}{more}"))).collect();
        from = texts.len();
        texts.extend(longer);
    }
    for text in &texts {
        let (at_compile_time, at_start) = (items::check(text, Some(2)), ItemParameters::parse(text, 2));
        assert_eq!(at_compile_time.is_empty(), at_start.is_ok(), "{text:?}: {at_compile_time:?}, {at_start:?}");
    }
}
