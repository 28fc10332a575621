//! Reads the tree for the group as a whole, and for each item.

use super::Scene;
use crate::fire::FireRecord;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{Data, Zxid};

/// What the tree says of the whole group and of its items. A look takes it over from the look before as long as there was
/// no transaction since: each change of the tree has one, with a higher number.
#[derive(Debug)]
pub(super) struct Group {
    zxid: Zxid,
    /// The leader is asked to assign the items.
    pub(super) is_requested: bool,
    /// Every item has an owner that is there.
    pub(super) all_live: bool,
    /// Every item has an owner, be it there or not.
    pub(super) all_owned: bool,
    /// Some item waits to be taken over.
    pub(super) is_any_lost: bool,
    /// Some trigger is of no instance, or an instance has no session: the leader deletes it, and what is below it, before it
    /// begins a fire.
    pub(super) is_any_foreign: bool,
    /// When the leader took office, by the clock of the registry center; `None` where there is none.
    pub(super) led_since: Option<i64>,
    pub(super) items: Vec<ItemNodes>,
}

#[derive(Debug)]
pub(super) struct ItemNodes {
    pub(super) owner: Option<Data>,
    pub(super) is_disabled: bool,
    /// It runs, waits for a run, or is taken over.
    pub(super) is_marked: bool,
    /// When its record was made, or its owner was told in a new node.
    pub(super) made_at: i64,
    /// The latest fire that removed items were begun for when it was made; `None` once a schedule began it.
    pub(super) made_for: Option<i64>,
}

impl Group {
    pub(super) fn read(scene: &Scene<'_>) -> Self {
        let online = scene.children(&JobPath::Instances);
        let items: Vec<_> = (0..scene.total).map(|item| ItemNodes::read(scene, item)).collect();
        let is_live = |item: &ItemNodes| online.iter().any(|id| Some(id.as_str()) == item.owner());
        Self {
            zxid: scene.tree.last_zxid(),
            is_requested: [JobPath::Necessary, JobPath::Processing].iter().any(|path| scene.exists(path)),
            all_live: items.iter().all(is_live),
            all_owned: items.iter().all(|item| item.owner().is_some()),
            is_any_foreign: scene.children(&JobPath::Triggers).iter().any(|id| !online.contains(id))
                || online.iter().any(|id| has_no_session(scene, id)),
            led_since: scene.node(&JobPath::LeaderInstance).map(|node| node.stat.ctime),
            is_any_lost: !scene.children(&JobPath::FailoverItems).is_empty(),
            items,
        }
    }

    pub(super) fn is_of(&self, scene: &Scene<'_>) -> bool {
        self.zxid == scene.tree.last_zxid() && self.items.len() == scene.total as usize
    }
}

/// Whether the node of an instance lasts, as one that an operator copied does.
fn has_no_session(scene: &Scene<'_>, id: &str) -> bool {
    let node = InstanceId::new(id).ok().and_then(|id| scene.node(&JobPath::Instance(id)));
    node.is_some_and(|node| node.stat.ephemeral_owner.is_none())
}

impl ItemNodes {
    fn read(scene: &Scene<'_>, item: ShardingItem) -> Self {
        let is_there = |node| scene.exists(&JobPath::Item(item, node));
        let made = |path: &JobPath| scene.node(path).map_or(i64::MAX, |node| node.stat.ctime);
        let marks = [ItemNode::Running, ItemNode::Misfire, ItemNode::Failover, ItemNode::Failovering];
        let record = scene.node(&JobPath::fire(item)).map(|node| FireRecord::parse(&node.data));
        Self {
            owner: scene.data(&JobPath::owner_of(item)),
            is_disabled: is_there(ItemNode::Disabled),
            is_marked: scene.exists(&JobPath::FailoverItem(item)) || marks.into_iter().any(is_there),
            made_for: record
                .filter(|record| record.last.as_ref().is_none_or(|last| last.manual))
                .and_then(|record| record.through),
            made_at: made(&JobPath::fire(item)).max(made(&JobPath::owner_of(item))),
        }
    }

    pub(super) fn owner(&self) -> Option<&str> {
        self.owner.as_ref()?.text()
    }
}
