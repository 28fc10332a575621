//! Writing how the items of a run ended.

use super::Step;
use crate::engine::engine::{JobEngine, Proposal, Purpose};
use crate::engine::event::Now;
use crate::engine::fire::{Fire, FireRecord, FireState};
use crate::engine::notice::Notice;
use crate::engine::run::Stage;
use crate::engine::txn::JobTransaction;
use crate::ident::ShardingItem;
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;

/// One transaction for all items that ended together: the outcome into the record, the mark taken away.
pub(super) fn finish(engine: &mut JobEngine, now: Now) -> Step {
    let Some(run) = &engine.run else { return Step::Pass };
    if run.finish_at().is_none_or(|at| now.mono < at) {
        return Step::Pass;
    }
    let fire = run.fire;
    let session = engine.session.connected();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    let (mut items, mut done, mut stale) = (Vec::new(), Vec::new(), Vec::new());
    for (item, item_run) in &run.items {
        let Stage::Ended { end, .. } = &item_run.stage else { continue };
        let Some(attempt) = &item_run.attempt else {
            done.push(*item);
            continue;
        };
        let path = JobPath::fire(*item);
        match engine.look(&path) {
            Lookup::Unread => return Step::Pass,
            Lookup::Missing => done.push(*item),
            Lookup::Known(known) => {
                let record = FireRecord::parse(&known.data);
                let written = record.last.as_ref().is_some_and(|begun| begun.state != FireState::Running);
                if !record.is_attempt(attempt) {
                    stale.push(*item);
                } else if written {
                    // The answer got lost: it went through.
                    done.push(*item);
                } else {
                    let ended = record.end(end.state, end.took, end.error.as_deref(), run.skipped);
                    txn.set(&path, ended.to_bytes(), Some(known.version));
                    let mark = JobPath::running(*item);
                    // A mark of an earlier session goes with it; by now there may be one of somebody else.
                    match engine.look(&mark) {
                        Lookup::Unread => return Step::Pass,
                        Lookup::Known(known) if known.owner == session => {
                            txn.delete(&mark, None);
                        }
                        _ => {}
                    }
                    items.push(*item);
                }
            }
        }
    }
    let transaction = txn.build();
    for item in &stale {
        engine.tell(Notice::Stale { fire, item: *item });
    }
    done.extend(stale);
    engine.on_finished(&done);
    if items.is_empty() {
        return Step::Pass;
    }
    Step::Write(Proposal { transaction, purpose: Purpose::Finish { items } })
}

impl JobEngine {
    /// The ends of these items need no more writing. When they were the last ones, the run is over.
    pub(in crate::engine) fn on_finished(&mut self, items: &[ShardingItem]) {
        let Some(run) = &mut self.run else { return };
        for item in items {
            if let Some(Stage::Ended { end, .. }) = run.items.remove(item).map(|run| run.stage) {
                run.finished.push((*item, end.state));
            }
        }
        if !run.items.is_empty() {
            return;
        }
        let Some(run) = self.run.take() else { return };
        self.tell(Notice::Finished { fire: run.fire, items: run.finished });
        if let Fire::Scheduled(_) = run.fire {
            self.fires += 1;
        }
    }
}
