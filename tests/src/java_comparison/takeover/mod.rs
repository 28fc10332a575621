//! Measures the time until the lost run of a killed process is taken over, by a survivor that runs an item of the job
//! itself and by one that does not.

mod pair;

use std::io;

use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Target};
use serde_json::{Value, json};

use self::pair::Pair;
use super::stage::{SESSION_TIMEOUT, Stage, until};
use crate::java_peer::Kind;
use crate::measure::percentiles;
use crate::records::{History, Run, Takeover, now_us};

/// The cases, in the order in which [`measure`] returns them.
pub(super) const CASES: [&str; 2] = ["takeover, idle survivor", "takeover, busy survivor"];

/// The jobs, and whether the survivor is busy with each. Two of each kind, so that one kill shows several takeovers.
const JOBS: [(&str, bool); 4] = [("idle-0", false), ("idle-1", false), ("busy-0", true), ("busy-1", true)];

/// How many processes are killed in a round: leaders and others in turn.
const KILLS: u32 = 4;

pub(super) async fn measure(stage: &Stage, kind: Kind) -> io::Result<[Value; 2]> {
    let mut all = Vec::new();
    for number in 0..KILLS {
        all.extend(kill_one(stage, kind, number % 2 == 0).await?);
    }
    Ok([false, true].map(|busy| {
        let of = |us: fn(&Takeover) -> i64| all.iter().filter(|one| one.busy == busy).map(us).collect::<Vec<_>>();
        let (total, since_removal) = (of(|one| one.total_us), of(|one| one.since_removal_us));
        json!({
            "takeovers": total.len(),
            "session_timeout_ms": SESSION_TIMEOUT.as_millis(),
            "since_removal_us": percentiles(since_removal),
            "total_us": percentiles(total),
        })
    }))
}

/// Kills one of two processes in the midst of its runs.
async fn kill_one(stage: &Stage, kind: Kind, leader: bool) -> io::Result<Vec<Takeover>> {
    let namespace = format!("takeover-{}", now_us());
    let registry = stage.registry(&namespace).await?;
    let pair = Pair::start(stage, kind, &namespace, &registry, leader).await?;
    let Pair { mut group, victim, survivor } = pair;
    let operations = Operations::new(registry.clone());
    for (job, _) in JOBS {
        let job = Target::Job(JobName::new(job).map_err(io::Error::other)?);
        operations.trigger(&job).await.map_err(io::Error::other)?;
    }
    until(&group, "a run of each process", async || {
        let history = group.history();
        let run = |job, pid| history.runs.iter().find(|run| run.job == job && run.pid == pid);
        let is_so =
            |(job, busy)| run(job, victim).is_some() && run(job, survivor).is_some_and(|run| busy || run.end.is_some());
        Ok(JOBS.into_iter().all(is_so).then_some(()))
    })
    .await?;
    group.kill(&[victim]);
    let takeovers = until(&group, "the lost runs on the survivor", async || {
        let history = group.history();
        let takeover = |(job, _)| {
            let (lost, run) = taken_over(&history, job, victim, survivor)?;
            Takeover::of(&history, lost, run)
        };
        Ok(JOBS.into_iter().map(takeover).collect::<Option<Vec<_>>>())
    })
    .await?;
    registry.close().await;
    if takeovers.iter().map(|takeover| takeover.busy).eq(JOBS.map(|(_, busy)| busy)) {
        return Ok(takeovers);
    }
    Err(io::Error::other(format!(
        "the survivor has to be idle or busy when the dead instance goes, as the names of the jobs say: {takeovers:?}\n{}",
        group.logs()
    )))
}

/// The run that a killed process left, and the one that took its place: the first of that item that the survivor began
/// later. Neither the source nor the scheduled time tells it, as Java has neither for its jobs.
fn taken_over<'a>(history: &'a History, job: &str, dead: u32, survivor: u32) -> Option<(&'a Run, &'a Run)> {
    let of = |pid| history.runs.iter().filter(move |run| run.job == job && run.pid == pid);
    let lost = of(dead).filter(|run| run.end.is_none()).max_by_key(|run| run.began_us)?;
    let later = of(survivor).filter(|run| run.item == lost.item && run.began_us > lost.began_us);
    Some((lost, later.min_by_key(|run| run.began_us)?))
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::ExecutionSource;

    use super::*;
    use crate::records::Ending;

    fn run(pid: u32, item: u32, began_us: i64, ended_us: Option<i64>) -> Run {
        let (job, instance) = ("job".to_owned(), format!("h@-@{pid}"));
        let (number, source, token, refused) = (began_us.unsigned_abs(), ExecutionSource::NormalTrigger, None, 0);
        let end = ended_us.map(|at| (at, Ending::Finished));
        Run { pid, number, job, item, scheduled_ms: began_us, source, token, instance, began_us, end, refused }
    }

    #[test]
    fn the_first_later_run_of_the_lost_item_took_it_over() {
        let lost = run(1, 0, 200, None);
        let taken = run(2, 0, 500, None);
        let others = [run(1, 0, 100, Some(110)), run(2, 0, 90, Some(95)), run(2, 1, 300, None), run(2, 0, 700, None)];
        let elsewhere = Run { job: "other".to_owned(), ..run(2, 0, 300, None) };
        let runs = others.into_iter().chain([elsewhere, taken.clone(), lost.clone()]).collect();
        let mut history = History { runs, ..History::default() };
        assert_eq!(taken_over(&history, "job", 1, 2), Some((&lost, &taken)));
        history.runs.retain(|run| run.pid == 1 || run.began_us < 400);
        assert_eq!(taken_over(&history, "job", 1, 2), None, "nobody has taken it over so far");
        history.runs.retain(|run| run.end.is_some());
        assert_eq!(taken_over(&history, "job", 1, 2), None, "nothing was lost");
    }
}
