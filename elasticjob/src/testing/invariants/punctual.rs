//! Without faults a fire begins at once, unless it is made up for after a run that went on. A Java instance begins it
//! when it has read all it needs.

use super::{Observation, Scene};
use crate::engine::{ExecutionSource, Fire};
use crate::testing::sim::EPOCH;

/// How late an item may begin in the calm, in milliseconds: clocks disagree by a little, and a run may have to be
/// finished before.
const LATE: i64 = 1_500;

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    let Observation::Started { host, item, fire: Fire::Scheduled(at), source, .. } = observation else { return Ok(()) };
    if *source != ExecutionSource::NormalTrigger {
        return Ok(());
    }
    let late = EPOCH + scene.now as i64 - at;
    if scene.calm && !scene.is_java(*host) && late > LATE {
        return Err(format!("host {host} begins item {item} {late} ms late, and nothing was wrong"));
    }
    Ok(())
}
