//! Nodes that no instance makes, below a node that has to be deleted.
//!
//! The registry center refuses to delete a node that has children, and with it the whole transaction, again and again.
//! So after such a refusal the engine lists the nodes below that node and deletes them first. ElasticJob deletes a node
//! with its children too. The engine reports once which nodes it cannot delete; the node above them stays where nothing
//! depends on it.

use std::collections::BTreeSet;

use crate::engine::txn::JobTransaction;
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Mirror;
use crate::registry::{CommitError, Refusal, RegistryError, Transaction};

/// How many nodes are deleted at once.
const AT_ONCE: usize = 1_000;

/// How many nodes below one are looked at: more are for a human to judge.
const MOST: usize = 10_000;

/// The nodes below a node that could not be deleted, as far as they are listed.
#[derive(Debug)]
pub(in crate::engine) struct ForeignNodes {
    above: JobPath,
    to_list: BTreeSet<JobPath>,
    listing: BTreeSet<JobPath>,
    /// A node sorts before what is below it.
    found: BTreeSet<JobPath>,
}

/// Why the nodes below a node cannot be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Kept(pub(in crate::engine) String);

impl ForeignNodes {
    /// The nodes to list after a transaction was refused. `None` where the node may have children of its own, which the
    /// mirror knows.
    pub(in crate::engine) fn of_refused(job: &JobName, error: &CommitError) -> Option<Self> {
        let CommitError::Refused { path, reason: Refusal::NotEmpty, .. } = error else { return None };
        let above = JobPath::parse(job, path).filter(|path| !path.has_children())?;
        let to_list = BTreeSet::from([above.clone()]);
        Some(Self { above, to_list, listing: BTreeSet::new(), found: BTreeSet::new() })
    }

    /// The node that could not be deleted.
    pub(in crate::engine) fn above(&self) -> &JobPath {
        &self.above
    }

    /// The nodes to list now; each is returned once.
    pub(in crate::engine) fn take_lists(&mut self) -> BTreeSet<JobPath> {
        let lists = std::mem::take(&mut self.to_list);
        self.listing.extend(lists.iter().cloned());
        lists
    }

    /// Takes the children of a node that was to be listed.
    pub(in crate::engine) fn on_listed(
        &mut self,
        path: &JobPath,
        children: &Result<Option<Vec<String>>, RegistryError>,
    ) -> Result<(), Kept> {
        if !self.listing.remove(path) {
            return Ok(());
        }
        match children {
            Ok(children) => {
                for name in children.iter().flatten() {
                    let child = path.foreign_child(name);
                    self.found.insert(child.clone());
                    self.to_list.insert(child);
                }
                match self.found.len() > MOST {
                    true => Err(Kept(format!("there are more than {MOST}"))),
                    false => Ok(()),
                }
            }
            Err(error @ RegistryError::Refused { .. }) => Err(Kept(error.to_string())),
            Err(RegistryError::NoAnswer { .. }) => {
                self.to_list.insert(path.clone());
                Ok(())
            }
        }
    }

    /// The transaction that deletes the nodes, deepest first, and which nodes these are; `None` while lists are
    /// missing. A transaction without operations says that no nodes are left.
    pub(in crate::engine) fn deletion(&self, job: &JobName, mirror: &Mirror) -> Option<(Transaction, Vec<JobPath>)> {
        if !self.to_list.is_empty() || !self.listing.is_empty() {
            return None;
        }
        let mut txn = JobTransaction::new(job, mirror);
        let deleted: Vec<JobPath> = self.found.iter().rev().take(AT_ONCE).cloned().collect();
        for path in &deleted {
            txn.delete(path, None);
        }
        Some((txn.build(), deleted))
    }

    /// These nodes are deleted.
    pub(in crate::engine) fn on_deleted(&mut self, deleted: &[JobPath]) {
        for path in deleted {
            self.found.remove(path);
        }
    }

    /// Another client changed the nodes meanwhile: lists them again.
    pub(in crate::engine) fn look_again(&mut self) {
        self.found.clear();
        self.listing.clear();
        self.to_list = BTreeSet::from([self.above.clone()]);
    }
}
