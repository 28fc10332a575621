//! Answers of the API server that are no success.

use std::time::Duration;

use elasticjob::config::Message;
use kube::Error;
use kube::core::Status;

use crate::carrier::{CarrierError, LaunchError};

/// How long an answer is waited for.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Why a request came to nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The API server refused it.
    Refused(Box<Status>),
    /// No answer came: it may have been done.
    NoAnswer(String),
}

/// Waits for an answer, but not for ever: a server that accepts connections and says nothing is as good as none.
pub(super) async fn answer<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Trouble> {
    match tokio::time::timeout(ANSWER_LIMIT, request).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Error::Api(status))) => Err(Trouble::Refused(status)),
        Ok(Err(error)) => Err(Trouble::NoAnswer(causes(&error))),
        Err(_) => Err(Trouble::NoAnswer(no_answer())),
    }
}

/// The text of an answer that did not come within [`ANSWER_LIMIT`].
pub(super) fn no_answer() -> String {
    format!("the API server did not answer within {} s", ANSWER_LIMIT.as_secs())
}

/// The same where an object that is not there is as good.
pub(super) fn if_there<T>(answer: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
    match answer {
        Err(Trouble::Refused(status)) if status.code == 404 => Ok(None),
        other => other.map(Some),
    }
}

impl Trouble {
    /// Whether an object of that name is there already.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code == 409)
    }

    /// Whether the same request would be refused again.
    fn is_final(&self) -> bool {
        match self {
            // A quota that is used up is a 403, and passes.
            Self::Refused(status) if status.message.contains("exceeded quota") => false,
            Self::Refused(status) => matches!(status.code, 400 | 403 | 404 | 413 | 422),
            Self::NoAnswer(_) => false,
        }
    }

    /// What an operator reads.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Refused(status) if status.code == 403 && !status.message.contains("exceeded quota") => {
                format!("{}; docs/kubernetes/rbac.yaml has the rights that a scheduler needs", status.message)
            }
            Self::Refused(status) => status.message.clone(),
            Self::NoAnswer(why) => why.clone(),
        }
    }

    pub(super) fn of_launch(self) -> LaunchError {
        let why = self.text();
        match &self {
            _ if self.is_final() => LaunchError::Refused { why },
            // Too many requests, or a login that has to be renewed: it was not looked at.
            Self::Refused(status) if status.code < 500 => LaunchError::NotReached { why },
            _ => LaunchError::Unknown { why },
        }
    }

    pub(super) fn of_carrier(self, action: Message) -> CarrierError {
        CarrierError::new(action, self.text())
    }
}

/// An error with its causes in one line, each once.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(&format!(": {more}"));
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, message: &str) -> Trouble {
        Trouble::Refused(Status { code, message: message.to_owned(), ..Status::success() }.boxed())
    }

    #[test]
    fn a_launch_fails_only_where_it_would_fail_again() {
        let is_final = |trouble: Trouble| matches!(trouble.of_launch(), LaunchError::Refused { .. });
        assert!(is_final(refused(422, "Invalid value")) && is_final(refused(403, "forbidden")));
        assert!(!is_final(refused(403, "exceeded quota: jobs")) && !is_final(refused(429, "slow down")));
        assert!(matches!(refused(401, "Unauthorized").of_launch(), LaunchError::NotReached { .. }));
        for unknown in [refused(500, "timeout"), Trouble::NoAnswer("reset".to_owned())] {
            assert!(matches!(unknown.of_launch(), LaunchError::Unknown { .. }));
        }
    }

    #[test]
    fn a_missing_right_is_told_with_the_remedy() {
        let text = refused(403, "jobs.batch is forbidden").text();
        assert!(text.contains("is forbidden; docs/kubernetes/rbac.yaml"), "{text}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_is_not_waited_for() {
        let trouble = answer(std::future::pending::<Result<(), Error>>()).await.unwrap_err();
        assert!(trouble.text().contains("20 s"), "{trouble:?}");
    }
}
