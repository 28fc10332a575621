//! The plan of a worker.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use elasticjob::config::{ConfigError, JobConfiguration};
use elasticjob::testing::rng::Rng;
use serde::{Deserialize, Serialize};

use super::{Pace, listeners};

/// Everything that a worker is told, as the JSON of its one argument.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkerPlan {
    /// Where ZooKeeper is, `host:port`.
    pub zookeeper: String,
    /// The namespace in it.
    pub namespace: String,
    /// What the connection authenticates with, `user:password`.
    pub digest: Option<String>,
    /// The session time-out to ask for.
    pub session_timeout_ms: u64,
    /// Its jobs.
    pub jobs: Vec<JobPlan>,
    /// The file for its records.
    pub records: PathBuf,
    /// The folder of the sink.
    pub fence: PathBuf,
    /// Tells from when on runs take as long as their job plans; without it they do so from the start.
    pub pace: Option<Pace>,
    /// What it does wrong, so that the checks are seen to find it.
    pub bug: Option<Bug>,
}

/// A job of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobPlan {
    /// Its name.
    pub name: String,
    /// How many items it has.
    pub items: u32,
    /// When it fires.
    pub cron: String,
    /// The job that it runs after, instead of firing by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How long its runs take at least and at most, in milliseconds.
    pub run_ms: (u64, u64),
    /// The sharding strategy, where it is not the usual one.
    pub strategy: Option<String>,
    /// Whether lost runs are taken over.
    pub failover: bool,
    /// Whether the runs of odd items do not listen to their cancellation, and have to be dropped.
    pub stubborn: bool,
    /// Whether it has listeners of both kinds, which record their calls.
    pub listeners: bool,
    /// Whether items keep their owners.
    pub static_sharding: bool,
    /// How far the clocks may be off, in seconds; not looked at where there is none.
    pub max_time_diff_seconds: Option<u32>,
    /// Whether fires that fall into a running one are made up for, which is written when they do.
    pub misfire: bool,
    /// Whether execution is monitored. Without that its runs have no fencing token, and write nothing.
    pub monitored: bool,
}

/// Something wrong that happens behind the engine's back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bug {
    /// Now and then an item is run twice.
    DoubleRun,
    /// Now and then an item is not run, and no instance says so.
    LostRun,
    /// The sink is written to without asking for the token.
    Unfenced,
}

impl Bug {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("double-run", Self::DoubleRun), ("lost-run", Self::LostRun), ("unfenced", Self::Unfenced)];
}

impl FromStr for Bug {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, bug)| *bug);
        found.ok_or_else(|| {
            format!("there is no bug '{name}'; there are {}", Self::ALL.map(|(name, _)| name).join(", "))
        })
    }
}

impl JobPlan {
    /// A job that fires each second, whose runs take so many milliseconds, and that has nothing else.
    pub fn each_second(name: &str, items: u32, run_ms: u64) -> Self {
        Self {
            name: name.to_owned(),
            items,
            cron: "* * * * * ?".to_owned(),
            after: None,
            run_ms: (run_ms, run_ms),
            strategy: None,
            failover: false,
            stubborn: false,
            listeners: false,
            static_sharding: false,
            max_time_diff_seconds: None,
            misfire: true,
            monitored: true,
        }
    }

    /// The configuration of the job.
    ///
    /// # Errors
    /// When the plan makes no sense.
    pub fn configuration(&self) -> Result<JobConfiguration, ConfigError> {
        let job = JobConfiguration::builder(&self.name, self.items).failover(self.failover);
        let job = match &self.after {
            Some(before) => job.depends_on([before]),
            None => job.cron(&self.cron),
        };
        let job = self.strategy.iter().fold(job, |job, strategy| job.job_sharding_strategy_type(strategy));
        let job = job.static_sharding(self.static_sharding);
        let limit = self.max_time_diff_seconds.map(u32::cast_signed);
        let job = limit.into_iter().fold(job, |job, limit| job.max_time_diff_seconds(limit)).misfire(self.misfire);
        let job = job.monitor_execution(self.monitored);
        let types = listeners::TYPES.into_iter().filter(|_| self.listeners);
        types.fold(job, |job, name| job.job_listener_type(name)).build()
    }

    /// How long the run of an item of a fire takes, in milliseconds: the same wherever it runs.
    pub fn run_ms(&self, scheduled_ms: i64, item: u32) -> u64 {
        let (least, most) = self.run_ms;
        Rng::new(scheduled_ms.unsigned_abs() ^ u64::from(item) << 48).between(least, most + 1)
    }
}

impl fmt::Display for WorkerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for WorkerPlan {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobPlan {
        JobPlan { run_ms: (100, 400), stubborn: true, listeners: true, ..JobPlan::each_second("job", 3, 0) }
    }

    #[test]
    fn a_plan_is_its_argument() {
        let plan = WorkerPlan {
            zookeeper: "127.0.0.1:2181".to_owned(),
            namespace: "n".to_owned(),
            digest: None,
            session_timeout_ms: 4000,
            jobs: vec![job()],
            records: "records".into(),
            fence: "fence".into(),
            pace: Some(Pace::new("pace")),
            bug: Some(Bug::DoubleRun),
        };
        let text = plan.to_string();
        assert!(text.contains("\"bug\":\"double-run\""), "{text}");
        assert_eq!(text.parse::<WorkerPlan>().unwrap().to_string(), text);
    }

    #[test]
    fn runs_of_a_job_take_different_times_within_its_bounds() {
        let job = job();
        let times: Vec<u64> = (0..100).map(|second| job.run_ms(second * 1_000, 1)).collect();
        assert!(times.iter().all(|time| (100..=400).contains(time)));
        assert!(times.iter().any(|time| *time < 150) && times.iter().any(|time| *time > 350));
        assert_ne!(job.run_ms(1_000, 0), job.run_ms(1_000, 1));
    }

    #[test]
    fn an_unknown_bug_is_told_with_the_known_ones() {
        assert_eq!("double-run".parse(), Ok(Bug::DoubleRun));
        assert!("none".parse::<Bug>().unwrap_err().contains("double-run, lost-run"));
    }
}
