//! Applies the own transactions to the mirror, from their answers and beside the events that they cause.

use std::collections::BTreeMap;

use super::parsed::Parsed;
use super::{Known, Mirror};
use crate::registry::layout::JobPath;
use crate::registry::{Committed, CreateMode, Op, OpResult, SessionId, Transaction};

/// For each path of the own transaction in flight: how many events are expected, and how many were seen.
#[derive(Debug, Default)]
pub(super) struct InFlight(pub(super) BTreeMap<JobPath, (u32, u32)>);

impl Mirror {
    /// Notes that an own transaction is sent.
    pub fn on_commit_sent(&mut self, transaction: &Transaction) {
        self.in_flight.0.clear();
        for op in transaction.ops() {
            let sequential = matches!(op, Op::Create { mode: CreateMode::EphemeralSequential, .. });
            if matches!(op, Op::Check { .. }) || sequential {
                continue;
            }
            if let Some(path) = JobPath::parse(&self.job, op.path()) {
                self.in_flight.0.entry(path).or_default().0 += 1;
            }
        }
    }

    /// Notes that the own transaction was applied.
    pub fn on_committed(&mut self, transaction: &Transaction, committed: &Committed, session: SessionId) {
        let in_flight = std::mem::take(&mut self.in_flight.0);
        let zxid = committed.zxid().unwrap_or(0);
        for (op, result) in transaction.ops().iter().zip(&committed.results) {
            let path = match result {
                OpResult::Create { path } => path,
                _ => op.path(),
            };
            let Some(path) = JobPath::parse(&self.job, path).filter(|path| self.hears(path)) else { continue };
            let (expected, seen) = in_flight.get(&path).copied().unwrap_or((1, 0));
            // Events have already shown which nodes exist. More events than expected mean that another client wrote as
            // well.
            let told = seen > 0;
            let foreign = seen > expected;
            match (op, result) {
                (Op::Create { data, mode, .. }, _) if !told || self.nodes.contains(&path) => {
                    // An instance that takes a trigger needs its creation time, which the answer does not have.
                    let complete = path.has_data() && !matches!(path, JobPath::Trigger(_));
                    let known = (complete && !foreign).then(|| {
                        Box::new(Known {
                            data: data.clone(),
                            version: 0,
                            mzxid: zxid,
                            czxid: zxid,
                            ctime: 0,
                            mtime: 0,
                            owner: (*mode != CreateMode::Persistent).then_some(session),
                            parsed: Parsed::default(),
                        })
                    });
                    self.nodes.insert(path, known);
                }
                (Op::Set { data, .. }, OpResult::Set { stat }) if !told || self.nodes.contains(&path) => {
                    let known = (!foreign).then(|| Known::boxed(data.clone(), *stat));
                    self.nodes.insert(path, known);
                }
                (Op::Delete { .. }, _) if !told => {
                    self.nodes.remove(&path);
                }
                _ => {}
            }
        }
    }

    /// Notes that the own transaction was refused, or was not sent.
    pub fn on_not_committed(&mut self) {
        self.in_flight.0.clear();
    }
}
