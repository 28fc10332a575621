//! What `#[elastic_job]` accepts and refuses, with the messages it gives.
//!
//! After a wanted change of a message: `TRYBUILD=overwrite cargo test -p elasticjob-tests --test macros`.

#[test]
fn attributes_are_accepted_or_refused_with_the_recorded_messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("macros/pass/*.rs");
    cases.compile_fail("macros/fail/*.rs");
}
