//! Nodes that no instance makes, in the way of a node that has to be deleted.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::foreign_nodes::{ForeignNodes, Kept};
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;
use crate::registry::{CommitError, Refusal, RegistryError};

/// Deletes nodes that no instance makes, below a node that has to be deleted: the registry center refused to delete it
/// because it has children.
pub(super) fn clear(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    let Some(foreign) = &engine.link.foreign else { return Ok(Step::Pass) };
    let Some((transaction, deleted)) = foreign.deletion(&engine.job, &engine.mirror) else { return Ok(Step::Stop) };
    if deleted.is_empty() {
        engine.link.foreign = None;
        return Ok(Step::Pass);
    }
    let above = foreign.above().clone();
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Clear { above, deleted } }))
}

impl JobEngine {
    /// A transaction was refused: the engine looks at the nodes that are in its way.
    pub(in crate::engine) fn on_obstructed(&mut self, error: &CommitError) {
        let Some(foreign) = ForeignNodes::of_refused(&self.job, error) else { return };
        if !self.link.is_obstructed(foreign.above()) && !self.planted.has(Bug::StuckOnForeign) {
            self.link.foreign = Some(Box::new(foreign));
        }
    }

    /// Takes the children of a node in the way.
    pub(in crate::engine) fn on_foreign_listed(
        &mut self,
        path: &JobPath,
        children: &Result<Option<Vec<String>>, RegistryError>,
    ) {
        let Some(foreign) = &mut self.link.foreign else { return };
        if let Err(kept) = foreign.on_listed(path, children) {
            let above = foreign.above().clone();
            self.keep_foreign(above, kept);
        }
    }

    /// The nodes in the way are deleted.
    pub(in crate::engine) fn on_cleared(&mut self, above: &JobPath, deleted: Vec<JobPath>) {
        if let Some(foreign) = &mut self.link.foreign {
            foreign.on_deleted(&deleted);
        }
        let nodes = deleted.iter().rev().map(ToString::to_string).collect();
        self.tell(Notice::ForeignNodesDeleted { above: above.to_string(), nodes });
    }

    /// The nodes in the way could not be deleted.
    pub(in crate::engine) fn on_not_cleared(&mut self, above: &JobPath, error: &CommitError) {
        match error {
            CommitError::Refused { reason: Refusal::NoNode | Refusal::NotEmpty, .. } => {
                if let Some(foreign) = &mut self.link.foreign {
                    foreign.look_again();
                }
            }
            CommitError::Refused { .. } => self.keep_foreign(above.clone(), Kept(error.to_string())),
            // The deletion of the node above them is refused again, if they are still there.
            CommitError::NotReached { .. } | CommitError::Unknown { .. } => self.link.foreign = None,
        }
    }

    /// The nodes below a node stay, and so does the node where nothing depends on it.
    pub(in crate::engine) fn keep_foreign(&mut self, above: JobPath, Kept(why): Kept) {
        self.link.foreign = None;
        if self.link.obstructed.insert(above.clone()) {
            self.tell(Notice::ForeignNodesKept { above: above.to_string(), why });
        }
    }
}
