//! A time limit for reads of traces: a page tells that the database is slow, and does not wait for it. Each read tells whether the
//! database answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, FireCount, LogFilter, LogRecord,
    NewestRuns, Page, PageRequest, ReadError, RunCount, RunParts, StateFilter, StateRecord, TraceReader,
};

use tokio::time::Instant;

use crate::service::now;

/// How long one read may take. Longer than any page takes at ten million rows, and shorter than the time after which proxies
/// give up.
const LIMIT: Duration = Duration::from_secs(15);

/// A read that a page gives up after this time, while the database answered no other one, had no answer. One that is given up
/// sooner tells nothing: its reader may have left the page.
const SILENT: Duration = Duration::from_millis(500);

/// Whether the storage of traces answered, as its last read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answering {
    pub(crate) answers: bool,
    /// Since when that is so, as far as reads of the console tell, in milliseconds since 1970.
    pub(crate) since: i64,
}

/// What reads tell of the storage of traces: `None` before the first one. Nothing is read for this alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceHealth(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    answering: Option<Answering>,
    last_answer: Option<Instant>,
}

impl TraceHealth {
    pub(crate) fn get(&self) -> Option<Answering> {
        self.lock().answering
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn note(&mut self, answers: bool) {
        if answers {
            self.last_answer = Some(Instant::now());
        }
        if self.answering.is_none_or(|known| known.answers != answers) {
            self.answering = Some(Answering { answers, since: now() });
        }
    }
}

/// A read that goes on. Pages that wait no longer drop it before it ends.
struct Reading<'h> {
    health: &'h TraceHealth,
    begun: Instant,
    has_ended: bool,
}

impl<'h> Reading<'h> {
    fn begin(health: &'h TraceHealth) -> Self {
        Self { health, begun: Instant::now(), has_ended: false }
    }

    fn end<T>(mut self, read: &Result<T, ReadError>) {
        self.has_ended = true;
        let answers = match read {
            // It may have waited for its turn while the storage answered others.
            Err(ReadError::TooSlow { .. }) if self.others_were_answered() => return,
            Err(ReadError::Unavailable { .. } | ReadError::NotReached { .. } | ReadError::TooSlow { .. }) => false,
            // It never asked the storage.
            Err(ReadError::TooManyReaders { .. }) => return,
            // The others are answers: the storage is there, and does not have what was asked for.
            _ => true,
        };
        self.health.lock().note(answers);
    }

    fn others_were_answered(&self) -> bool {
        self.health.lock().last_answer.is_some_and(|at| at >= self.begun)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if !self.has_ended && !self.others_were_answered() && self.begun.elapsed() >= SILENT {
            self.health.lock().note(false);
        }
    }
}

/// A reader whose reads end in time, and tell whether the storage answers.
pub(crate) struct TimeLimited(pub(crate) AnyTraceReader, pub(crate) TraceHealth);

impl TimeLimited {
    async fn in_time<T>(&self, read: impl Future<Output = Result<T, ReadError>>) -> Result<T, ReadError> {
        let reading = Reading::begin(&self.1);
        let read = tokio::time::timeout(LIMIT, read).await.unwrap_or(Err(ReadError::TooSlow { limit: LIMIT }));
        reading.end(&read);
        read
    }
}

impl TraceReader for TimeLimited {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.in_time(self.0.executions(filter, page)).await
    }

    async fn count(&self, filter: &ExecutionFilter, most: u32) -> Result<RunCount, ReadError> {
        self.in_time(self.0.count(filter, most)).await
    }

    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        self.in_time(self.0.count_parts(wanted)).await
    }

    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        self.in_time(self.0.fires(wanted)).await
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.in_time(self.0.states(filter, page)).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        self.in_time(self.0.decisions(filter, page)).await
    }

    async fn log(&self, filter: &LogFilter, limit: u32) -> Result<Vec<LogRecord>, ReadError> {
        self.in_time(self.0.log(filter, limit)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::http::StatusCode;
    use axum::http::header::{ACCEPT_LANGUAGE, RETRY_AFTER};
    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::testing::stuck::Stuck;
    use crate::testing::unread::Unread;
    use crate::testing::{call, cookie_of, request, with_users};
    use crate::{Console, Registry};

    #[tokio::test(start_paused = true)]
    async fn a_read_that_is_given_up_tells_that_the_database_hangs_where_it_answers_no_other_one() {
        let health = TraceHealth::default();
        let answers = || health.get().map(|known| known.answers);
        let reader = TimeLimited(AnyTraceReader::new(Stuck), health.clone());
        let gives_up = async |after| {
            let (filter, page) = (ExecutionFilter::default(), PageRequest::default());
            let read = reader.executions(&filter, &page);
            tokio::time::timeout(after, read).await.expect_err("it hangs");
        };
        Reading::begin(&health).end(&Ok(()));
        gives_up(Duration::from_millis(499)).await;
        assert_eq!(answers(), Some(true), "its reader left");
        let other = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Reading::begin(&health).end(&Ok(()));
        };
        tokio::join!(gives_up(Duration::from_secs(1)), other);
        assert_eq!(answers(), Some(true), "it answered another one meanwhile");
        tokio::time::advance(Duration::from_millis(1)).await;
        gives_up(Duration::from_secs(1)).await;
        assert_eq!(answers(), Some(false));
    }

    #[tokio::test]
    async fn too_many_reads_at_once_are_told_from_a_database_that_does_not_answer() {
        let busy = ReadError::TooManyReaders { at: "here".into(), connections: 4, waited: Duration::from_secs(10) };
        let health = TraceHealth::default();
        let reader = TimeLimited(AnyTraceReader::new(Unread(busy.clone())), health.clone());
        let read = reader.executions(&ExecutionFilter::default(), &PageRequest::default()).await;
        assert_eq!((read.err(), health.get()), (Some(busy.clone()), None), "the database was not asked");

        let memory = MemoryRegistry::new();
        let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(Unread(busy)));
        let console = Console::new(with_users(), [registry]).expect("the options are right");
        let cookie = cookie_of(&console, "viewer").await;
        let answer = call(&console, request("GET", "/api/v1/registries/default/executions", Some(&cookie))).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
        assert_eq!(answer.headers[RETRY_AFTER], "1");
        assert!(answer.body.contains("\"code\":\"traces-busy\""), "{}", answer.body);
        for (language, said) in [
            ("en", "all connections that read here are taken (4 at most)"),
            ("zh-CN", "的所有连接（最多 4 个）都被占用，10 秒内没有连接空出来"),
        ] {
            let mut asked = request("GET", "/r/default/history/executions", Some(&cookie));
            asked.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
            let answer = call(&console, asked).await;
            assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{language}: {}", answer.body);
            assert_eq!(answer.headers[RETRY_AFTER], "1", "{language}");
            assert!(answer.body.contains(said), "{language}: {}", answer.body);
        }
    }

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
