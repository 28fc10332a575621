//! A job of the type SCRIPT: `script.yaml` is all that it needs, and `backup.sh` does the work.
//!
//! ```text
//! cargo run --bin script
//! ```

use std::path::Path;

use elasticjob_starter::prelude::*;

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("script.yaml");
    ElasticJobApp::builder().settings_from(settings).run().await
}
