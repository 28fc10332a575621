//! Makes facts for the observer of jobs of the notices of an engine.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{JobFact, JobObserver};
use crate::engine::Notice;
use crate::fire::{CancelReason, Fire, FireState, ItemEnd, LateCause, RunKey};
use crate::ident::{JobName, ShardingItem};
use crate::log::{apart, error};
use crate::panics::catch_blocking;
use crate::schedule::Schedule;

/// How many missed fires are counted at most: a job of every second that was stopped for days is not worth more.
const MOST_MISSED: usize = 10_000;

/// Tells an observer what happens to one job.
pub(super) struct Observed {
    observer: Arc<dyn JobObserver>,
    job: JobName,
    /// The cause that the engine gave for a fire that begins late. The begin follows at once.
    late: Option<LateCause>,
}

impl Observed {
    pub(super) fn new(observer: Arc<dyn JobObserver>, job: JobName) -> Self {
        Self { observer, job, late: None }
    }

    /// Tells what a notice says. `schedule` is the one that is followed, `wall` the time in milliseconds since 1970.
    pub(super) fn note(&mut self, notice: &Notice, schedule: Option<&Schedule>, wall: i64) {
        match notice {
            Notice::BegunLate { why, .. } => self.late = Some(*why),
            Notice::Begun { key: RunKey { fire, source }, .. } => {
                let late = match fire {
                    Fire::Scheduled(at) => Some(Duration::from_millis(u64::try_from(wall - at).unwrap_or(0))),
                    Fire::Manual { .. } => None,
                };
                let cause = self.late.take();
                self.tell(&JobFact::Begun { fire: *fire, source: *source, late, cause });
            }
            Notice::NotStarted { items, .. } => self.tell(&JobFact::NotRun { items: items.len() }),
            Notice::Finished { items, .. } => {
                let not_run = items.iter().filter(|(_, state)| *state == FireState::NotRun).count();
                if not_run > 0 {
                    self.tell(&JobFact::NotRun { items: not_run });
                }
            }
            Notice::Skipped { reason, .. } => self.tell(&JobFact::Skipped { reason }),
            Notice::Missed { from, until } => self.tell(&JobFact::Missed { fires: fires(schedule, *from, *until) }),
            Notice::Collapsed { .. } => self.tell(&JobFact::Collapsed),
            Notice::TakenOver { .. } => self.tell(&JobFact::TakenOver),
            Notice::RunsCancelled { items, reason } => {
                self.tell(&JobFact::RunsCancelled { reason: *reason, items: items.len() });
            }
            Notice::CancelledOnRequest { .. } => {
                self.tell(&JobFact::RunsCancelled { reason: CancelReason::Operator, items: 1 });
            }
            Notice::Stale { .. } => self.tell(&JobFact::Stale),
            Notice::Resharded { moved, .. } => self.tell(&JobFact::Resharded { moved: moved.len() }),
            Notice::Elected => self.tell(&JobFact::Elected),
            _ => {}
        }
    }

    pub(super) fn started(&self, item: ShardingItem) {
        self.tell(&JobFact::ItemStarted { item });
    }

    pub(super) fn ended(&self, item: ShardingItem, end: &ItemEnd) {
        self.tell(&JobFact::ItemEnded { item, state: end.state, took: Duration::from_millis(end.took) });
    }

    fn tell(&self, fact: &JobFact<'_>) {
        if let Err(panic) = catch_blocking(|| self.observer.observe(&self.job, fact)) {
            let job = self.job.clone();
            apart(move || error!("the observer of jobs panicked about job '{job}', which goes on: {panic}"));
        }
    }
}

/// How many fires a schedule has from one on, and before another one.
fn fires(schedule: Option<&Schedule>, from: i64, until: i64) -> u64 {
    let Some(schedule) = schedule else { return 1 };
    let fires = std::iter::successors(Some(from), |at| schedule.next_after(*at)).take_while(|at| *at < until);
    fires.take(MOST_MISSED).count() as u64
}
