//! The last fires of a schedule, each with what became of it.

use elasticjob::operations::JobSnapshot;
use elasticjob::schedule::Schedule;
use elasticjob::trace::{AnyTraceReader, ExecutionFilter};

use super::gaps::{GRACE, Gap, gaps, gaps_of_last};
use super::group::{Fire, Live};
use super::last::{last, not_begun_since};
use super::summary::Summary;
use super::{MOST, explain, instant, read};
use crate::api::Problem;
use crate::here::Here;
use crate::pages::time::Clock;

/// The first time that is looked at, back from now, in milliseconds. It is doubled until there are enough fires.
const STEP: i64 = 60_000;

/// A fire that the schedule has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) at: i64,
    pub(crate) became: Became,
}

/// What became of a fire of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Became {
    Ran(Summary),
    /// It has no run, and the kinds of the decisions about it.
    NoRun(Vec<String>),
    /// It has no run so far, and its time was less than a minute ago.
    Due,
    NotKnown,
}

impl Became {
    /// The name for programs.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Ran(_) => "RAN",
            Self::NoRun(_) => "NO_RUN",
            Self::Due => "DUE",
            Self::NotKnown => "NOT_KNOWN",
        }
    }
}

/// The last `count` fires that the schedule had before now, since the configuration was written; the newest first. What became
/// of them is known from the traces, else from the registry center.
pub(crate) async fn expected(
    here: &Here,
    snapshot: &JobSnapshot,
    clock: &Clock,
    count: usize,
) -> Result<Vec<Expected>, Problem> {
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let Some((schedule, since)) = schedule.zip(snapshot.configured_since()) else { return Ok(Vec::new()) };
    let planned = before(schedule, since, clock.now, count);
    let Some(first) = planned.last() else { return Ok(Vec::new()) };
    let known = match here.registry.trace_reader() {
        Some(reader) => Known::traced(reader, snapshot, schedule, *first, clock.now).await?,
        None => Known::registered(snapshot, schedule, *first, clock.now),
    };
    Ok(planned.into_iter().map(|at| Expected { at, became: known.became(at, clock.now) }).collect())
}

/// The last fires of a schedule from `since` on and before `now`, the newest first.
fn before(schedule: &Schedule, since: i64, now: i64, count: usize) -> Vec<i64> {
    let mut length = STEP;
    loop {
        let low = now.saturating_sub(length).max(since);
        let mut fires: Vec<i64> = schedule.upcoming(low - 1).take_while(|at| *at < now).collect();
        if fires.len() >= count || low == since {
            fires.reverse();
            fires.truncate(count);
            return fires;
        }
        length = length.saturating_mul(2);
    }
}

/// What is known of a time.
struct Known {
    fires: Vec<Summary>,
    gaps: Vec<Gap>,
    /// Of fires before this time nothing is known.
    since: i64,
    /// Whether all that ran since is among the fires.
    is_whole: bool,
}

impl Known {
    async fn traced(
        reader: &AnyTraceReader,
        snapshot: &JobSnapshot,
        schedule: &Schedule,
        first: i64,
        now: i64,
    ) -> Result<Self, Problem> {
        let mut filter = ExecutionFilter::of_job(snapshot.job.clone());
        filter.from = Some(instant(first - read::SKEW));
        let found = read::page(reader, &filter, None, MOST, &Live::of(snapshot, now)).await?;
        // Of a job with very many items fewer fires are read.
        let since = match (found.next, found.fires.last()) {
            (Some(_), Some(last)) => last.id.time(),
            _ => first,
        };
        let mut missing = gaps(schedule, since, now - GRACE, &found.fires);
        explain(reader, &snapshot.job, &mut missing).await?;
        let fires = found.fires.iter().filter(|fire: &&Fire| !fire.is_by_hand()).map(Summary::from).collect();
        Ok(Self { fires, gaps: missing, since, is_whole: true })
    }

    fn registered(snapshot: &JobSnapshot, schedule: &Schedule, first: i64, now: i64) -> Self {
        let fires = last(snapshot);
        let since = not_begun_since(snapshot, &fires, now);
        let gaps = since.map(|since| gaps_of_last(schedule, since.max(first), now - GRACE, &fires)).unwrap_or_default();
        Self { fires, gaps, since: first, is_whole: false }
    }

    fn became(&self, at: i64, now: i64) -> Became {
        if let Some(fire) = self.fires.iter().find(|fire| fire.id.scheduled() == Some(at)) {
            return Became::Ran(fire.clone());
        }
        if let Some(gap) = self.gaps.iter().find(|gap| gap.first <= at && at <= gap.last) {
            return Became::NoRun(gap.kinds.clone());
        }
        // A run without a scheduled time is of the fire before it: else that fire would be missing.
        let is_about = |fire: &&Summary| fire.id.scheduled().is_none() && fire.id.time() + 999 >= at;
        // Of each item the registry center has its last run alone: of the fires before that nothing is known.
        let newest = self.fires.iter().filter_map(|fire| fire.id.scheduled()).max();
        let about = self.fires.iter().filter(is_about).min_by_key(|fire| fire.id.time());
        match about {
            Some(fire) if self.is_whole && at >= self.since && at < now - GRACE => Became::Ran(fire.clone()),
            _ if at >= now - GRACE && (self.is_whole || newest < Some(at)) => Became::Due,
            _ => Became::NotKnown,
        }
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::ident::JobName;
    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::trace::{DecisionKind, JobEvent};

    use super::*;
    use crate::service::fires::{FireId, FireOutcome, Tally};
    use crate::testing::traced::{Folder, decision, failed, here, run};
    use crate::testing::{console_of, job_settings, start_job};

    const MINUTE: i64 = 60_000;

    /// The first whole minute after now: the configuration is written before it.
    fn first() -> i64 {
        let now = crate::service::now();
        now - now % MINUTE + MINUTE
    }

    #[test]
    fn the_last_fires_are_found_however_far_apart_they_are() {
        let found = |cron: &str, since: i64, count: usize| {
            let schedule = Schedule::parse(cron, Some("UTC")).expect("it is a schedule");
            before(&schedule, since, 1_700_000_000_000, count)
        };
        assert_eq!(found("* * * * * ?", 0, 2), [1_699_999_999_000, 1_699_999_998_000]);
        let years = found("0 0 0 1 1 ?", 0, 20);
        assert_eq!((years.len(), years[0], years[19]), (20, 1_672_531_200_000, 1_072_915_200_000));
        assert_eq!(found("* * * * * ?", 1_699_999_999_000, 20), [1_699_999_999_000], "not before the configuration");
        assert_eq!(found("0 0 0 1 1 ?", 1_699_999_999_000, 20), [0_i64; 0]);
    }

    #[tokio::test]
    async fn each_fire_of_the_schedule_has_what_became_of_it() {
        let (folder, memory, first) = (Folder::new("expected"), MemoryRegistry::new(), first());
        let settings = job_settings(|settings| settings.cron = Some("0 0/10 * * * ?".to_owned()));
        let _job = start_job(&memory, "settle", &settings).await;
        // The first fire of the schedule after the configuration.
        let begin = first + (10 * MINUTE - first % (10 * MINUTE)) % (10 * MINUTE);
        let fire = |number: i64| begin + number * 10 * MINUTE;
        let events = [
            run("settle", 0, Some(fire(0)), fire(0) + 40, Some(fire(0) + 2_000)),
            failed(run("settle", 1, Some(fire(0)), fire(0) + 7_000, Some(fire(0) + 8_000)), "no"),
            run("settle", 0, None, fire(2) + 300, Some(fire(2) + 900)),
        ];
        let missed = decision("settle", DecisionKind::Missed, fire(1) + MINUTE, Some(fire(1)), None);
        folder.write(events.into_iter().map(JobEvent::Execution).chain([missed])).await;
        let console = folder.console(&memory).await;
        let here = here(&console);
        let snapshot = here.views().snapshot(&JobName::new("settle").expect("a name")).await.expect("it is there");
        let clock = Clock { now: fire(4) + MINUTE / 2, ..Clock::of(None) };
        let all = expected(&here, &snapshot, &clock, 20).await.expect("it is read");
        let became: Vec<_> = all.iter().map(|fire| (fire.at, fire.became.as_str())).collect();
        // A run by hand, as the one without a scheduled time is here, is none of the schedule.
        assert_eq!(
            became,
            [(fire(4), "DUE"), (fire(3), "NO_RUN"), (fire(2), "NO_RUN"), (fire(1), "NO_RUN"), (fire(0), "RAN"),]
        );
        let Became::Ran(ran) = &all[4].became else { panic!("it ran") };
        assert_eq!((ran.outcome, ran.lateness()), (Some(FireOutcome::Failed), Some(40)));
        assert_eq!(ran.tally, Tally { done: 1, failed: 1, ..Tally::default() });
    }

    #[test]
    fn a_fire_before_the_last_run_is_not_known_where_nothing_is_traced() {
        let fire = Summary {
            id: FireId::Scheduled(90_000),
            began: Some(90_010),
            ended: None,
            last_sign: 90_010,
            tally: Tally::default(),
            outcome: None,
            is_by_hand: false,
            is_misfire: false,
            is_failed_over: false,
            is_retried: false,
            is_cut: false,
        };
        let mut known = Known { fires: vec![fire.clone()], gaps: Vec::new(), since: 0, is_whole: false };
        let became = |known: &Known| [80_000, 90_000, 100_000].map(|at| known.became(at, 110_000));
        assert_eq!(became(&known), [Became::NotKnown, Became::Ran(fire.clone()), Became::Due]);
        known.is_whole = true;
        assert_eq!(became(&known), [Became::Due, Became::Ran(fire), Became::Due], "its trace may come");
    }

    #[tokio::test]
    async fn without_traces_a_job_that_never_ran_has_fires_that_did_not_begin() {
        let memory = MemoryRegistry::new();
        let settings = job_settings(|settings| settings.cron = Some("0 0/10 * * * ?".to_owned()));
        let _job = start_job(&memory, "settle", &settings).await;
        let console = console_of(&memory);
        let here = here(&console);
        let snapshot = here.views().snapshot(&JobName::new("settle").expect("a name")).await.expect("it is there");
        let clock = Clock { now: crate::service::now() + 45 * MINUTE, ..Clock::of(None) };
        let all = expected(&here, &snapshot, &clock, 3).await.expect("it is known");
        assert_eq!(all.len(), 3);
        let states: Vec<_> = all.iter().map(|fire| fire.became.as_str()).collect();
        assert!(states.iter().all(|state| matches!(*state, "NO_RUN" | "DUE")), "{states:?}");
        assert_eq!(all[2].became, Became::NoRun(Vec::new()));
    }
}
