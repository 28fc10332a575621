//! The shard map of a job: which instance has which items, and in which state they are.

use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::operations::{JobSnapshot, ShardInfo, ShardState};

use super::job_items::ItemsQuery;

/// Up to how many items each has a cell: a map of more has counts alone.
const MOST: usize = 1_000;

/// The owners of the items of a job, in the order of their ids.
#[derive(Debug)]
pub(super) struct ShardMap {
    pub(super) owners: Vec<Owner>,
    /// Whether each item has a cell.
    pub(super) has_cells: bool,
}

/// An instance with its items.
#[derive(Debug, Default)]
pub(super) struct Owner {
    /// `None` for the items without an owner.
    pub(super) instance: Option<InstanceId>,
    pub(super) is_online: bool,
    pub(super) is_leader: bool,
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
        let online = snapshot.instances().map(|(instance, _)| Owner {
            instance: Some(instance.clone()),
            is_online: true,
            is_leader: snapshot.leader.as_ref() == Some(instance),
            cells: Vec::new(),
        });
        let mut owners: Vec<Owner> = online.collect();
        for (place, info) in items.iter().enumerate() {
            let cell = Cell {
                item: info.item,
                state: info.status,
                parameter: info.parameter.clone(),
                is_taken_over: info.failover,
                row: format!("{}#item-{}", ItemsQuery::of_place(place).address(), info.item),
            };
            match owners.iter_mut().find(|owner| owner.instance == info.instance) {
                Some(owner) => owner.cells.push(cell),
                None => {
                    owners.push(Owner { instance: info.instance.clone(), cells: vec![cell], ..Owner::default() });
                }
            }
        }
        // What has no owner is last.
        owners.sort_by(|one, other| {
            let place = |owner: &Owner| (owner.instance.is_none(), owner.instance.clone());
            place(one).cmp(&place(other))
        });
        Self { owners, has_cells: items.len() <= MOST }
    }

    /// Whether there is anything to show.
    pub(super) fn is_empty(&self) -> bool {
        self.owners.iter().all(|owner| owner.cells.is_empty())
    }
}

impl Owner {
    /// How many of its items have each state; the states that none of them has are left out.
    pub(super) fn counts(&self) -> Vec<(ShardState, usize)> {
        let count = |state: ShardState| (state, self.cells.iter().filter(|cell| cell.state == state).count());
        ItemsQuery::STATES.into_iter().map(count).filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header::ACCEPT_LANGUAGE;
    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

    use crate::testing::{call, console_of, cookie_of, request};

    /// The page of a job with so many items on two instances, of which one has none. Item 0 has no owner, and the owner of item 1
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
            (rows[0], "10.0.0.1@-@7", &["#item-2", "#item-3"][..]),
            (rows[1], "10.0.0.2@-@8", &[]),
            (rows[2], "10.0.0.9@-@9", &["#item-1"]),
            (rows[3], "no owner", &["#item-0"]),
        ] {
            assert!(row.contains(owner), "{row}");
            let links: Vec<&str> = row.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(links, cells.iter().map(|cell| format!("/r/default/jobs/map{cell}")).collect::<Vec<_>>());
        }
        assert!(rows[1].contains("Leader") && !rows[0].contains("Leader"), "{map}");
        assert!(rows[2].contains("offline") && !rows[1].contains("offline"), "{map}");
        assert!(rows[0].contains("PENDING"), "who sees no picture reads the state: {map}");
        let chinese = page(4, "zh").await;
        assert!(chinese.contains("没有所属实例") && !chinese.contains("no owner"), "{chinese}");
    }

    #[tokio::test]
    async fn a_cell_leads_to_the_page_that_has_its_item_and_many_items_are_counted() {
        let map = page(202, "en").await;
        assert!(map.contains("/r/default/jobs/map#item-199\"") && map.contains("?page=2#item-200\""), "{map}");
        let map = page(1_001, "en").await;
        assert!(!map.contains("#item-") && map.contains("PENDING: 999"), "{map}");
    }
}
