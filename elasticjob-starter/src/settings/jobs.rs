//! The entries of `elasticjob.jobs`.

use std::collections::BTreeMap;

use elasticjob::config::JobSettings;

use super::node::Origin;
use super::read::Reader;
use super::schema::Key;

/// One entry of `elasticjob.jobs`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobEntry {
    /// Name of the job.
    pub name: String,
    /// What the entry sets.
    pub settings: JobSettings,
    /// Where each of its settings comes from, by their names in kebab-case.
    pub origins: BTreeMap<&'static str, Origin>,
    /// Where each of its properties comes from.
    pub prop_origins: BTreeMap<String, Origin>,
    /// Where the entry stands, or its first setting.
    pub origin: Origin,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Vec<JobEntry> {
    let jobs = Key::of(["jobs"]);
    let names = reader.names(&jobs);
    names.into_iter().map(|(name, origin)| entry(reader, &jobs.child(&name), name, origin)).collect()
}

fn entry(reader: &mut Reader<'_>, key: &Key, name: String, origin: Origin) -> JobEntry {
    let prop_origins = reader.names(&key.child("props")).into_iter().collect();
    let mut fields = Fields { reader, key, origins: BTreeMap::new() };
    let settings = JobSettings {
        elastic_job_class: fields.text("elastic-job-class"),
        elastic_job_type: fields.text("elastic-job-type"),
        job_bootstrap_bean_name: fields.text("job-bootstrap-bean-name"),
        cron: fields.text("cron"),
        time_zone: fields.text("time-zone"),
        sharding_total_count: fields.with("sharding-total-count", Reader::whole),
        sharding_item_parameters: fields.text("sharding-item-parameters"),
        job_parameter: fields.text("job-parameter"),
        monitor_execution: fields.with("monitor-execution", Reader::flag),
        failover: fields.with("failover", Reader::flag),
        misfire: fields.with("misfire", Reader::flag),
        max_late_begin_seconds: fields.with("max-late-begin-seconds", Reader::whole),
        max_time_diff_seconds: fields.with("max-time-diff-seconds", Reader::whole),
        reconcile_interval_minutes: fields.with("reconcile-interval-minutes", Reader::whole),
        job_sharding_strategy_type: fields.text("job-sharding-strategy-type"),
        job_executor_thread_pool_size_provider_type: fields.text("job-executor-thread-pool-size-provider-type"),
        job_error_handler_type: fields.text("job-error-handler-type"),
        job_listener_types: fields.with("job-listener-types", |reader, key| Some(reader.list(key)?.value)),
        description: fields.text("description"),
        props: fields.with("props", Reader::props),
        disabled: fields.with("disabled", Reader::flag),
        overwrite: fields.with("overwrite", Reader::flag),
        label: fields.text("label"),
        static_sharding: fields.with("static-sharding", Reader::flag),
        registry_center_ref: fields.text("registry-center-ref"),
        tracing_ref: fields.text("tracing-ref"),
    };
    JobEntry { name, settings, origins: fields.origins, prop_origins, origin }
}

struct Fields<'r, 'a> {
    reader: &'r mut Reader<'a>,
    key: &'r Key,
    origins: BTreeMap<&'static str, Origin>,
}

impl<'a> Fields<'_, 'a> {
    fn text(&mut self, name: &'static str) -> Option<String> {
        self.with(name, |reader, key| Some(reader.text(key)?.value))
    }

    fn with<T>(&mut self, name: &'static str, read: impl Fn(&mut Reader<'a>, &Key) -> Option<T>) -> Option<T> {
        let key = self.key.child(name);
        if let Some(origin) = self.reader.origin(&key) {
            self.origins.insert(name, origin);
        }
        read(self.reader, &key)
    }
}

#[cfg(test)]
mod tests {
    use config::{Map, Value};

    use super::*;
    use crate::settings::Doubt;
    use crate::settings::schema::{JOB, Kind, Schema};

    fn read_with(setting: &str, value: Value) -> JobEntry {
        let job = Map::from_iter([(setting.to_owned(), value)]);
        let jobs = Map::from_iter([("sync".to_owned(), Value::from(job))]);
        let merged = Map::from_iter([("jobs".to_owned(), Value::from(jobs))]);
        let places = BTreeMap::new();
        let mut reader = Reader {
            merged: &merged,
            places: &places,
            lookup: &|_| None,
            errors: Vec::new(),
            warnings: Vec::new(),
            doubt: Doubt::default(),
        };
        let entries = read(&mut reader);
        assert!(reader.errors.is_empty(), "{setting}: {:?}", reader.errors);
        entries.into_iter().next().expect("one entry")
    }

    #[test]
    fn an_entry_can_be_logged() {
        let shown = format!("{:?}", read_with("props", Map::from_iter([("a.pwd".to_owned(), "hunter2")]).into()));
        assert!(shown.contains("a.pwd") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn every_setting_is_read_into_the_field_of_its_name() {
        for setting in JOB {
            let value = match &setting.schema {
                Schema::Props => Map::from_iter([("key".to_owned(), Value::from("1"))]).into(),
                Schema::Value(Kind::Flag) => "true".into(),
                _ => "1".into(),
            };
            let entry = read_with(setting.name, value);
            let field = setting.name.replace('-', "_");
            let fields = format!("{:?}", entry.settings);
            assert!(fields.contains(&format!("{field}: Some(")), "{field} is not set: {fields}");
            assert_eq!(fields.matches(": Some(").count(), 1, "{field}: {fields}");
            assert_eq!(entry.origins.into_keys().collect::<Vec<_>>(), [setting.name]);
        }
    }
}
