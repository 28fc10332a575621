//! The scheduler: one worker, a cron trigger that does nothing on a misfire, and runs asked for by hand.

use std::collections::VecDeque;
use std::rc::Rc;

use super::jvm::{Jvm, Wish};
use crate::fire::Fire;
use crate::schedule::Schedule;
use crate::testing::sim::Millis;

/// A fire that is looked at later than this after its time is misfired.
const MISFIRE_THRESHOLD: i64 = 1;
/// The scheduler looks at its clock at least so often.
const IDLE_WAIT: Millis = 30_000;

const BUSY: &str = "the only worker was busy or paused";

/// A run that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Trigger,
    Failover,
}

#[derive(Debug, Default)]
pub(super) struct Quartz {
    schedule: Option<Schedule>,
    next: Option<i64>,
    fired: bool,
    requests: VecDeque<Request>,
    paused: bool,
    /// Nothing fires any more.
    pub(super) shut_down: bool,
    /// Counts what the scheduler has to look at again.
    changes: u32,
}

impl Quartz {
    pub(super) fn request(&mut self, why: Request) {
        self.requests.push_back(why);
        self.changes += 1;
    }

    pub(super) fn schedule(&mut self, schedule: Option<Schedule>, wall: i64) {
        self.next = schedule.as_ref().and_then(|schedule| schedule.next_after(wall));
        self.schedule = schedule;
        self.fired = false;
        self.changes += 1;
    }

    /// Whether another cron expression is in force than this one.
    pub(super) fn differs(&self, cron: &str) -> bool {
        self.schedule.as_ref().is_some_and(|schedule| schedule.cron().as_str() != cron)
    }

    pub(super) fn pause(&mut self, paused: bool) {
        self.paused = paused;
        self.changes += 1;
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    fn is_due(&self, wall: i64) -> bool {
        !self.paused && (!self.requests.is_empty() || self.next.is_some_and(|next| wall >= next))
    }

    fn take(&mut self, wall: i64) -> Option<Fire> {
        if self.paused {
            return None;
        }
        if self.requests.pop_front().is_some() {
            return Some(Fire::manual(0, wall, None));
        }
        let at = self.next.filter(|next| wall >= *next)?;
        self.next = self.schedule.as_ref().and_then(|schedule| schedule.next_after(at));
        self.fired = true;
        Some(Fire::Scheduled(at))
    }

    /// The fires whose time passed before the worker was free; they are not made up for here.
    fn skip_missed(&mut self, wall: i64) -> Vec<i64> {
        let mut missed = Vec::new();
        let Some(schedule) = self.schedule.as_ref().filter(|_| !self.paused) else { return missed };
        while let Some(next) = self.next.filter(|next| *next < wall - MISFIRE_THRESHOLD) {
            missed.push(next);
            self.next = schedule.next_after(next);
        }
        missed
    }
}

/// The worker and the scheduler's thread: they take turns, since there is one worker.
pub(super) async fn worker(jvm: Rc<Jvm>) {
    loop {
        let stopping = jvm.stopping.get() || jvm.quartz.borrow().shut_down;
        if stopping {
            jvm.leave_out_missed();
            break;
        }
        let (missed, fired) = {
            let mut quartz = jvm.quartz.borrow_mut();
            (quartz.skip_missed(jvm.wall()), quartz.fired)
        };
        if !missed.is_empty() {
            misfired(&jvm, missed, fired).await;
            continue;
        }
        let taken = jvm.quartz.borrow_mut().take(jvm.wall());
        match taken {
            Some(fire) => {
                jvm.log(format!("Java runs {fire}"));
                jvm.busy.set(true);
                if jvm.execute(fire).await.is_none() {
                    jvm.log("the run ended with an exception");
                }
                jvm.busy.set(false);
            }
            None => until_due(&jvm).await,
        }
    }
    super::start::leave(&jvm).await;
}

async fn until_due(jvm: &Jvm) {
    let (next, changes) = {
        let quartz = jvm.quartz.borrow();
        (quartz.next.filter(|_| !quartz.paused), quartz.changes)
    };
    let time = next.map_or(IDLE_WAIT, |next| Millis::try_from(next - jvm.wall()).unwrap_or(0).clamp(1, IDLE_WAIT));
    jvm.wait(Some(time), || {
        let quartz = jvm.quartz.borrow();
        quartz.changes != changes || quartz.is_due(jvm.wall()) || quartz.shut_down || jvm.stopping.get()
    })
    .await;
}

/// Fires passed while the worker was busy: the items are marked, if the trigger ever fired.
async fn misfired(jvm: &Jvm, fires: Vec<i64>, fired: bool) {
    jvm.log(format!("Java misses {} fires", fires.len()));
    let Some(items) = jvm.local_items().await else { return };
    if fired {
        jvm.set_misfire(&items).await;
    }
    jvm.wish(Wish::LeftOut { fires, items, why: BUSY });
}

impl Jvm {
    /// Tells of fires that the scheduler has not come to look at.
    pub(super) fn leave_out_missed(&self) {
        let fires = self.quartz.borrow_mut().skip_missed(self.wall());
        self.wish(Wish::LeftOut { fires, items: self.own_items.borrow().clone(), why: BUSY });
    }
}
