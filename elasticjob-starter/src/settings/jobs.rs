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
    /// Where the entry stands, or its first setting.
    pub origin: Origin,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Vec<JobEntry> {
    let jobs = Key::of(["jobs"]);
    let names = reader.names(&jobs);
    names.into_iter().map(|(name, origin)| entry(reader, &jobs.child(&name), name, origin)).collect()
}

fn entry(reader: &mut Reader<'_>, key: &Key, name: String, origin: Origin) -> JobEntry {
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
        ..JobSettings::default()
    };
    JobEntry { name, settings, origins: fields.origins, origin }
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
