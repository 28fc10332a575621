//! The supervisor of a job. When the driver of the job ends by a bug, the supervisor cleans up after it and starts
//! another driver in its place.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::driver::{Driver, Job, Started};
use super::handle::{JobHandle, Letter};
use super::mailbox::Mailbox;
use super::restarts::Restarts;
use super::stand_in::StandIn;
use crate::ident::JobName;
use crate::job_status::{Activity, JobStatus};
use crate::log::{apart, error};
use crate::panics::catch;

/// Drives a job to its end. When the driver ends by a bug, the session of the process goes on for the other jobs. So
/// the supervisor deletes what this session owns in the job, and then starts another driver in the same session. After
/// several such ends in a row the job stays out of the group, and its status says so: the program should end then, and
/// be started again.
pub(super) async fn supervised(mut job: Box<Job>, last: Option<JobHandle>, mut started: Started, _reader: Reader) {
    let name = job.engine.job_name().clone();
    if let Some(last) = last
        && !Box::pin(take_over(&mut job, &last, &mut started)).await
    {
        job.environment.members().give_back(&job.registry, &name, last);
        return;
    }
    let mut restarts = Restarts::new(job.environment.restart_pause());
    let mut driver = Driver::new(*job, Some(started));
    // On the heap, because a replacement is rare: without the box each of thousands of jobs would keep room for it.
    while let Err(panic) = catch(driver.run()).await {
        let Some(next) = Box::pin(replace(driver, &panic, restarts.next(Instant::now()))).await else { return };
        driver = next;
    }
    if let Some(stand_in) = driver.stand_in() {
        drop(driver);
        Box::pin(tend_to_the_end(stand_in, &name)).await;
    }
}

/// Takes over the runs that go on of the last job of this name in this process. This job may do so because both jobs
/// have the same session. Returns `false` when the start is given up before the last job has handed anything over.
async fn take_over(job: &mut Job, last: &JobHandle, started: &mut Started) -> bool {
    let mut runs = last.hand_over(&job.mailbox);
    let left = tokio::select! {
        biased;
        left = &mut runs => left.unwrap_or_default(),
        () = started.closed() => {
            runs.close();
            // Messages that the last job sent before this point belong to this job alone, even when this job leaves at
            // once.
            match runs.try_recv() {
                Ok(left) => left,
                Err(_) => return false,
            }
        }
    };
    job.engine.take_left_runs(left);
    true
}

/// Cleans up after a driver that ended by a bug, and makes the next driver after `pause`. Without a pause no driver
/// follows.
async fn replace(mut driver: Box<Driver>, panic: &str, pause: Option<Duration>) -> Option<Box<Driver>> {
    let (status, name) = (driver.status().clone(), driver.job_name().clone());
    let fallen = catch(async { driver.fall(panic) }).await;
    // Dropping the driver cuts its runs off.
    drop(driver);
    let Ok((next, mut stand_in)) = fallen else { return give_up(&status, &name, panic) };
    set_activity(&status, if pause.is_some() { Activity::Restarting } else { Activity::Failed }, panic);
    let Some(pause) = pause else {
        log(
            &name,
            format!(
                "the coordination of the job ended by a bug again and again, and is not started any more: {panic}; what it left in \
             the registry center is deleted, and its items go to other instances; restart the program to have it here again"
            ),
        );
        tend_to_the_end(stand_in, &name).await;
        return None;
    };
    log(
        &name,
        format!(
            "the coordination of the job ended by a bug and starts again in {} s: {panic}; its runs are cut off, and its items go to \
         other instances meanwhile",
            pause.as_secs()
        ),
    );
    if let Err(panic) = catch(stand_in.tend(Some(Instant::now() + pause))).await {
        return give_up(&status, &name, &panic);
    }
    match catch(async { next.into_driver(stand_in) }).await {
        Ok(driver) => Some(driver),
        Err(panic) => give_up(&status, &name, &panic),
    }
}

/// Cleans up until nothing is left, and waits for code that goes on.
async fn tend_to_the_end(mut stand_in: StandIn, name: &JobName) {
    if let Err(panic) = catch(stand_in.tend(None)).await {
        log(
            name,
            format!(
                "what the job left in the registry center could not be deleted, by a bug: {panic}; its items wait for the end of \
             this process: restart it"
            ),
        );
    }
}

fn give_up(status: &watch::Sender<JobStatus>, name: &JobName, panic: &str) -> Option<Box<Driver>> {
    set_activity(status, Activity::Failed, panic);
    log(
        name,
        format!(
            "the coordination of the job ended by a bug, and could not be cleaned up or started again: {panic}; its items wait for \
         the end of this process: restart it"
        ),
    );
    None
}

/// Logs what is wrong with the coordination of a job, without waiting for the log.
fn log(job: &JobName, what: String) {
    let job = job.clone();
    apart(move || error!(%job, "{what}"));
}

fn set_activity(status: &watch::Sender<JobStatus>, activity: Activity, trouble: &str) {
    status.send_modify(|status| {
        status.activity = activity;
        status.trouble = Some(trouble.into());
    });
}

/// Held by the task that reads the mailbox of a job, or will read it. When it is dropped, the mailbox is closed.
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
