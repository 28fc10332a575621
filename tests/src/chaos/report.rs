//! The report on a group's records after chaos.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::actor::Actor;
use super::jobs::{MOST_LOST_TRIGGERS_PERCENT, is_far_apart, most_lost_percent};
use crate::records::{Expected, History, TRIGGERS, Takeover, Verdict, beside_java, takeovers};
use crate::worker::JobPlan;

/// How many percent of the items of all fires may have no better excuse than that something was done to the group.
const NOT_LOOKED_AT_PERCENT: usize = 15;

/// Of a job with few fires one fault makes up many percent: so many items may be lost of any job.
const MOST_ANYHOW: usize = 4;

/// The outcome.
#[derive(Debug)]
pub struct Report {
    verdict: Verdict,
    /// What was lost to faults beyond measure.
    beyond: Vec<String>,
    /// What is so of all runs beside Java instances, of which nothing is promised.
    mixed: Option<Verdict>,
    /// The same, by process and by what it did.
    beside_java: BTreeMap<String, usize>,
    complaints: Vec<String>,
    faults: BTreeMap<&'static str, u64>,
    takeovers: Vec<Takeover>,
    runs: usize,
    refused: usize,
    /// Where records and logs are, when something is wrong.
    folder: Option<PathBuf>,
}

impl Report {
    pub(super) fn new(actor: Actor, from_us: i64, until_us: i64) -> Self {
        let history = actor.group.full_history();
        let expected: Vec<Expected> = actor.jobs.iter().map(|job| expected(job, from_us, until_us)).collect();
        let whole = history.check(&expected, &actor.triggers);
        let (verdict, mixed) = match actor.has_java() {
            false => (whole, None),
            // Java runs have no tokens, and write to no sink.
            true => (history.of_rust().check(&[], &[]), Some(Verdict { tokens: vec![], sink: vec![], ..whole })),
        };
        let beside_java = if actor.has_java() { beside_java(&history) } else { BTreeMap::new() };
        let beyond = if mixed.is_some() { vec![] } else { beyond(&verdict, &actor.jobs) };
        let mut report = Self {
            verdict,
            beyond,
            mixed,
            beside_java,
            complaints: actor.complaints,
            faults: actor.faults,
            takeovers: takeovers(&history),
            runs: history.runs.len(),
            refused: history.runs.iter().map(|run| run.refused).sum(),
            folder: None,
        };
        if !report.is_good() {
            keep(&history, actor.group.folder());
            report.folder = Some(actor.group.keep_folder());
        }
        report
    }

    /// Whether everything is as it must be.
    pub fn is_good(&self) -> bool {
        self.complaints.is_empty() && self.beyond.is_empty() && self.verdict.violations().is_empty()
    }

    /// What is to be said beside the line of numbers.
    pub fn details(&self) -> Vec<String> {
        let mut lines = self.verdict.violations();
        lines.extend(self.beyond.iter().chain(&self.complaints).cloned());
        lines.extend(self.folder.iter().map(|folder| format!("records, logs and faults: {}", folder.display())));
        lines.push(format!("{} runs, {} stale writes refused by the sink", self.runs, self.refused));
        let all = self.of_all();
        lines.push(format!("explained: {}", json!(all.explained)));
        lines.push(format!("lost to a fault: {}", json!(all.lost_to_fault)));
        for (job, account) in &all.jobs {
            let percent = share(account.lost_to_fault, account.fires);
            lines.push(format!("{job}: {} items of fires, {percent} % of them lost to a fault", account.fires));
        }
        lines.push(format!("{} % of the items of fires not looked at", share(all.not_looked_at, all.fires)));
        if let Some(mixed) = &self.mixed {
            let (counts, lost) = (json!(self.beside_java), mixed.lost.len() + mixed.lost_triggers.len());
            lines.push(format!("beside Java, where nothing is promised: {counts}, {lost} lost"));
        }
        for (who, busy) in [("busy", true), ("idle", false)] {
            let of: Vec<&Takeover> = self.takeovers.iter().filter(|takeover| takeover.busy == busy).collect();
            let since_removal = percentiles(of.iter().map(|takeover| takeover.since_removal_us));
            let total = percentiles(of.iter().map(|takeover| takeover.total_us));
            let count = of.len();
            lines.push(format!("{count} takeovers by {who} survivors, ms after the removal of the dead instance: {since_removal}; after the kill: {total}"));
        }
        lines
    }

    /// What was found of all runs.
    fn of_all(&self) -> &Verdict {
        self.mixed.as_ref().unwrap_or(&self.verdict)
    }

    /// The line of numbers, of all runs. Takeovers are counted from the removal of the dead instance.
    pub fn line(&self) -> Value {
        let all = self.of_all();
        json!({
            "fires": all.fires,
            "begun": all.begun,
            "explained": all.explained.values().sum::<usize>(),
            "lost_to_fault": all.lost_to_fault.values().sum::<usize>(),
            "reasons": { "explained": all.explained, "lost_to_fault": all.lost_to_fault },
            "lost_to_fault_by_job": by_job(all),
            "not_looked_at": all.not_looked_at,
            "overlaps": all.overlaps.len(),
            "begun_twice": all.begun_twice.len(),
            "lost": all.lost.len() + all.lost_triggers.len(),
            "beside_java": self.beside_java,
            "faults": self.faults,
            "takeover_ms": percentiles(self.takeovers.iter().map(|takeover| takeover.since_removal_us)),
        })
    }
}

/// The scheduled fires between two times.
fn expected(job: &JobPlan, from_us: i64, until_us: i64) -> Expected {
    let configuration = job.configuration().expect("it was started");
    let schedule = configuration.schedule().expect("it has one");
    let fires_ms = schedule.upcoming(from_us / 1_000).take_while(|at| *at < until_us / 1_000).collect();
    let (until_ms, survives) = (until_us / 1_000, is_far_apart(job));
    Expected { job: job.name.clone(), items: job.items, fires_ms, until_ms, survives }
}

/// What is wrong although each item for itself has an excuse: faults cost too much of a job, or of the manual triggers, or too
/// much is not looked at.
fn beyond(verdict: &Verdict, jobs: &[JobPlan]) -> Vec<String> {
    let of_jobs = jobs.iter().map(|job| (job.name.as_str(), most_lost_percent(job)));
    let bounds = of_jobs.chain([(TRIGGERS, MOST_LOST_TRIGGERS_PERCENT)]);
    let accounts = bounds.filter_map(|(of, most)| Some((of, verdict.jobs.get(of)?, most)));
    let too_many = accounts.filter(|(_, account, most)| {
        account.lost_to_fault > MOST_ANYHOW && account.lost_to_fault * 100 > account.fires * most
    });
    let too_many = too_many.map(|(of, account, most)| {
        let (lost, fires) = (account.lost_to_fault, account.fires);
        format!("faults cost {lost} of {fires} items of fires of {of}, more than {most} %")
    });
    let blind = verdict.not_looked_at * 100 > verdict.fires * NOT_LOOKED_AT_PERCENT;
    let blind = blind.then(|| format!("more than {NOT_LOOKED_AT_PERCENT} % of the items of fires are not looked at"));
    too_many.chain(blind).collect()
}

/// How many were lost to faults, of how many, by job.
fn by_job(verdict: &Verdict) -> BTreeMap<&str, [usize; 2]> {
    verdict.jobs.iter().map(|(job, account)| (job.as_str(), [account.lost_to_fault, account.fires])).collect()
}

/// In percent, to a tenth.
fn share(part: usize, of: usize) -> f64 {
    (part as f64 * 1_000.0 / of.max(1) as f64).round() / 10.0
}

/// Puts what only this process knows beside the records.
fn keep(history: &History, folder: &std::path::Path) {
    let known = json!({
        "faults": history.faults,
        "presences": history.observed.presences,
        "blind": history.observed.blind,
        "owners": history.observed.owners.iter().map(|((job, item), owners)| json!([job, item, owners])).collect::<Vec<_>>(),
        "sink": history.sink,
    });
    if let Err(error) = fs::write(folder.join("history.json"), known.to_string()) {
        eprintln!("the faults could not be written beside the records: {error}");
    }
}

/// Of microseconds, in milliseconds.
fn percentiles(values: impl Iterator<Item = i64>) -> Value {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    let at = |part: f64| {
        values.get(((values.len().max(1) - 1) as f64 * part).round() as usize).map(|us| *us as f64 / 1_000.0)
    };
    json!({ "p50": at(0.5), "p99": at(0.99), "max": at(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Account;

    #[test]
    fn what_faults_cost_of_a_job_and_of_the_triggers_has_a_bound() {
        let jobs = super::super::jobs::jobs();
        let of = |name: &str, lost_to_fault, fires| {
            let jobs_of = BTreeMap::from([(name.to_owned(), Account { fires, lost_to_fault })]);
            beyond(&Verdict { fires, jobs: jobs_of, ..Verdict::default() }, &jobs).len()
        };
        assert_eq!([of("half-minute", 5, 100), of("half-minute", 6, 100)], [0, 1]);
        assert_eq!([of(TRIGGERS, 30, 100), of(TRIGGERS, 31, 100), of(TRIGGERS, 4, 5)], [0, 1, 0]);
        let blind = Verdict { fires: 100, not_looked_at: 16, ..Verdict::default() };
        assert_eq!(beyond(&blind, &jobs).len(), 1);
    }
}
