//! After the faults nothing is left of runs that were lost: every mark is of a run that goes on, nothing waits to be
//! taken over, and a missed fire waits only for a run to end.

use super::{Observation, Scene};
use crate::ident::ShardingItem;
use crate::job_status::Activity;
use crate::registry::layout::{ItemNode, JobPath};
use crate::testing::sim::{EPOCH, Program};

/// How old something is before it is more than a moment on the way, in milliseconds.
const MOMENT: i64 = 2_500;

pub(super) fn check(scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
    if !matches!(observation, Observation::Converged) || scene.hosts.iter().all(|host| host.process.is_none()) {
        return Ok(());
    }
    let stands = |path: &JobPath| {
        let node = scene.node(path);
        node.is_some_and(|node| node.stat.ctime < EPOCH + scene.now as i64 - MOMENT)
    };
    let leader = scene.text(&JobPath::LeaderInstance);
    let by_java_leader = leader.is_some_and(|leader| scene.java_ids.contains(&leader));
    for item in scene.children(&JobPath::FailoverItems).iter() {
        let Ok(item) = item.parse() else { continue };
        // Between two runs of a Java instance that always overruns, no other instance comes to the item.
        let by_java = scene.text(&JobPath::running(item)).is_some_and(|id| scene.java_ids.contains(&id));
        if stands(&JobPath::FailoverItem(item)) && !by_java {
            return Err(format!("item {item} still waits to be taken over"));
        }
    }
    for item in scene.children(&JobPath::Sharding).iter() {
        let Ok(item) = item.parse::<ShardingItem>() else { continue };
        // A Java leader may have overlooked an item that is beyond the total count (finding 9).
        if item >= scene.total && by_java_leader {
            continue;
        }
        for node in [ItemNode::Running, ItemNode::Failover, ItemNode::Failovering] {
            let path = JobPath::Item(item, node);
            // A live Java instance that took it while failover was switched off keeps it.
            let taken = path != JobPath::running(item) && !scene.shape.failover;
            let by_java = scene.text(&path).is_some_and(|id| scene.java_ids.contains(&id));
            if taken && by_java {
                continue;
            }
            if stands(&path) && !is_run_by(scene, item, scene.text(&path).as_deref()) {
                return Err(format!("{path} is there, and nobody runs the item"));
            }
        }
        let path = JobPath::Item(item, ItemNode::Misfire);
        let running = scene.text(&JobPath::running(item)).is_some();
        // Java marks what it misses also with misfire off, and a Java leader leaves it there.
        if stands(&path) && !running && !scene.shape.misfire && !by_java_leader {
            return Err(format!("{path} is there, and misfire is off"));
        }
    }
    Ok(())
}

/// Whether the instance with this id runs the item, or is about to write how it ended. A Java instance that took an item
/// over may still be busy with another run.
fn is_run_by(scene: &Scene<'_>, item: ShardingItem, id: Option<&str>) -> bool {
    scene.hosts.iter().filter_map(|host| host.process.as_ref()).any(|process| match &process.program {
        Program::Engine(engine) => {
            let ends = matches!(engine.status().activity, Activity::Running(_) | Activity::AwaitingStarted(_));
            Some(engine.instance().as_str()) == id && (process.executions.contains_key(&item) || ends)
        }
        Program::Fallen(fallen) => Some(fallen.instance().as_str()) == id && process.executions.contains_key(&item),
        Program::Java(java) => Some(java.id().as_str()) == id && java.is_busy(),
    })
}
