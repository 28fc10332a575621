//! The connections of the console: the registry centers and databases of its settings, and whether they answer.
//! Addresses come from the settings alone, so no user can make the console connect elsewhere.

use std::time::{Duration, Instant};

use elasticjob::config::Message;
use elasticjob::operations::OperationError;
use elasticjob::registry::SessionState;
use elasticjob::trace::{ExecutionFilter, PageRequest, TraceReader};

use crate::api::Problem;
use crate::registries::Registry;
use crate::texts;

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(5);

/// What a test of a connection found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) took_ms: i64,
    /// What is wrong; `None` where it answered.
    pub(crate) problem: Option<Message>,
}

impl Check {
    async fn of<T>(answer: impl Future<Output = Result<T, Problem>>) -> Self {
        let began = Instant::now();
        let problem = match tokio::time::timeout(LIMIT, answer).await {
            Ok(Ok(_)) => None,
            Ok(Err(problem)) => Some(problem.detail().clone()),
            Err(_) => Some(texts::no_answer_in_time(LIMIT.as_secs().to_string())),
        };
        Self { took_ms: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX), problem }
    }
}

impl Registry {
    /// The state of the session with the registry center.
    pub(crate) fn session_state(&self) -> &'static str {
        match *self.center().session().borrow() {
            SessionState::Connected { .. } => "CONNECTED",
            SessionState::Connecting => "CONNECTING",
            SessionState::Suspended { .. } => "SUSPENDED",
            SessionState::Closed => "CLOSED",
        }
    }

    /// Asks the registry center itself, and not what was read before.
    pub(crate) async fn check(&self) -> Check {
        let answer = self.center().children("/");
        let problem = |why| Problem::from(OperationError::Read(why)).while_away(self);
        Check::of(async { answer.await.map_err(problem) }).await
    }

    /// Asks the database of traces; `None` where there is none.
    pub(crate) async fn check_traces(&self) -> Option<Check> {
        let (filter, one) = (ExecutionFilter::default(), PageRequest::default().limit(1));
        let reader = self.trace_reader()?;
        Some(Check::of(async { reader.executions(&filter, &one).await.map_err(Problem::from) }).await)
    }
}
