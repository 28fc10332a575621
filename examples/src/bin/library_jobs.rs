//! Jobs of a library: `examples/library` has them, and this program runs them.
//!
//! ```text
//! cargo run --bin library_jobs
//! ```
//!
//! A library that the program does not name is not linked, and its jobs are missing. When the program needs no item of
//! the library, `use elasticjob_examples_library as _;` names it.

use std::path::Path;

use elasticjob_examples_library::Ledger;
use elasticjob_starter::prelude::*;

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("library_jobs.yaml");
    ElasticJobApp::builder().settings_from(settings).provide(Ledger::default()).run().await
}
