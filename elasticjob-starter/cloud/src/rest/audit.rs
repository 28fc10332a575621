//! Records in the decision log what callers change, as the console does.

use elasticjob::ident::JobName;
use elasticjob::operations::{ActionEnd, Operations};
use elasticjob::registry::CommitError;
use serde_json::Value;

use super::answer::Refusal;
use super::guard::Visitor;
use crate::scheduler::StoreError;

impl Visitor {
    /// The operations on the ordinary jobs, which record what this caller does.
    pub(super) fn operations(&self) -> Operations {
        let audited = self.api.access.operations(&self.caller, &self.api.registry);
        audited.unwrap_or_else(|| self.api.scheduler.operations())
    }

    /// Records a change of a registration, of a job or of an application, and how it ended.
    pub(super) fn record(
        &self,
        action: &'static str,
        name: &str,
        parts: Vec<String>,
        ended: Result<(), StoreError>,
    ) -> Result<(), Refusal> {
        // A name that no registration can have is told to the caller, and names nothing here.
        if let Ok(name) = JobName::new(name) {
            self.operations().record_action(action, &name, parts, end(&ended));
        }
        Ok(ended?)
    }
}

/// The application that an action is about.
pub(super) fn app(name: &str) -> Vec<String> {
    vec![format!("app {name}")]
}

/// The fields of a registration. Their values may be secrets.
pub(super) fn fields(registration: &Value) -> impl Iterator<Item = String> {
    registration.as_object().into_iter().flatten().map(|(name, _)| format!("field {name}"))
}

fn end(ended: &Result<(), StoreError>) -> ActionEnd {
    let Err(error) = ended else { return ActionEnd::Done };
    let why = error.message();
    match error {
        StoreError::Invalid(_)
        | StoreError::NoSuchApp(_)
        | StoreError::NoSuchJob(_)
        | StoreError::AppExists(_)
        | StoreError::JobExists(_) => ActionEnd::Refused(why),
        StoreError::Contended | StoreError::Read(_) | StoreError::Unchecked { .. } => ActionEnd::Failed(why),
        StoreError::Write(CommitError::Unknown { .. }) => ActionEnd::Unknown(why),
        // Only a start meets the second one.
        StoreError::Write(_) | StoreError::OtherCarrier { .. } | StoreError::OtherPlace { .. } => {
            ActionEnd::Failed(why)
        }
        // It is in force.
        StoreError::NotKept { .. } => ActionEnd::Done,
    }
}
