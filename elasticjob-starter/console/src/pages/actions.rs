//! The actions of buttons. Each button has a route of the API that does the same.

use elasticjob::ident::JobName;
use elasticjob::operations::{Force, ItemOfJob, ItemSet, OperationError, Operations, Outcome, Target, TriggerOutcome};
use i18n_embed_fl::fl;

use super::outcome::Said;
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

    /// Does it.
    pub(crate) async fn on(self, operations: &Operations, target: &Target) -> Result<Ended, OperationError> {
        Ok(match self {
            Self::Trigger => operations.trigger(target).await?.into(),
            Self::Enable => operations.enable_servers(target).await?.into(),
            Self::Disable => operations.disable_servers(target).await?.into(),
            Self::ShutDown => operations.shut_down(target).await?.into(),
            Self::RemoveServers => operations.remove_servers(target, Force::No).await?.into(),
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

/// What an action has done.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How many parts were changed.
    pub(crate) changed: usize,
    /// The items of a job that was triggered which no instance has that could run them.
    without_instance: Vec<ItemOfJob>,
}

impl<T> From<Outcome<T>> for Ended {
    fn from(outcome: Outcome<T>) -> Self {
        Self { changed: outcome.changed.len(), without_instance: Vec::new() }
    }
}

impl From<TriggerOutcome> for Ended {
    fn from(outcome: TriggerOutcome) -> Self {
        Self { without_instance: outcome.without_instance, ..outcome.instances.into() }
    }
}

impl Ended {
    /// What is said of it, where `done` is the action in words.
    pub(crate) fn said(&self, text: &Text, done: &str) -> Said {
        let done = match self.changed {
            0 => fl!(text.loader(), "done-nothing"),
            changed => format!("{done}: {changed}"),
        };
        Said::done(without(done, &self.without_instance, text))
    }

    /// The name of the job on which it was done, with the items that do not run.
    pub(crate) fn of(&self, job: &JobName, text: &Text) -> String {
        without(job.to_string(), &self.without_instance, text)
    }
}

/// What was done, with the items of one job that do not run as no instance has them.
pub(crate) fn without(done: String, items: &[ItemOfJob], text: &Text) -> String {
    if items.is_empty() {
        return done;
    }
    let items: ItemSet = items.iter().map(|one| one.item).collect();
    fl!(text.loader(), "done-without-instance", done = done, items = items.to_string())
}
