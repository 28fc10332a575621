//! Tests of what `#[elastic_job]` refuses, with its messages. What it accepts are the programs in `pass`.
//!
//! After a wanted change of a message: `TRYBUILD=overwrite cargo test -p elasticjob-macro-tests --test macros`.

use trybuild::TestCases;

#[test]
fn attributes_that_are_wrong_are_refused_with_the_recorded_messages() {
    TestCases::new().compile_fail("fail/*.rs");
}
