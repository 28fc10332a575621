//! Measures the time and cost until the items of a job are shared again after a process joined or was killed.
//!
//! Java reshards with the next fire. Fires are some seconds apart, so that the wait for one is seen beside the
//! resharding itself, and the cost of the resharding is told from that of the fire.

mod cost;
mod moves;
mod program;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::layout::JobPath;
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use self::cost::{Count, Watcher};
use self::moves::{Change, Move, Moves};
use self::program::Benches;
use super::stage::{Stage, path, until};
use crate::group::Group;
use crate::java_peer::Kind;
use crate::records::{now_us, pid_of};

/// The cases, in the order in which [`measure`] returns them.
pub(super) const CASES: [&str; 2] = ["reshard of 1,000 items, a third joins", "reshard of 1,000 items, it is killed"];

/// The first job of the benchmark program.
const JOB: &str = "bench-0";

const ITEMS: u32 = 1_000;

/// Between two fires: time for a process to start or to be found dead, with some to spare on both sides.
const PERIOD_SECONDS: i64 = 10;

pub(super) async fn measure(stage: &Stage, kind: Kind) -> io::Result<[Value; 2]> {
    let namespace = format!("reshard-{}", now_us());
    let registry = stage.registry(&namespace).await?;
    let moves = Moves::watch(&registry, JOB);
    let program = Benches::new(stage.bench(kind)?, &stage.server.connect_string(), &namespace);
    let mut group = Group::new(program);
    let (first, second) = (group.start().await, group.start().await);
    let watcher = Watcher { server: &stage.server, registry: &registry };

    let shared = settled(&group, &registry, &moves, Change::Came(second), &[first, second]).await?;
    let at_rest = watcher.at_rest(shared.over_us).await?;
    // A fire of which nothing is measured but what it costs.
    let fired = watcher.at_rest(shared.over_us).await?;
    let third = group.start().await;
    let joined = settled(&group, &registry, &moves, Change::Came(third), &[first, second, third]).await?;
    let after_join = watcher.at_rest(joined.over_us).await?;
    group.kill(&[third]);
    let left = settled(&group, &registry, &moves, Change::Went(third), &[first, second]).await?;
    let after_kill = watcher.at_rest(left.over_us).await?;
    registry.close().await;

    let fire = fired.since(&at_rest);
    Ok([line(joined, after_join.since(&fired), fire), line(left, after_kill.since(&after_join), fire)])
}

fn line(items: Move, counted: Count, fire: Count) -> Value {
    let cost = counted.without(fire);
    json!({
        "waited_us": items.waited_us,
        "moved_us": items.moved_us,
        "total_us": items.waited_us + items.moved_us,
        "registry_requests": cost.requests,
        "registry_writes": cost.writes,
        "registry_requests_per_fire": fire.requests / fire.fires,
    })
}

/// Waits until all items are shared by some processes after a change.
async fn settled(
    group: &Group<Benches>,
    registry: &Arc<dyn RegistryCenter>,
    moves: &Moves,
    change: Change,
    pids: &[u32],
) -> io::Result<Move> {
    until(group, &format!("{ITEMS} items shared by {pids:?} after {change:?}"), async || {
        let Some(moved) = moves.after(change) else { return Ok(None) };
        let owners = (0..ITEMS).map(|item| registry.get(&path(JOB, JobPath::owner_of(item))));
        let owners = try_join_all(owners).await.map_err(io::Error::other)?;
        let owners = owners.iter().map(|owner| pid_of(owner.as_ref()?.data.text()?));
        Ok(is_shared(owners, pids).then_some(moved))
    })
    .await
}

/// Whether all items have owners, which are these, with no more than one item more than another.
fn is_shared(owners: impl Iterator<Item = Option<u32>>, pids: &[u32]) -> bool {
    let mut shares: BTreeMap<u32, usize> = pids.iter().map(|pid| (*pid, 0)).collect();
    for owner in owners {
        let Some(share) = owner.and_then(|owner| shares.get_mut(&owner)) else { return false };
        *share += 1;
    }
    let (least, most) = (shares.values().min(), shares.values().max());
    least.zip(most).is_some_and(|(least, most)| most - least <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_shared_when_each_process_has_as_many() {
        let is_shared = |owners: &[u32], pids: &[u32]| is_shared(owners.iter().copied().map(Some), pids);
        assert!(is_shared(&[1, 1, 2, 2, 3], &[1, 2, 3]));
        assert!(!is_shared(&[1, 1, 1, 2, 3], &[1, 2, 3]), "one of them has too much");
        assert!(!is_shared(&[1, 1, 2, 2], &[1, 2, 3]), "one of them has none");
        assert!(!is_shared(&[1, 2, 3], &[1, 2]), "another instance has one");
        assert!(!super::is_shared([Some(1), None].into_iter(), &[1]), "nobody has one");
    }
}
