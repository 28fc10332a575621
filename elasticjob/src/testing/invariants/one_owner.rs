//! At most one live process runs an item at any time.
//!
//! Left to the fence: what a process still does that was frozen past its session, and a run that cannot be dropped
//! after its token was fired. Without monitoring nobody promises it.

use super::{Observation, Scene};

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    let Observation::Started { host, item, fire, .. } = observation else { return Ok(()) };
    if !scene.shape.monitored {
        return Ok(());
    }
    for (other, process) in scene.hosts.iter().enumerate().filter_map(|(n, host)| Some((n, host.process.as_ref()?))) {
        let Some(execution) = process.executions.get(item) else { continue };
        let fenced = process.is_frozen() || process.fenced || (execution.blocking && execution.cancelled);
        if other != *host && !fenced {
            return Err(format!(
                "host {host} starts item {item} of {fire} while host {other} runs it ({})",
                execution.fire
            ));
        }
    }
    Ok(())
}
