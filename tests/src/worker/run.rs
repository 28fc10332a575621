//! The run of one item.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use elasticjob::api::{JobError, JobResult, ShardingContext};

use super::pace::Pace;
use super::plan::{Bug, JobPlan, WorkerPlan};
use super::recorder::Recorder;
use crate::fence::{Fence, FencedWrite, Writer};
use crate::records::{Ending, What, now_us};

/// Time between two writes of a run.
const STEP: Duration = Duration::from_millis(100);

/// A bug shows in each item of a job that fires each second once in so many seconds.
const BUG_EACH_SECONDS: i64 = 8;

/// What the items of a job of this process write to.
pub(super) struct Sink {
    job: JobPlan,
    pace: Option<Pace>,
    bug: Option<Bug>,
    recorder: Arc<Recorder>,
    fence: Fence,
}

impl Sink {
    pub(super) fn new(plan: &WorkerPlan, job: &JobPlan, recorder: Arc<Recorder>) -> io::Result<Self> {
        let fence = Fence::new(&plan.fence)?;
        Ok(Self { job: job.clone(), pace: plan.pace.clone(), bug: plan.bug, recorder, fence })
    }

    /// How long the run of an item of a fire takes.
    fn run_ms(&self, context: &ShardingContext) -> io::Result<u64> {
        let (fire, item) = (context.scheduled_at().timestamp_millis(), context.sharding_item());
        let is_slow = self.pace.as_ref().map_or(Ok(true), |pace| pace.is_slow(fire))?;
        Ok(if is_slow { self.job.run_ms(fire, item) } else { 0 })
    }

    /// Whether a bug shows in the run of a fire. Not by chance: of four items that fire each second it is one in every second
    /// fire, however short the time is.
    fn has(&self, bug: Bug, context: &ShardingContext) -> bool {
        let (fire, item) = (context.scheduled_at().timestamp(), i64::from(context.sharding_item()));
        self.bug == Some(bug) && (fire + 2 * item) % BUG_EACH_SECONDS == 0
    }
}

pub(super) async fn run_item(context: ShardingContext, sink: Arc<Sink>) -> JobResult {
    if sink.has(Bug::LostRun, &context) {
        return Ok(());
    }
    let twice = sink.has(Bug::DoubleRun, &context);
    let done = run_recorded(context.clone(), sink.clone()).await;
    if twice { run_recorded(context, sink).await } else { done }
}

async fn run_recorded(context: ShardingContext, sink: Arc<Sink>) -> JobResult {
    let run = RecordedRun::begin(context, sink)?;
    let context = run.context.clone();
    // From the first moment on the sink knows that the item has gone on.
    run.write()?;
    let is_stubborn = run.sink.job.stubborn && context.sharding_item() % 2 == 1;
    let run_ms = run.sink.run_ms(&context)?;
    // Counted, not timed: a process that was frozen in the midst of a run goes on with it.
    for _ in 0..run_ms / STEP.as_millis() as u64 {
        tokio::select! {
            biased;
            () = context.cancelled(), if !is_stubborn => {
                // As a program would that learns of it too late.
                run.write()?;
                run.end(Ending::Cancelled)?;
                return Err(JobError::message("it was cancelled"));
            }
            () = tokio::time::sleep(STEP) => run.write()?,
        }
    }
    run.end(Ending::Finished)
}

/// A run that records its end also when it is dropped.
struct RecordedRun {
    context: ShardingContext,
    sink: Arc<Sink>,
    number: u64,
    /// The fencing token, which a run that is not monitored does not have.
    token: Option<i64>,
    over: bool,
}

impl RecordedRun {
    fn begin(context: ShardingContext, sink: Arc<Sink>) -> Result<Self, JobError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let token = context.fencing_token();
        if sink.job.monitored && token.is_none() {
            return Err(JobError::message("a monitored run has a fencing token"));
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        sink.recorder.record(
            &sink.job.name,
            What::Begin {
                run: number,
                item: context.sharding_item(),
                scheduled_ms: context.scheduled_at().timestamp_millis(),
                source: context.source(),
                token,
                instance: context.instance_id().to_string(),
            },
        )?;
        Ok(Self { context, sink, number, token, over: false })
    }

    fn write(&self) -> JobResult {
        let Sink { job, fence, bug, .. } = &*self.sink;
        let Some(token) = self.token else { return Ok(()) };
        let token = if *bug == Some(Bug::Unfenced) { i64::MAX } else { token };
        let writer = Writer { token, pid: std::process::id(), run: self.number };
        match fence.write(&job.name, self.context.sharding_item(), writer, now_us())? {
            FencedWrite::Accepted => Ok(()),
            FencedWrite::Refused { .. } => self.record(What::Refused { run: self.number }),
        }
    }

    fn end(mut self, how: Ending) -> JobResult {
        self.over = true;
        self.record(What::End { run: self.number, how })
    }

    fn record(&self, what: What) -> JobResult {
        Ok(self.sink.recorder.record(&self.sink.job.name, what)?)
    }
}

impl Drop for RecordedRun {
    fn drop(&mut self) {
        let dropped = What::End { run: self.number, how: Ending::Dropped };
        if !self.over
            && let Err(error) = self.record(dropped)
        {
            eprintln!("the end of a run could not be recorded: {error}");
        }
    }
}
