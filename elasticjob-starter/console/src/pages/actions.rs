//! The actions of buttons. Each button has a route of the API that does the same.

use elasticjob::operations::{Force, OperationError, Operations, Target};
use i18n_embed_fl::fl;

use crate::text::Text;

/// An action on a job, on a server, or on a server of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Trigger,
    Enable,
    Disable,
    ShutDown,
    RemoveServers,
}

impl Action {
    /// The action of a button.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "trigger" => Some(Self::Trigger),
            "enable" => Some(Self::Enable),
            "disable" => Some(Self::Disable),
            _ => None,
        }
    }

    /// Does it. Returns how many parts were changed, and how many needed no change.
    pub(crate) async fn on(self, operations: &Operations, target: &Target) -> Result<(usize, usize), OperationError> {
        Ok(match self {
            Self::Trigger => counts(&operations.trigger(target).await?),
            Self::Enable => counts(&operations.enable_servers(target).await?),
            Self::Disable => counts(&operations.disable_servers(target).await?),
            Self::ShutDown => counts(&operations.shut_down(target).await?),
            Self::RemoveServers => counts(&operations.remove_servers(target, Force::No).await?),
        })
    }

    /// What was done, in words.
    pub(crate) fn done(self, text: &Text) -> String {
        match self {
            Self::Trigger => fl!(text.loader(), "done-triggered"),
            Self::Enable => fl!(text.loader(), "done-enabled"),
            Self::Disable => fl!(text.loader(), "done-disabled"),
            Self::ShutDown => fl!(text.loader(), "done-shut-down"),
            Self::RemoveServers => fl!(text.loader(), "done-removed"),
        }
    }
}

fn counts<T>(outcome: &elasticjob::operations::Outcome<T>) -> (usize, usize) {
    (outcome.changed.len(), outcome.unchanged.len())
}
