//! After the faults the registry says since when the schedule is followed that the leader goes by. Otherwise the next edit of
//! anything else in the configuration takes a fire away that is due.

use super::{Observation, Scene};
use crate::engine::ShardingData;
use crate::registry::layout::JobPath;
use crate::testing::sim::Program;

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    // A Java leader notes nothing.
    if !matches!(observation, Observation::Converged) || scene.is_mixed() {
        return Ok(());
    }
    let Some(data) = scene.data(&JobPath::Sharding) else { return Ok(()) };
    for process in scene.hosts.iter().filter_map(|host| host.process.as_ref()) {
        let Program::Engine(engine) = &process.program else { continue };
        let Some(configuration) = engine.configuration().filter(|_| engine.status().leader) else { continue };
        let noted = ShardingData::parse(&data).since(configuration);
        if noted.is_some() != configuration.monitor_execution() {
            return Err(format!("{} follows its schedule, and the registry says since {noted:?}", engine.instance()));
        }
    }
    Ok(())
}
