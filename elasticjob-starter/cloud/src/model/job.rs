//! A job whose items run as processes of their own.

use std::collections::BTreeMap;
use std::time::Duration;

use elasticjob::config::{ConfigError, JobConfiguration};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::sharding::WHOLE;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::app::{App, wrong_variables};
use super::fields::{Fields, Problems};
use crate::texts;

/// The most items of a carried job, of which each is a process of its own. Other jobs may have 100,000.
const MOST_ITEMS: u32 = 1_600;
/// The most processes of a `DAEMON` job.
const MOST_PROCESSES: u32 = 10_000;
/// The property with the command of a script job.
const SCRIPT_COMMAND_LINE: &str = "script.command.line";
/// The property with the time that a script may run, in milliseconds.
const SCRIPT_TIMEOUT: &str = "script.timeout.milliseconds";

#[cfg(test)]
thread_local! {
    /// How often this thread has built the configuration of a job, which parses its expressions and all of its parameters.
    pub(crate) static BUILT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Whether the processes of a job live for one launch or for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ExecutionType {
    /// A process for each run of an item: it keeps no resources between fires.
    Transient,
    /// Processes that are always there, and schedule by themselves.
    Daemon,
}

/// A job whose items run as processes of their own.
///
/// Its JSON is that of ElasticJob-Cloud, with some additions. Valid by construction: read it with
/// [`from_json`](Self::from_json).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Value")]
#[non_exhaustive]
pub struct CarriedJob {
    /// The name. It cannot be changed.
    pub job_name: JobName,
    /// The application that its processes run.
    pub app_name: String,
    /// Whether its processes live for one launch or for good.
    pub job_execution_type: ExecutionType,
    /// The CPUs of one item, at least 0.001.
    pub cpu_count: f64,
    /// The memory of one item in MB, at least 1.
    #[serde(rename = "memoryMB")]
    pub memory_mb: f64,
    /// The cron expression by which it fires. A `TRANSIENT` job without one, and without [`depends_on`](Self::depends_on), runs
    /// when it is triggered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The time zone of `cron`. Default: that of the scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The jobs that it runs after instead of by a schedule: `JOB`, `JOB when failed`, `JOB when ended items same`. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The number of items of a fire.
    pub sharding_total_count: u32,
    /// The parameters of the items: `0=Beijing,1=Shanghai`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharding_item_parameters: Option<String>,
    /// The parameter of the whole job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_parameter: Option<String>,
    /// Whether an item is run again when the place it ran on was lost. Default false.
    pub failover: bool,
    /// Whether a fire that fell into a running one is made up for. Default false.
    pub misfire: bool,
    /// The type name of the error handler, which handles failed items. Default `LOG`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_error_handler_type: Option<String>,
    /// The purpose of the job, for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Properties: those of its program, and those of its error handler.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub props: BTreeMap<String, String>,
    /// Whether it begins disabled. Default false. A mark in the registry center says whether it is disabled now.
    pub disabled: bool,
    /// Its processes, for a `DAEMON` job. Default: as many as it has items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// The number of items that share a process, where the carrier can do so. Default 1.
    pub items_per_process: u32,
    /// The time that a process may take to end after it was asked to, before it is killed. Default 10 s.
    pub grace_period_seconds: u32,
    /// The queue or partition of the carrier in which its launches wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_name: Option<String>,
    /// Environment variables of its processes. They win over those of the application.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

impl CarriedJob {
    /// Reads a job.
    ///
    /// # Errors
    /// [`Problems`] with everything that is wrong, also what the configuration of an ordinary job refuses.
    pub fn from_json(value: Value) -> Result<Self, Problems> {
        let mut fields = Fields::of(value, "job")?;
        let name = fields.required("jobName", "my_job");
        let app_name = fields.required("appName", "my_app");
        let kind = fields.required("jobExecutionType", "TRANSIENT");
        let job_execution_type = match kind.as_str() {
            "DAEMON" => ExecutionType::Daemon,
            "TRANSIENT" | "" => ExecutionType::Transient,
            other => {
                fields.wrong("jobExecutionType", texts::wrong_value(texts::quoted(other), texts::give_type()));
                ExecutionType::Transient
            }
        };
        let (cpu, memory) = (fields.amount("cpuCount", 0.001), fields.amount("memoryMB", 1.0));
        let total = fields.count("shardingTotalCount", 1, MOST_ITEMS);
        for (field, is_missing) in
            [("cpuCount", cpu.is_none()), ("memoryMB", memory.is_none()), ("shardingTotalCount", total.is_none())]
        {
            fields.missing(field, is_missing);
        }
        let job_name = JobName::new(name.clone()).unwrap_or_else(|error| {
            if !name.is_empty() {
                fields.wrong("jobName", error.message().clone());
            }
            JobName::new("unnamed").expect("it is a name")
        });
        let job = Self {
            job_name,
            app_name,
            job_execution_type,
            cpu_count: cpu.unwrap_or(1.0),
            memory_mb: memory.unwrap_or(1.0),
            cron: fields.text("cron"),
            time_zone: fields.text("timeZone"),
            depends_on: fields.dependencies("dependsOn"),
            sharding_total_count: total.unwrap_or(1),
            sharding_item_parameters: fields.text("shardingItemParameters"),
            job_parameter: fields.text("jobParameter"),
            failover: fields.flag("failover", false),
            misfire: fields.flag("misfire", false),
            job_error_handler_type: fields.text("jobErrorHandlerType"),
            description: fields.text("description"),
            props: fields.texts("props"),
            disabled: fields.flag("disabled", false),
            instances: fields.count("instances", 0, MOST_PROCESSES),
            items_per_process: fields.count("itemsPerProcess", 1, MOST_ITEMS).unwrap_or(1),
            grace_period_seconds: fields.count("gracePeriodSeconds", 0, 86_400).unwrap_or(10),
            queue_name: fields.text("queueName"),
            env: fields.texts("env"),
        };
        wrong_variables(&job.env).for_each(|(field, reason)| fields.wrong(&field, reason));
        without_effect(&mut fields);
        if job.job_execution_type == ExecutionType::Daemon && job.cron.is_none() {
            fields.wrong("cron", texts::daemon_without_cron());
        }
        if job.job_execution_type == ExecutionType::Daemon && !job.depends_on.is_empty() {
            fields.wrong("dependsOn", texts::daemon_depends());
        }
        if job.instances.is_some() && job.job_execution_type == ExecutionType::Transient {
            fields.wrong("instances", texts::instances_of_transient());
        }
        if let Some(text) = job.wrong_time_limit() {
            let why = texts::wrong_value(texts::quoted(text), texts::give_milliseconds());
            fields.wrong(&format!("props.{SCRIPT_TIMEOUT}"), why);
        }
        match job.ordinary() {
            Err(ConfigError::Settings { problems, .. }) => {
                for problem in problems {
                    // The one that names a setting as programs write it.
                    let reason = match problem.reason.code() {
                        Some("depends-or-cron") => texts::depends_or_cron(),
                        _ => problem.reason,
                    };
                    fields.wrong_once(&camel_case(&problem.setting), reason);
                }
            }
            Ok(configuration) => {
                job.too_long(&configuration).into_iter().for_each(|(field, reason)| fields.wrong(field, reason));
            }
            Err(_) => {}
        }
        fields.end(job)
    }

    /// The ordinary job of which this one is made: its fires, items and records. All of its items go to one scheduler, and
    /// another scheduler always takes over what a scheduler left, whatever [`failover`](Self::failover) says of the places
    /// where its items run.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn configuration(&self) -> JobConfiguration {
        self.ordinary().expect("it was checked when the job was read")
    }

    fn ordinary(&self) -> Result<JobConfiguration, ConfigError> {
        #[cfg(test)]
        BUILT.set(BUILT.get() + 1);
        let builder = JobConfiguration::builder(self.job_name.as_str(), self.sharding_total_count)
            .misfire(self.misfire)
            .failover(true)
            .monitor_execution(true)
            .job_sharding_strategy_type(WHOLE)
            .depends_on(&self.depends_on)
            .overwrite(true);
        macro_rules! given {
            ($builder:expr, $($field:ident => $setter:ident),*) => {{
                let mut builder = $builder;
                $(if let Some(value) = &self.$field { builder = builder.$setter(value.as_str()); })*
                builder
            }};
        }
        let builder = given!(builder, cron => cron, time_zone => time_zone,
            sharding_item_parameters => sharding_item_parameters, job_parameter => job_parameter,
            job_error_handler_type => job_error_handler_type, description => description);
        let props = self.props.iter().filter(|(key, _)| *key != SCRIPT_COMMAND_LINE);
        props.fold(builder, |builder, (key, value)| builder.prop(key, value)).build()
    }

    /// The command of a script job, which is run in place of the application's.
    pub fn script(&self) -> Option<&str> {
        self.props.get(SCRIPT_COMMAND_LINE).map(String::as_str).filter(|line| !line.trim().is_empty())
    }

    /// The time that a process of an item may run before it is stopped: the limit of jobs of the type `SCRIPT`. `None` without one, and for a
    /// `DAEMON` job, whose program keeps it by itself.
    pub fn time_limit(&self) -> Option<Duration> {
        self.given_time_limit()?.parse().ok().map(Duration::from_millis)
    }

    fn given_time_limit(&self) -> Option<&str> {
        let is_kept_here = self.job_execution_type == ExecutionType::Transient;
        self.props.get(SCRIPT_TIMEOUT).map(|text| text.trim()).filter(|text| is_kept_here && !text.is_empty())
    }

    fn wrong_time_limit(&self) -> Option<&str> {
        self.given_time_limit().filter(|text| !text.parse().is_ok_and(|limit: u64| limit > 0))
    }

    /// The time that a process may take to end.
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.grace_period_seconds.into())
    }

    /// The number of processes of a `DAEMON` job.
    pub fn daemon_instances(&self) -> u32 {
        self.instances.unwrap_or(self.sharding_total_count)
    }

    /// The most items that a process of a `DAEMON` job gets when all of so many processes live.
    pub(crate) fn items_of_a_process(&self, instances: u32) -> usize {
        self.sharding_total_count.div_ceil(instances.max(1)) as usize
    }

    /// The items of a fire.
    pub fn items(&self) -> impl Iterator<Item = ShardingItem> + use<> {
        0..self.sharding_total_count
    }

    /// The CPUs of a process with so many items: those of the application, and those of the items.
    pub fn cpus(&self, app: &App, items: usize) -> f64 {
        app.cpu_count + self.cpu_count * items as f64
    }

    /// The memory in MB of a process with so many items: that of the application, and that of the items.
    pub fn memory(&self, app: &App, items: usize) -> f64 {
        app.memory_mb + self.memory_mb * items as f64
    }
}

impl TryFrom<Value> for CarriedJob {
    type Error = Problems;

    fn try_from(value: Value) -> Result<Self, Problems> {
        Self::from_json(value)
    }
}

/// Fields of Java that a carried job decides by itself: any value of the right type is taken, as registrations of Java have
/// them, and none has an effect.
fn without_effect(fields: &mut Fields) {
    for field in ["monitorExecution", "overwrite"] {
        fields.flag(field, true);
    }
    for field in ["maxTimeDiffSeconds", "reconcileIntervalMinutes"] {
        fields.number(field);
    }
    for field in ["jobShardingStrategyType", "jobExecutorServiceHandlerType"] {
        fields.text(field);
    }
}

/// `job-error-handler-type` as JSON names it.
pub(crate) fn camel_case(setting: &str) -> String {
    if setting.starts_with("props.") {
        return setting.to_owned();
    }
    let mut parts = setting.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let mut letters = part.chars();
        let upper = letters.next().map(|letter| letter.to_ascii_uppercase());
        name + &upper.into_iter().chain(letters).collect::<String>()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manual() -> Value {
        json!({
            "appName": "my_app", "cpuCount": 0.1, "memoryMB": 64.0, "jobExecutionType": "TRANSIENT", "jobName": "my_job",
            "cron": "0/5 * * * * ?", "shardingTotalCount": 5, "failover": true, "misfire": true
        })
    }

    #[test]
    fn the_job_of_the_manual_is_accepted() {
        let job = CarriedJob::from_json(manual()).unwrap();
        let again: CarriedJob = serde_json::from_value(serde_json::to_value(&job).unwrap()).unwrap();
        assert_eq!(again, job);
        let ordinary = job.configuration();
        assert!(ordinary.failover() && ordinary.misfire() && ordinary.overwrite());
        assert_eq!((ordinary.sharding_strategy_type(), ordinary.sharding_total_count()), (WHOLE, 5));
    }

    #[test]
    fn what_java_sends_beside_is_accepted() {
        let mut java = manual();
        for (field, value) in [
            ("monitorExecution", json!(true)),
            ("maxTimeDiffSeconds", json!(-1)),
            ("reconcileIntervalMinutes", json!(10)),
            ("jobShardingStrategyType", json!("AVG_ALLOCATION")),
            ("jobExecutorServiceHandlerType", json!(null)),
            ("description", json!("")),
            ("props", json!({ "streaming.process": false, "script.command.line": "bin/run.sh" })),
        ] {
            java[field] = value;
        }
        let job = CarriedJob::from_json(java).unwrap();
        assert_eq!(job.script(), Some("bin/run.sh"));
        assert_eq!(job.configuration().prop("script.command.line"), None);
    }

    #[test]
    fn the_time_limit_is_that_of_a_script_and_a_wrong_one_is_refused_where_it_is_kept() {
        let of = |limit: Value, kind: &str| {
            let mut limited = manual();
            limited["jobExecutionType"] = json!(kind);
            limited["props"] = json!({ "script.timeout.milliseconds": limit });
            CarriedJob::from_json(limited)
        };
        for given in [json!(2500), json!("2500"), json!(" 2500 ")] {
            assert_eq!(of(given, "TRANSIENT").unwrap().time_limit(), Some(Duration::from_millis(2_500)));
        }
        assert_eq!(of(json!(""), "TRANSIENT").unwrap().time_limit(), None);
        assert_eq!(CarriedJob::from_json(manual()).unwrap().time_limit(), None);
        for wrong in ["0", "10s", "-5", "1.5"] {
            let Problems(problems) = of(json!(wrong), "TRANSIENT").unwrap_err();
            assert_eq!(problems[0].field, "props.script.timeout.milliseconds");
            assert!(problems[0].reason.as_str().starts_with(&format!("is '{wrong}': give")), "{problems:?}");
            // The program of a DAEMON job says what is wrong with it.
            assert_eq!(of(json!(wrong), "DAEMON").unwrap().time_limit(), None);
        }
    }

    #[test]
    fn jobs_before_it_are_given_as_settings_have_them_and_come_back_in_their_short_form() {
        let of = |given: Value| {
            let mut after = manual();
            after["cron"] = Value::Null;
            after["dependsOn"] = given;
            CarriedJob::from_json(after)
        };
        for (given, short) in [
            (json!("a"), vec!["a"]),
            (json!("a when ended items same, b"), vec!["a when ended items same", "b"]),
            (json!(["a when succeeded", { "job": "b", "when": "failed", "items": "all" }]), vec!["a", "b when failed"]),
            (json!([{ "job": "a", "items": "same" }]), vec!["a items same"]),
        ] {
            let job = of(given).unwrap();
            assert_eq!(job.depends_on, short);
            let again = serde_json::to_value(&job).unwrap();
            assert_eq!(again["dependsOn"], json!(short));
            assert_eq!(CarriedJob::from_json(again).unwrap(), job);
            let known: Vec<String> = job.configuration().depends_on().iter().map(ToString::to_string).collect();
            assert_eq!(known, short);
        }
        for none in [json!(null), json!([]), json!(" ")] {
            let job = of(none).unwrap();
            assert!(job.depends_on.is_empty() && !job.configuration().fires_by_itself());
            assert_eq!(serde_json::to_value(&job).unwrap().get("dependsOn"), None);
        }
        for (wrong, part) in [
            (json!("a when done"), "known: 'succeeded', 'failed', 'ended'"),
            (json!("my_job"), "my_job -> my_job"),
            (json!(["a", "a when failed"]), "given twice"),
            (json!(7), "is 7: give"),
            (json!({ "job": "a" }), "is an object: give"),
            (json!(["a", 7]), "dependsOn[1]: is 7: give"),
            (json!([{ "job": "a", "item": "same" }]), "dependsOn[0]: has `item`"),
            (json!([{ "when": "ended" }]), "dependsOn[0]: has no `job`"),
        ] {
            let problems = of(wrong).unwrap_err().to_string();
            assert!(problems.contains(part), "{problems}");
        }
    }

    #[test]
    fn a_job_runs_by_a_schedule_or_after_others_and_not_by_both() {
        let mut both = manual();
        both["dependsOn"] = json!("a");
        let Problems(problems) = CarriedJob::from_json(both.clone()).unwrap_err();
        assert_eq!((problems.len(), problems[0].field.as_str()), (1, "dependsOn"), "{problems:?}");
        assert!(problems[0].reason.as_str().contains("either `cron` or `dependsOn`"), "{problems:?}");
        both["jobExecutionType"] = json!("DAEMON");
        both["cron"] = Value::Null;
        let Problems(problems) = CarriedJob::from_json(both).unwrap_err();
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["cron", "dependsOn"], "{problems:?}");
    }

    #[test]
    fn a_field_that_is_out_of_its_range_has_one_problem() {
        for total in [0, MOST_ITEMS + 1] {
            let mut wrong = manual();
            wrong["shardingTotalCount"] = json!(total);
            let Problems(problems) = CarriedJob::from_json(wrong).unwrap_err();
            let of_total: Vec<_> = problems.iter().filter(|problem| problem.field == "shardingTotalCount").collect();
            assert_eq!(of_total.len(), 1, "{problems:?}");
            assert_eq!(of_total[0].reason.as_str(), format!("is {total}: give a whole number from 1 to {MOST_ITEMS}"));
        }
    }

    #[test]
    fn all_mistakes_are_told_at_once_with_the_minima() {
        let wrong = json!({
            "jobName": "a/b", "cpuCount": 0.0001, "memoryMB": 0.5, "jobExecutionType": "OFTEN", "cron": "every day",
            "shardingItemParameters": "7=x", "timeZone": "Mars/Base", "instances": 2, "sharding": 3
        });
        let Problems(problems) = CarriedJob::from_json(wrong).unwrap_err();
        let of =
            |field: &str| problems.iter().find(|problem| problem.field == field).map(|problem| problem.reason.as_str());
        for field in
            ["jobName", "appName", "jobExecutionType", "shardingTotalCount", "timeZone", "instances", "sharding"]
        {
            assert!(of(field).is_some(), "{field} is not among {problems:?}");
        }
        assert!(of("cron").is_some() && of("shardingItemParameters").is_some(), "{problems:?}");
        assert_eq!(of("cpuCount"), Some("is 0.0001: the least is 0.001"));
        assert_eq!(of("memoryMB"), Some("is 0.5: the least is 1"));
    }
}
