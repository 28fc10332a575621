//! Handles of running jobs: cheap to clone, usable from anywhere.

use std::any::type_name;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{oneshot, watch};

use super::mailbox::Mailbox;
use super::stand_in::Heir;
use crate::api::{ArgumentSite, Beans, JobArgument, MissingBean, ShardingContext};
use crate::engine::{LeftRun, ParentView, RoundId};
use crate::fire::{ItemEnd, TraceParent};
use crate::ident::{JobName, ShardingItem};
use crate::job_status::{Activity, JobStatus};

/// A letter to the driver of a job from another task.
#[derive(Debug)]
pub(crate) enum Letter {
    /// Trigger the job on every enabled instance, with the trace context of the caller.
    Trigger(oneshot::Sender<Result<Triggered, TriggerError>>, Option<TraceParent>),
    /// Leave: finish or cut off what runs, then leave the registry.
    Shutdown(ShutdownMode),
    /// The run of an item is over.
    ItemEnded(ShardingItem, ItemEnd),
    /// What the registry says of a job that this one depends on.
    Parent(JobName, Box<ParentView>),
    /// The call of listeners that a listener round had under way is over.
    ListenersCalled(RoundId),
    /// Another job of this name was made, and takes over the runs of this one that go on.
    HandOver(Heir),
}

/// The way in which a job leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownMode {
    /// Items that run may finish within the grace time.
    Graceful,
    /// Items that run are cut off at once.
    Now,
    /// The same, where the program starts the job again right after, for example with other settings. With failover a manual
    /// trigger that waits is kept for the next instance of the job: with the other modes the last instance drops it, and
    /// says so in the log.
    Restart,
}

/// A manual trigger was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triggered {
    /// Every enabled instance was asked to run its items.
    Queued,
    /// All of them were asked before and have not begun yet: that run serves this trigger too.
    AlreadyPending,
}

/// A manual trigger was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TriggerError {
    /// No instance could run it.
    #[error("job '{job}' was not triggered: no enabled instance is online; enable a server or start an instance")]
    NoEnabledInstance {
        /// The job.
        job: JobName,
    },
    /// The job is not running in this process: not started yet, or stopped.
    #[error("job '{job}' was not triggered: it is not running in this process")]
    NotRunning {
        /// The job.
        job: JobName,
    },
    /// The registry center refused, or was not reached in time.
    #[error("job '{job}' was not triggered: {why}")]
    Registry {
        /// The job.
        job: JobName,
        /// The answer of the registry center.
        why: String,
    },
}

/// The parts that both kinds of handles share.
#[derive(Debug, Clone)]
pub(crate) struct JobHandle {
    name: JobName,
    mailbox: Arc<Mailbox<Letter>>,
    status: watch::Receiver<JobStatus>,
    /// Whether it was asked to leave.
    asked_to_leave: Arc<AtomicBool>,
    /// The trace context of the code that calls.
    caller: CallerTrace,
}

/// The trace context of the code that calls it, by the library for traces that the program uses. `None` without one.
pub type CallerTrace = fn() -> Option<TraceParent>;

impl JobHandle {
    pub(crate) fn new(name: JobName, mailbox: Arc<Mailbox<Letter>>, status: watch::Receiver<JobStatus>) -> Self {
        Self { name, mailbox, status, asked_to_leave: Arc::default(), caller: || None }
    }

    /// The same where this says in which trace a caller is.
    pub(super) fn called_in(self, caller: CallerTrace) -> Self {
        Self { caller, ..self }
    }

    async fn trigger(&self) -> Result<Triggered, TriggerError> {
        let not_running = || TriggerError::NotRunning { job: self.name.clone() };
        if self.status.borrow().activity == Activity::NotStarted || self.has_left() {
            return Err(not_running());
        }
        let (reply, answer) = oneshot::channel();
        self.mailbox.post(Letter::Trigger(reply, (self.caller)())).map_err(|_| not_running())?;
        answer.await.map_err(|_| not_running())?
    }

    /// Asks the job to leave; [`stopped`](Self::stopped) completes when it has left.
    pub(crate) fn shutdown(&self, mode: ShutdownMode) {
        self.asked_to_leave.store(true, Ordering::Relaxed);
        // When this job has left, its mailbox may belong to another job of the same name by now.
        if !self.has_left() {
            // A closed mailbox belongs to a job that has left already, which is what the caller asked for.
            let _ = self.mailbox.post(Letter::Shutdown(mode));
        }
    }

    /// Whether the job is on its way out of the group: it was asked to leave, or an operator removed it.
    pub(super) fn is_leaving(&self) -> bool {
        self.asked_to_leave.load(Ordering::Relaxed) || self.status.borrow().activity == Activity::Leaving
    }

    /// Whether the job was in the group and has left it.
    pub(super) fn has_left(&self) -> bool {
        // An error means that the driver has ended.
        is_out(self.status.borrow().activity) || self.status.has_changed().is_err()
    }

    /// Whether nothing of the job is left in this process, neither in the registry nor running.
    pub(super) fn is_gone(&self) -> bool {
        self.has_left() && self.mailbox.is_closed()
    }

    /// Asks this job, which has left, for its runs that go on. Their ends come to the mailbox of `heir` once the runs
    /// are sent. Where the sender is dropped, no run goes on.
    pub(super) fn hand_over(&self, heir: &Arc<Mailbox<Letter>>) -> oneshot::Receiver<Vec<LeftRun>> {
        let (runs, left) = oneshot::channel();
        // A closed mailbox drops the letter, and the sender with it.
        let _ = self.mailbox.post(Letter::HandOver(Heir { mailbox: heir.clone(), runs }));
        left
    }

    /// The current status of the job.
    pub(super) fn status(&self) -> JobStatus {
        self.status.borrow().clone()
    }

    /// Completes when the job has left, and its log is written. Completes at once when the job was never started.
    pub(crate) async fn stopped(&self) {
        let is_over = |status: &JobStatus| status.activity == Activity::NotStarted || is_out(status.activity);
        // An error means that the driver has ended, which is as good.
        let _ = self.status.clone().wait_for(is_over).await;
        crate::log::written().await;
    }

    /// Completes when the job has left. The start of the job may still be under way.
    pub(super) async fn left(&self) {
        // An error means that the driver has ended, or never started.
        let _ = self.status.clone().wait_for(|status| is_out(status.activity)).await;
    }
}

/// Whether a job with this activity was in the group and has left it.
fn is_out(activity: Activity) -> bool {
    matches!(activity, Activity::Stopped | Activity::Failed)
}

macro_rules! handle {
    ($name:ident) => {
        impl $name {
            pub(crate) fn new(handle: JobHandle) -> Self {
                Self(handle)
            }

            /// A handle that belongs to no job, for calling a job function in a test. It answers every request with
            /// [`TriggerError::NotRunning`].
            pub fn detached(name: JobName) -> Self {
                let (_, status) = watch::channel(JobStatus::of_no_instance());
                Self(JobHandle::new(name, Arc::new(Mailbox::new()), status))
            }

            /// Name of the job.
            pub fn name(&self) -> &JobName {
                &self.0.name
            }

            /// The status of the job, now and as it changes.
            pub fn status(&self) -> watch::Receiver<JobStatus> {
                self.0.status.clone()
            }
        }

        impl JobArgument for $name {
            type Bound = $name;

            fn bind(beans: &Beans, site: ArgumentSite) -> Result<$name, MissingBean> {
                let found = site.bean.and_then(|name| beans.named::<$name>(name));
                found.map(|handle| handle.as_ref().clone()).ok_or_else(|| MissingBean {
                    argument: site.name,
                    bean: site.bean,
                    wanted: type_name::<$name>().to_owned(),
                    remedy: match site.bean {
                        Some(name) => format!(
                            "no job has the bean name \"{name}\": set `job-bootstrap-bean-name` of the job that is meant"
                        ),
                        None => "name the job's bean: `#[bean(\"...\")]` before the argument".to_owned(),
                    },
                    available: beans.listing(),
                })
            }

            fn take(bound: &$name, _: &ShardingContext) -> Self {
                bound.clone()
            }
        }
    };
}

/// The handle of a one-off job: a job without a schedule, which runs on request.
///
/// Found by its bean name: `app.one_off_job("reindexJobBean")`, or as an argument `#[bean("reindexJobBean")] job: OneOffJob`.
#[derive(Debug, Clone)]
pub struct OneOffJob(JobHandle);

impl OneOffJob {
    /// Asks every enabled instance to run its items once. Completes when the request is in the registry, not when the
    /// items ran. Where items are not assigned yet, as after a start, it waits for that, for at most 5 seconds.
    ///
    /// # Errors
    /// [`TriggerError`]: no instance could run it, the job is not running in this process, or the registry center
    /// failed.
    pub async fn execute(&self) -> Result<Triggered, TriggerError> {
        self.0.trigger().await
    }
}

/// The handle of a job with a schedule, for runs beside it.
#[derive(Debug, Clone)]
pub struct ScheduleJob(JobHandle);

impl ScheduleJob {
    /// Asks every enabled instance to run its items once beside the schedule, when its running items have ended.
    /// Completes when the request is in the registry, not when the items ran. Where items are not assigned yet, as after a start, it
    /// waits for that, for at most 5 seconds.
    ///
    /// # Errors
    /// [`TriggerError`]: no instance could run it, the job is not running in this process, or the registry center
    /// failed.
    pub async fn trigger(&self) -> Result<Triggered, TriggerError> {
        self.0.trigger().await
    }
}

handle!(OneOffJob);
handle!(ScheduleJob);
