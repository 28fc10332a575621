//! Names of nodes, each stored once: the names of the layout repeat in every job.

use std::collections::BTreeSet;

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
    /// Found by the digests of the names: to compare texts, which lie anywhere, takes most of the time where there are thousands.
    ids: BTreeSet<(u64, NameId)>,
    names: Slab<Name>,
}

#[derive(Debug, Clone)]
struct Name {
    text: Box<str>,
    /// How many nodes have the name.
    nodes: u32,
}

impl Names {
    /// The id of a name; `None` where no node has it.
    pub(super) fn find(&self, name: &str) -> Option<NameId> {
        let digest = digest(name);
        let same = self.ids.range((digest, NameId::FIRST)..=(digest, NameId::LAST));
        same.map(|(_, id)| *id).find(|id| self.text(*id) == name)
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
        let id = NameId(super::index(self.names.insert(Name { text: name.into(), nodes: 1 })));
        self.ids.insert((digest(name), id));
        id
    }

    /// One node less has the name.
    pub(super) fn release(&mut self, id: NameId) {
        let name = &mut self.names[id.0 as usize];
        name.nodes -= 1;
        if name.nodes == 0 {
            let Name { text, .. } = self.names.remove(id.0 as usize);
            self.ids.remove(&(digest(&text), id));
        }
    }
}

/// A number that is the same for the same name, and hardly ever for two: FNV-1a.
fn digest(name: &str) -> u64 {
    let step = |digest: u64, byte: u8| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_digest_are_told_apart() {
        let same = ["8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"];
        assert_eq!(digest(same[0]), digest(same[1]));
        let mut names = Names::default();
        let one = names.take(same[0]);
        assert_eq!(names.find(same[1]), None);
        let two = names.take(same[1]);
        assert_ne!(one, two);
        assert_eq!(same.map(|name| names.find(name)), [Some(one), Some(two)]);
        names.release(one);
        assert_eq!(same.map(|name| names.find(name)), [None, Some(two)]);
    }

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
