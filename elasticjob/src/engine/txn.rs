//! Builds a transaction on the nodes of one job.

use std::collections::BTreeSet;

use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Mirror;
use crate::registry::{CreateMode, Data, Op, Transaction};

/// A transaction in the making. Creates the missing nodes above a node it creates, as plain ones without data.
pub(super) struct JobTransaction<'a> {
    job: &'a JobName,
    mirror: &'a Mirror,
    created: BTreeSet<JobPath>,
    checks_configuration: bool,
    transaction: Transaction,
    /// The weight of the operations so far.
    weight: usize,
}

impl<'a> JobTransaction<'a> {
    pub(super) fn new(job: &'a JobName, mirror: &'a Mirror) -> Self {
        Self {
            job,
            mirror,
            created: BTreeSet::new(),
            checks_configuration: false,
            transaction: Transaction::new(),
            weight: 0,
        }
    }

    pub(super) fn check(&mut self, path: &JobPath) -> usize {
        self.add(Op::Check { path: path.absolute(self.job), version: None })
    }

    /// The node exists with this version.
    pub(super) fn check_version(&mut self, path: &JobPath, version: i32) -> usize {
        self.add(Op::Check { path: path.absolute(self.job), version: Some(version) })
    }

    /// The configuration has this version. Where item after item asks for that, it is checked once.
    pub(super) fn check_configuration(&mut self, version: i32) {
        if !std::mem::replace(&mut self.checks_configuration, true) {
            self.check_version(&JobPath::Config, version);
        }
    }

    /// The node does not exist. Only its creation can check that; an instance that watches the node finds nothing
    /// there.
    pub(super) fn check_missing(&mut self, path: &JobPath) {
        self.create(path, "", CreateMode::Persistent);
        self.delete(path, None);
        self.created.remove(path);
    }

    pub(super) fn create(&mut self, path: &JobPath, data: impl Into<Data>, mode: CreateMode) -> usize {
        if let Some(parent) = path.parent() {
            self.create_missing(&parent, "", CreateMode::Persistent);
        }
        self.created.insert(path.clone());
        self.add(Op::Create { path: path.absolute(self.job), data: data.into(), mode })
    }

    pub(super) fn set(&mut self, path: &JobPath, data: impl Into<Data>, version: Option<i32>) -> usize {
        self.add(Op::Set { path: path.absolute(self.job), data: data.into(), version })
    }

    pub(super) fn delete(&mut self, path: &JobPath, version: Option<i32>) -> usize {
        self.add(Op::Delete { path: path.absolute(self.job), version })
    }

    /// Creates a node unless it exists, or this transaction creates it.
    pub(super) fn create_missing(&mut self, path: &JobPath, data: impl Into<Data>, mode: CreateMode) {
        if !self.mirror.exists(path) && !self.created.contains(path) {
            self.create(path, data, mode);
        }
    }

    /// Deletes a node where it exists.
    pub(super) fn delete_existing(&mut self, path: &JobPath) {
        if self.mirror.exists(path) {
            self.delete(path, None);
        }
    }

    /// Deletes a node where it exists and creates it again, for an ephemeral node of another session.
    pub(super) fn replace(&mut self, path: &JobPath, data: impl Into<Data>, mode: CreateMode) -> usize {
        self.delete_existing(path);
        self.create(path, data, mode)
    }

    /// Whether the operations of one more item may be too much.
    pub(super) fn is_full(&self) -> bool {
        self.weight > self.mirror.full_from()
    }

    /// Keeps room for [`Self::check_missing`] of a node.
    pub(super) fn reserve_check_missing(&mut self, path: &JobPath) {
        let check = Op::Delete { path: path.absolute(self.job), version: None };
        self.weight += 2 * (check.weight() + self.mirror.namespace_bytes());
    }

    pub(super) fn len(&self) -> usize {
        self.transaction.ops().len()
    }

    fn add(&mut self, op: Op) -> usize {
        self.weight += op.weight() + self.mirror.namespace_bytes();
        self.transaction.push(op)
    }

    pub(super) fn build(self) -> Transaction {
        self.transaction
    }
}
