//! A time limit for reads of traces: a page tells that the database is slow, and does not wait for it.

use std::time::Duration;

use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, FireCount, LogFilter, LogRecord,
    NewestRuns, Page, PageRequest, ReadError, RunCount, RunParts, StateFilter, StateRecord, TraceReader,
};

/// How long one read may take. Longer than any page takes at ten million rows, and shorter than the time after which proxies
/// give up.
const LIMIT: Duration = Duration::from_secs(15);

/// A reader whose reads end in time.
pub(crate) struct TimeLimited(pub(crate) AnyTraceReader);

async fn in_time<T>(read: impl Future<Output = Result<T, ReadError>>) -> Result<T, ReadError> {
    tokio::time::timeout(LIMIT, read).await.unwrap_or(Err(ReadError::TooSlow { limit: LIMIT }))
}

impl TraceReader for TimeLimited {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        in_time(self.0.executions(filter, page)).await
    }

    async fn count(&self, filter: &ExecutionFilter, most: u32) -> Result<RunCount, ReadError> {
        in_time(self.0.count(filter, most)).await
    }

    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        in_time(self.0.count_parts(wanted)).await
    }

    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        in_time(self.0.fires(wanted)).await
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        in_time(self.0.states(filter, page)).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        in_time(self.0.decisions(filter, page)).await
    }

    async fn log(&self, filter: &LogFilter, limit: u32) -> Result<Vec<LogRecord>, ReadError> {
        in_time(self.0.log(filter, limit)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::http::StatusCode;
    use axum::http::header::ACCEPT_LANGUAGE;
    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::testing::stuck::Stuck;
    use crate::testing::{call, cookie_of, request, with_users};
    use crate::{Console, Registry};

    #[tokio::test]
    async fn a_page_tells_that_the_database_of_traces_is_slow() {
        let memory = MemoryRegistry::new();
        let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(Stuck));
        let console = Console::new(with_users(), [registry]).expect("the options are right");
        let cookie = cookie_of(&console, "viewer").await;
        tokio::time::pause();
        for path in ["/history/executions", "/history/states", "/history/decisions"] {
            let path = format!("/r/default{path}");
            let begun = tokio::time::Instant::now();
            let answer = call(&console, request("GET", &path, Some(&cookie))).await;
            assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{path}: {}", answer.body);
            assert!(answer.body.contains("gave no answer within 15 s"), "{path}: {}", answer.body);
            assert!(begun.elapsed() < LIMIT + Duration::from_secs(1), "{path}: {:?}", begun.elapsed());
            let mut chinese = request("GET", &path, Some(&cookie));
            chinese.headers_mut().insert(ACCEPT_LANGUAGE, "zh".parse().expect("a value"));
            let answer = call(&console, chinese).await;
            assert!(answer.body.contains("追踪数据库在 15 秒内没有答复"), "{path}: {}", answer.body);
        }
    }
}
