//! Names of nodes, each stored once: the names of the layout repeat in every job.

use std::collections::BTreeMap;
use std::sync::Arc;

use slab::Slab;

/// The id of a name, valid as long as a node has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameId(u32);

impl NameId {
    pub(super) const FIRST: Self = Self(0);
    pub(super) const LAST: Self = Self(u32::MAX);
}

#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    ids: BTreeMap<Arc<str>, NameId>,
    names: Slab<Name>,
}

#[derive(Debug, Clone)]
struct Name {
    text: Arc<str>,
    /// How many nodes have the name.
    nodes: u32,
}

impl Names {
    /// The id of a name; `None` where no node has it.
    pub(super) fn find(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub(super) fn text(&self, id: NameId) -> &str {
        &self.names[id.0 as usize].text
    }

    /// The id of a name, for one more node.
    pub(super) fn take(&mut self, name: &str) -> NameId {
        if let Some(id) = self.find(name) {
            self.names[id.0 as usize].nodes += 1;
            return id;
        }
        let text: Arc<str> = name.into();
        let id = NameId(super::index(self.names.insert(Name { text: text.clone(), nodes: 1 })));
        self.ids.insert(text, id);
        id
    }

    /// One node less has the name.
    pub(super) fn release(&mut self, id: NameId) {
        let name = &mut self.names[id.0 as usize];
        name.nodes -= 1;
        if name.nodes == 0 {
            let Name { text, .. } = self.names.remove(id.0 as usize);
            self.ids.remove(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_as_long_as_a_node_has_it() {
        let mut names = Names::default();
        let (a, b) = (names.take("a"), names.take("b"));
        assert_ne!(a, b);
        assert_eq!(names.take("a"), a);
        names.release(a);
        assert_eq!((names.find("a"), names.text(a)), (Some(a), "a"));
        names.release(a);
        assert_eq!(names.find("a"), None);
        assert_eq!((names.find("b"), names.text(b)), (Some(b), "b"));
    }
}
