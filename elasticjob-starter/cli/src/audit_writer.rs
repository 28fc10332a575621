//! Records what the operator of this command line does in the decision log of the jobs.

use std::time::Duration;

use elasticjob::operations::{Audit, Operations, Origin, Surface};
use elasticjob::trace::Tracing;
use elasticjob_starter::settings::Sources;

use crate::Console;
use crate::args::Registry;
use crate::traces;

/// How long the action waits until the database can be written to.
const OPEN_LIMIT: Duration = Duration::from_secs(3);

/// How long the database may take when the action is done.
pub(crate) const WRITE_LIMIT: Duration = Duration::from_secs(5);

/// The tracing that takes the record of this command; `None` where nothing is recorded.
pub(crate) struct Recording(Option<Tracing>);

/// Operations that record what they do. The action does not depend on the record: where the database is away, the
/// operator is told that nothing is recorded, and goes on.
pub(crate) async fn audited(
    operations: Operations,
    flags: &Registry,
    sources: &Sources,
    reason: Option<&str>,
    console: &mut Console<'_>,
) -> (Operations, Recording) {
    let opened = tokio::time::timeout(OPEN_LIMIT, traces::recording(flags, sources)).await;
    match opened.unwrap_or_else(|_| Err(format!("the database does not answer within {} s", OPEN_LIMIT.as_secs()))) {
        Ok(None) => (operations, Recording(None)),
        Ok(Some(tracing)) => {
            let audit = Audit::new(tracing.clone(), operator(sources)).origin(Origin::new(Surface::CommandLine));
            (operations.audited(audit.reason(reason.unwrap_or_default())), Recording(Some(tracing)))
        }
        Err(why) => {
            let _ = writeln!(console.stderr, "warning: this action is not recorded in the decision log: {why}");
            (operations, Recording(None))
        }
    }
}

impl Recording {
    /// Waits until the record is written.
    pub(crate) async fn finish(self, console: &mut Console<'_>) {
        let Some(tracing) = self.0 else { return };
        tracing.close(WRITE_LIMIT).await;
        if tracing.counts().lost > 0 {
            let text =
                "warning: the action is not recorded in the decision log: the database did not take the record in time";
            let _ = writeln!(console.stderr, "{text}");
        }
    }
}

/// The user of the operating system, and the host. With sudo it is the user who called it.
pub(crate) fn operator(sources: &Sources) -> String {
    let user = ["SUDO_USER", "USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| sources.variable(name));
    format!("{}@{}", user.unwrap_or("unknown"), gethostname::gethostname().to_string_lossy())
}
