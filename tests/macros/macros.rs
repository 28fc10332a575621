//! Tests of what `#[elastic_job]` accepts and refuses, with its messages.
//!
//! After a wanted change of a message: `TRYBUILD=overwrite cargo test -p elasticjob-macro-tests`.

use trybuild::TestCases;

#[test]
fn attributes_that_are_right_are_accepted() {
    TestCases::new().pass("pass/*.rs");
}

/// Apart from those that are accepted: what is not to be run is checked all at once, and not built one after the other.
#[test]
fn attributes_that_are_wrong_are_refused_with_the_recorded_messages() {
    TestCases::new().compile_fail("fail/*.rs");
}
