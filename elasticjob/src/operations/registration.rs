//! The registration of a carried job, as far as it says that no scheduler runs the job.

use serde::Deserialize;

use super::{OperationError, Operations};
use crate::ident::JobName;

/// The directory of the registrations of carried jobs, by the name of the job. ElasticJob-Cloud has the same, and the next two.
#[doc(hidden)]
pub const CARRIED_JOBS: &str = "/config/job";

/// The directory of the marks of carried jobs that are disabled.
#[doc(hidden)]
pub const DISABLED_CARRIED_JOBS: &str = "/state/disable/job";

/// The directory of the marks of applications that are disabled, with all their jobs.
#[doc(hidden)]
pub const DISABLED_APPS: &str = "/state/disable/app";

/// The part of a registration that is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registration {
    app_name: String,
}

/// A registration that is disabled, by itself or with its application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DisabledRegistration {
    /// The application that is disabled; `None` where the job is.
    pub(super) app: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub(super) since: i64,
}

impl Operations {
    /// Whether the job is a carried one that is disabled. A registration that cannot be read says nothing of its application.
    pub(super) async fn disabled_registration(
        &self,
        job: &JobName,
    ) -> Result<Option<DisabledRegistration>, OperationError> {
        let (registration, mark) = tokio::try_join!(
            self.get(format!("{CARRIED_JOBS}/{job}")),
            self.get(format!("{DISABLED_CARRIED_JOBS}/{job}")),
        )?;
        let Some(registration) = registration else { return Ok(None) };
        if let Some(mark) = mark {
            return Ok(Some(DisabledRegistration { app: None, since: mark.stat.ctime }));
        }
        let Ok(Registration { app_name }) = serde_json::from_slice(&registration.data) else { return Ok(None) };
        // A name that is no part of a path is none of a node.
        if app_name.is_empty() || app_name.contains('/') {
            return Ok(None);
        }
        let mark = self.get(format!("{DISABLED_APPS}/{app_name}")).await?;
        Ok(mark.map(|mark| DisabledRegistration { app: Some(app_name), since: mark.stat.ctime }))
    }
}
