//! Tells which runs go on, by the mark and record of an item and the sessions in the registry.

use super::engine::JobEngine;
use crate::fire::{FireRecord, Lifeline};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Known, Unread};

impl JobEngine {
    /// The node that says that the live session lives.
    pub(super) fn own_session(&self) -> Option<JobPath> {
        self.session.connected().map(JobPath::Session)
    }

    /// Whether the run of a mark lives: an ephemeral mark is deleted with it, of another one see [`Lifeline`].
    pub(super) fn is_run_alive(&self, item: ShardingItem, mark: &Known) -> Result<bool, Unread> {
        // A run here that is not monitored has no mark.
        let marked_here = self.runs.item(item).is_some_and(|run| run.attempt.is_some());
        if mark.owner.is_some() || marked_here {
            return Ok(true);
        }
        let known = self.mirror.need(&JobPath::fire(item))?;
        let record = known.map_or(FireRecord::empty(), |known| self.read_record(known));
        let lifeline = Lifeline::of(mark.text(), &record);
        // The begin of an engine that is gone reached the server late: this engine knows what it runs itself.
        let is_over = match &lifeline {
            Lifeline::Session(session) => {
                session.is_some() && *session == self.session.connected() && !self.is_unresolved(item)
            }
            Lifeline::Instance(instance) => instance.as_ref() == Some(&self.identity.instance),
        };
        Ok(!is_over && lifeline.node().is_some_and(|node| self.mirror.exists(&node)))
    }

    /// Whether the item is one of a begin whose outcome is unknown.
    fn is_unresolved(&self, item: ShardingItem) -> bool {
        self.fires.unresolved.as_ref().is_some_and(|unresolved| unresolved.items.contains(&item))
    }

    /// Whether the record is of a run of this implementation that goes on.
    pub(super) fn runs_in_live_session(&self, record: &FireRecord) -> bool {
        let session = record.running().and_then(|begun| begun.attempt.session());
        session.is_some_and(|id| self.mirror.exists(&JobPath::Session(id)))
    }

    /// The instance of this implementation whose run of an item goes on elsewhere. Also where its mark is gone or is
    /// that of another run: Java peers delete and replace marks without looking whose they are.
    pub(super) fn runs_elsewhere<'a>(&self, record: &'a FireRecord) -> Option<&'a InstanceId> {
        let own = self.session.connected();
        let begun = record.running().filter(|begun| own.is_none_or(|session| !begun.attempt.is_of(session)))?;
        self.runs_in_live_session(record).then_some(&begun.instance)
    }
}

/// Whether no session owns a node that has to be ephemeral.
pub(super) fn is_sessionless(known: &Known) -> bool {
    known.owner.is_none()
}
