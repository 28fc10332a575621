//! A driver that is looked after: one that ends by a bug keeps nothing to itself, and another one takes its place.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::driver::{Driver, Job, Started};
use super::handle::{JobHandle, Letter};
use super::mailbox::Mailbox;
use super::restarts::Restarts;
use super::stand_in::StandIn;
use crate::engine::{Activity, JobStatus};
use crate::ident::JobName;
use crate::log::error;
use crate::panics::catch;

/// Drives a job to its end. When its driver ends by a bug, what the session of the process owns in the job is cleaned up, as
/// the session goes on with the other jobs; then another driver starts in the same session. When that happens again and
/// again, the job stays out of the group and its status says so: it is for the program to end.
pub(super) async fn supervised(mut job: Job, last: Option<JobHandle>, mut started: Started, _reader: Reader) {
    let name = job.engine.job_name().clone();
    if let Some(last) = last
        && !Box::pin(take_over(&mut job, &last, &mut started)).await
    {
        job.environment.members().give_back(&job.registry, &name, last);
        return;
    }
    let mut restarts = Restarts::new(job.environment.restart_pause());
    let mut driver = Driver::new(job, Some(started));
    // On the heap what hardly ever happens: thousands of jobs keep room for what this function waits for.
    while let Err(panic) = catch(driver.run()).await {
        let Some(next) = Box::pin(replace(driver, &panic, restarts.next(Instant::now()))).await else { return };
        driver = next;
    }
    if let Some(stand_in) = driver.stand_in() {
        drop(driver);
        Box::pin(tend_to_the_end(stand_in, &name)).await;
    }
}

/// Takes over what goes on of the last job of this name in this process: the session of that one is that of this one. `false`
/// when the start is given up before the last job has handed anything over.
async fn take_over(job: &mut Job, last: &JobHandle, started: &mut Started) -> bool {
    let mut runs = last.hand_over(&job.mailbox);
    let left = tokio::select! {
        biased;
        left = &mut runs => left.unwrap_or_default(),
        () = started.closed() => {
            runs.close();
            // What was sent before is the business of this job alone from then on, also of one that leaves at once.
            match runs.try_recv() {
                Ok(left) => left,
                Err(_) => return false,
            }
        }
    };
    job.engine.take_left_runs(left);
    true
}

/// Cleans up after a driver that ended by a bug, and makes the next one after a pause. Without a pause there is no next one.
async fn replace(mut driver: Box<Driver>, panic: &str, pause: Option<Duration>) -> Option<Box<Driver>> {
    let (status, name) = (driver.status().clone(), driver.job_name().clone());
    let fallen = catch(async { driver.fall(panic) }).await;
    // Its runs are cut off with it.
    drop(driver);
    let Ok((next, mut stand_in)) = fallen else { return give_up(&status, &name, panic) };
    set_activity(&status, if pause.is_some() { Activity::Restarting } else { Activity::Failed }, panic);
    let Some(pause) = pause else {
        error!(
            job = %name,
            "the coordination of the job ended by a bug again and again, and is not started any more: {panic}; what it left in \
             the registry center is deleted, and its items go to other instances; restart the program to have it here again"
        );
        tend_to_the_end(stand_in, &name).await;
        return None;
    };
    error!(
        job = %name,
        "the coordination of the job ended by a bug and starts again in {} s: {panic}; its runs are cut off, and its items go to \
         other instances meanwhile",
        pause.as_secs()
    );
    if let Err(panic) = catch(stand_in.tend(Some(Instant::now() + pause))).await {
        return give_up(&status, &name, &panic);
    }
    match catch(async { next.into_driver(stand_in) }).await {
        Ok(driver) => Some(driver),
        Err(panic) => give_up(&status, &name, &panic),
    }
}

/// Cleans up until nothing is left, also of code that goes on.
async fn tend_to_the_end(mut stand_in: StandIn, name: &JobName) {
    if let Err(panic) = catch(stand_in.tend(None)).await {
        error!(
            job = %name,
            "what the job left in the registry center could not be deleted, by a bug: {panic}; its items wait for the end of \
             this process: restart it"
        );
    }
}

fn give_up(status: &watch::Sender<JobStatus>, name: &JobName, panic: &str) -> Option<Box<Driver>> {
    set_activity(status, Activity::Failed, panic);
    error!(
        job = %name,
        "the coordination of the job ended by a bug, and could not be cleaned up or started again: {panic}; its items wait for \
         the end of this process: restart it"
    );
    None
}

fn set_activity(status: &watch::Sender<JobStatus>, activity: Activity, trouble: &str) {
    status.send_modify(|status| {
        status.activity = activity;
        status.trouble = Some(trouble.into());
    });
}

/// Reads the mailbox of a job, or is about to; without it nobody does.
pub(super) struct Reader(Arc<Mailbox<Letter>>);

impl Reader {
    pub(super) fn of(job: &Job) -> Self {
        Self(job.mailbox.clone())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.close();
    }
}
