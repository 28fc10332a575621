//! A database of traces in a file, for tests.

use std::path::PathBuf;

use elasticjob::trace::AnyTraceReader;
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTraceReader, RdbTracingStorage};

/// The database of one test, removed when it is dropped.
pub(super) struct TraceDatabase {
    folder: PathBuf,
    source: DataSource,
}

impl TraceDatabase {
    pub(super) fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("elasticjob-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = DataSource::new(&format!("sqlite:{}", folder.join("trace.db").display())).unwrap();
        Self { folder, source }
    }

    pub(super) async fn storage(&self) -> RdbTracingStorage {
        RdbTracingStorage::connect(&self.source, RdbOptions::default()).await.unwrap()
    }

    pub(super) async fn reader(&self) -> AnyTraceReader {
        AnyTraceReader::new(RdbTraceReader::connect(&self.source, None).await.unwrap())
    }
}

impl Drop for TraceDatabase {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
