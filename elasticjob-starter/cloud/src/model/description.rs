//! The description of a job that its processes get, and its limit: it is one variable of their environment.

use elasticjob::carried::{Carried, CarriedSchedule};
use elasticjob::config::{JobConfiguration, Message};

use super::job::{CarriedJob, ExecutionType};
use crate::texts;

/// The most bytes of an argument of a process, or of a variable with its name: Linux has 128 KiB for each, of which one ends it.
pub(super) const MOST_TEXT: usize = 128 * 1_024 - 1;

/// The most bytes that a job may have in the description of its processes: the rest of the variable is for its name and for what a
/// launch adds.
const MOST_OF_JOB: usize = 124 * 1_024;

impl CarriedJob {
    /// The description of its processes, without what differs from one launch, item or scheduler to another.
    pub(crate) fn description_of_process(&self) -> Carried {
        self.described(&self.configuration())
    }

    /// The same, with the configuration that was built of this job.
    fn described(&self, configuration: &JobConfiguration) -> Carried {
        let mut carried = Carried::new(self.job_name.clone(), self.sharding_total_count);
        let parameters =
            self.items().filter_map(|item| Some((item, configuration.sharding_parameter(item)?.to_owned())));
        carried.sharding_item_parameters = parameters.collect();
        carried.job_parameter = self.job_parameter.clone();
        carried.props = self.props.clone();
        if self.job_execution_type == ExecutionType::Daemon {
            let mut schedule = CarriedSchedule::default();
            schedule.cron = self.cron.clone();
            schedule.time_zone = self.time_zone.clone();
            schedule.misfire = self.misfire;
            schedule.failover = self.failover;
            schedule.job_error_handler_type = self.job_error_handler_type.clone();
            schedule.description = self.description.clone();
            carried.schedule = Some(schedule);
        }
        carried
    }

    /// What makes the description longer than a process can be given: the field with the most of it, and why.
    pub(super) fn too_long(&self, configuration: &JobConfiguration) -> Option<(&'static str, Message)> {
        let carried = self.described(configuration);
        let bytes = json_bytes(&carried);
        if bytes <= MOST_OF_JOB {
            return None;
        }
        let fields = [
            ("shardingItemParameters", json_bytes(&carried.sharding_item_parameters)),
            ("jobParameter", json_bytes(&carried.job_parameter)),
            ("props", json_bytes(&carried.props)),
            ("description", carried.schedule.map_or(0, |schedule| json_bytes(&schedule.description))),
        ];
        let (field, _) = fields.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        Some((field, texts::description_too_long(bytes, MOST_OF_JOB)))
    }
}

fn json_bytes(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value).expect("texts and numbers have a JSON form").len()
}

#[cfg(test)]
mod tests {
    use elasticjob::carried::CARRIED;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{App, Problems};

    fn job(kind: &str, more: Value) -> Result<CarriedJob, Problems> {
        let mut job = json!({ "jobName": "a", "appName": "a", "jobExecutionType": kind, "cron": "0/5 * * * * ?",
                              "cpuCount": 1, "memoryMB": 1, "shardingTotalCount": 1_600 });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        CarriedJob::from_json(job)
    }

    fn fields(problems: Problems) -> Vec<String> {
        problems.0.into_iter().map(|problem| problem.field).collect()
    }

    #[test]
    fn what_no_process_can_be_told_is_refused_at_the_field_that_has_the_most() {
        let parameters = |bytes: usize| {
            let each = "x".repeat(bytes / 1_600);
            (0..1_600).map(|item| format!("{item}={each}")).collect::<Vec<_>>().join(",")
        };
        let large = json!({ "shardingItemParameters": parameters(130_000), "jobParameter": "short" });
        assert_eq!(fields(job("TRANSIENT", large).unwrap_err()), ["shardingItemParameters"]);
        assert!(job("TRANSIENT", json!({ "shardingItemParameters": parameters(90_000) })).is_ok());
        assert_eq!(fields(job("TRANSIENT", json!({ "props": { "a": "\"".repeat(70_000) } })).unwrap_err()), ["props"]);
        let both = json!({ "jobParameter": "x".repeat(70_000), "props": { "a": "x".repeat(60_000) } });
        assert_eq!(fields(job("TRANSIENT", both).unwrap_err()), ["jobParameter"]);
        let text = json!({ "description": "x".repeat(130_000) });
        assert!(job("TRANSIENT", text.clone()).is_ok(), "no process of an item is told it");
        assert_eq!(fields(job("DAEMON", text).unwrap_err()), ["description"]);
    }

    #[test]
    fn the_largest_job_that_is_taken_leaves_room_for_what_a_launch_adds() {
        let bare = json_bytes(&job("TRANSIENT", json!({ "jobParameter": "" })).unwrap().description_of_process());
        // `null` becomes a text with its quotes.
        let fits = "x".repeat(MOST_OF_JOB - bare + 2);
        assert!(job("TRANSIENT", json!({ "jobParameter": fits })).is_ok());
        assert!(job("TRANSIENT", json!({ "jobParameter": format!("{fits}x") })).is_err());
        const { assert!(MOST_OF_JOB + CARRIED.len() + 1 + 3_000 < MOST_TEXT) };
    }

    #[test]
    fn a_variable_or_a_command_that_no_process_can_be_given_is_refused() {
        let value = "x".repeat(MOST_TEXT - "LONG=".len());
        assert!(job("TRANSIENT", json!({ "env": { "LONG": value } })).is_ok());
        let longer = json!({ "env": { "LONG": format!("{value}x") } });
        assert_eq!(fields(job("TRANSIENT", longer.clone()).unwrap_err()), ["env.LONG"]);
        let mut app = json!({ "appName": "a", "appURL": "file:///a.sh", "bootstrapScript": "x".repeat(MOST_TEXT + 1) });
        app.as_object_mut().unwrap().extend(longer.as_object().unwrap().clone());
        assert_eq!(fields(App::from_json(app).unwrap_err()), ["env.LONG", "bootstrapScript"]);
    }
}
