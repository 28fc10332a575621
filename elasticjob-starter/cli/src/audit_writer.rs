//! Records what the operator of this command line does in the decision log of the jobs.

use std::process::{Command, Stdio};
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
    let named = ["SUDO_USER", "USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| sources.variable(name));
    let user = named.map(str::to_owned).or_else(name_of_process).unwrap_or_else(|| "unknown".to_owned());
    format!("{user}@{}", gethostname::gethostname().to_string_lossy())
}

/// The name of the user that this process runs as: cron and containers set no variable. The command asks where the system keeps its
/// users, which may be on a server.
fn name_of_process() -> Option<String> {
    let output = Command::new("id").arg("-un").stderr(Stdio::null()).output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_the_user_of_the_environment_and_else_the_one_that_the_process_runs_as() {
        let of = |environment: &[(&str, &str)]| {
            let sources = Sources::of_arguments([""; 0]).environment(environment.iter().copied());
            operator(&sources).split_once('@').map(|(user, _)| user.to_owned())
        };
        assert_eq!(of(&[("USER", "alice"), ("SUDO_USER", "bob")]).as_deref(), Some("bob"));
        let own = Command::new("id").arg("-un").output().expect("it starts");
        assert_eq!(of(&[]).as_deref(), String::from_utf8(own.stdout).ok().as_deref().map(str::trim));
    }
}
