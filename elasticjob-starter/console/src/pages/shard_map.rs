//! The shard map of a job: which instance has which items, and in which state they are.

use std::collections::BTreeMap;

use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::operations::{JobSnapshot, ShardInfo, ShardState};

use super::job_items::ItemsQuery;

/// Up to how many items each has a cell: a map of more has counts alone.
const MOST: usize = 1_000;

/// The instances that have the items of a job, in the order of their ids.
#[derive(Debug)]
pub(super) struct ShardMap {
    pub(super) owners: Vec<Owner>,
    /// Whether each item has a cell.
    pub(super) has_cells: bool,
}

/// An instance with the items that it runs, or will run at the next fire.
#[derive(Debug, Default)]
pub(super) struct Owner {
    /// `None` for the items without an owner.
    pub(super) instance: Option<InstanceId>,
    pub(super) is_online: bool,
    pub(super) is_leader: bool,
    /// How many of its items have each state, in the order of [`ItemsQuery::STATES`]; the states that none of them has are left out.
    pub(super) counts: Vec<(ShardState, usize)>,
    /// Its items; none where a map has counts alone.
    pub(super) cells: Vec<Cell>,
}

/// An item.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) item: ShardingItem,
    pub(super) state: ShardState,
    pub(super) parameter: Option<String>,
    /// Whether an instance took it over after its run was lost.
    pub(super) is_taken_over: bool,
    /// The query and the fragment of the row with all about it.
    pub(super) row: String,
}

/// The class of the state of an item in the style sheet.
pub(super) fn class_of(state: &ShardState) -> &'static str {
    match state {
        ShardState::Disabled => "off",
        ShardState::Running => "run",
        ShardState::ShardingFlag => "wait",
        _ => "ok",
    }
}

impl ShardMap {
    /// The map of these items, which are all that the job has. Instances without items are on it: what is shared unevenly shows.
    pub(super) fn of(snapshot: &JobSnapshot, items: &[ShardInfo]) -> Self {
        let has_cells = items.len() <= MOST;
        // What no instance has is last.
        let key = |instance: Option<&InstanceId>| (instance.is_none(), instance.cloned());
        let owner = |instance: Option<&InstanceId>, is_online| Owner {
            instance: instance.cloned(),
            is_online,
            is_leader: instance.is_some() && snapshot.leader.as_ref() == instance,
            ..Owner::default()
        };
        let online = snapshot.instances().map(|(instance, _)| (key(Some(instance)), owner(Some(instance), true)));
        let mut owners: BTreeMap<_, Owner> = online.collect();
        for (place, info) in items.iter().enumerate() {
            let instance = runner(snapshot, info);
            let owner = owners.entry(key(instance)).or_insert_with(|| owner(instance, false));
            owner.count(info.status);
            if has_cells {
                owner.cells.push(Cell::of(place, info));
            }
        }
        Self { owners: owners.into_values().collect(), has_cells }
    }

    /// Whether there is anything to show.
    pub(super) fn is_empty(&self) -> bool {
        self.owners.iter().all(|owner| owner.counts.is_empty())
    }
}

/// The instance that runs an item: that which took it over from a lost one, or that of the mark of the run. An item that does not
/// run is at its owner.
fn runner<'s>(snapshot: &'s JobSnapshot, info: &'s ShardInfo) -> Option<&'s InstanceId> {
    let item = snapshot.items.get(&info.item);
    let runs = item.and_then(|item| {
        item.taken_over_by.as_ref().or_else(|| item.running.as_ref().and_then(|running| running.instance.as_ref()))
    });
    runs.or(info.instance.as_ref())
}

impl Owner {
    fn count(&mut self, state: ShardState) {
        match self.counts.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => {
                self.counts.push((state, 1));
                self.counts.sort_by_key(|(state, _)| ItemsQuery::STATES.iter().position(|one| one == state));
            }
        }
    }
}

impl Cell {
    /// The cell of the item at this place among all, from 0.
    fn of(place: usize, info: &ShardInfo) -> Self {
        Self {
            item: info.item,
            state: info.status,
            parameter: info.parameter.clone(),
            is_taken_over: info.failover,
            row: format!("{}#item-{}", ItemsQuery::of_place(place).address(), info.item),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header::ACCEPT_LANGUAGE;
    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

    use crate::testing::{call, console_of, cookie_of, request};

    /// The page of a job with so many items on two instances, of which the second has none of its own. Item 0 has no owner, and the owner of item 1
    /// is gone.
    async fn page(items: u32, language: &str) -> String {
        let memory = MemoryRegistry::new();
        let center = memory.connect();
        let mut write = Transaction::new();
        let config = format!("cron: 0 0 0 1 1 ?\nshardingTotalCount: {items}\n");
        let fixed = [
            ("/map", ""),
            ("/map/config", config.as_str()),
            ("/map/instances", ""),
            ("/map/instances/10.0.0.1@-@7", ""),
            ("/map/instances/10.0.0.2@-@8", ""),
            ("/map/leader", ""),
            ("/map/leader/election", ""),
            ("/map/leader/election/instance", "10.0.0.2@-@8"),
            ("/map/sharding", ""),
        ];
        for (path, data) in fixed {
            let is_of_session = path.contains("@-@") || path.ends_with("election/instance");
            write.create(path, data, if is_of_session { CreateMode::Ephemeral } else { CreateMode::Persistent });
        }
        for item in 0..items {
            write.create(format!("/map/sharding/{item}"), "", CreateMode::Persistent);
            let owner = if item == 1 { "10.0.0.9@-@9" } else { "10.0.0.1@-@7" };
            if item > 0 {
                write.create(format!("/map/sharding/{item}/instance"), owner, CreateMode::Persistent);
            }
            // The second instance has taken item 3 over, and runs it.
            if item == 3 {
                write.create("/map/sharding/3/failovering", "10.0.0.2@-@8", CreateMode::Ephemeral);
            }
        }
        center.commit(write).await.expect("it is written");
        let console = console_of(&memory);
        let cookie = cookie_of(&console, "viewer").await;
        let mut asked = request("GET", "/r/default/jobs/map", Some(&cookie));
        asked.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
        let page = call(&console, asked).await.body;
        let (_, map) = page.split_once("<table id=\"map\"").unwrap_or_else(|| panic!("{page}"));
        map.split_once("</table>").expect("it ends").0.to_owned()
    }

    #[tokio::test]
    async fn the_map_has_each_instance_with_its_items_and_those_without_an_owner() {
        let map = page(4, "en").await;
        let rows: Vec<&str> = map.split("<tr>").skip(2).collect();
        assert_eq!(rows.len(), 4, "{map}");
        for (row, owner, cells) in [
            (rows[0], "10.0.0.1@-@7", &["#item-2"][..]),
            (rows[1], "10.0.0.2@-@8", &["#item-3"]),
            (rows[2], "10.0.0.9@-@9", &["#item-1"]),
            (rows[3], "no owner", &["#item-0"]),
        ] {
            assert!(row.contains(owner), "{row}");
            let links: Vec<&str> = row.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(links, cells.iter().map(|cell| format!("/r/default/jobs/map{cell}")).collect::<Vec<_>>());
        }
        assert!(rows[1].contains("taken over") && !rows[0].contains("taken over"), "{map}");
        assert!(rows[1].contains("Leader") && !rows[0].contains("Leader"), "{map}");
        assert!(rows[2].contains("offline") && !rows[1].contains("offline"), "{map}");
        assert!(rows[0].contains("PENDING"), "who sees no picture reads the state: {map}");
        let chinese = page(4, "zh").await;
        assert!(chinese.contains("没有所属实例") && !chinese.contains("no owner"), "{chinese}");
    }

    #[tokio::test]
    async fn an_instance_without_items_is_on_the_map() {
        let map = page(3, "en").await;
        let row = map.split("<tr>").find(|row| row.contains("10.0.0.2@-@8")).unwrap_or_else(|| panic!("{map}"));
        assert!(row.contains("no items") && !row.contains("#item-"), "{row}");
    }

    #[tokio::test]
    async fn a_cell_leads_to_the_page_that_has_its_item_and_many_items_are_counted() {
        let map = page(202, "en").await;
        assert!(map.contains("/r/default/jobs/map#item-199\"") && map.contains("?page=2#item-200\""), "{map}");
        let map = page(1_001, "en").await;
        assert!(!map.contains("#item-") && map.contains("PENDING: 998"), "{map}");
    }
}
