//! The processes of a `DAEMON` job.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CARRIED, CarriedCenter, ItemState};
use crate::model::{App, CarriedJob};

/// The wanted processes of a `DAEMON` job, and their number.
#[derive(Debug, Clone)]
pub struct Daemon {
    /// The application whose program is run.
    pub app: Arc<App>,
    /// The job. Each process has the resources of the items that it may get when all processes live.
    pub job: Arc<CarriedJob>,
    /// The number of processes; 0 ends all.
    pub instances: u32,
    /// The registry center of the scheduler, for programs that set none of their own. `None` for an embedded one.
    pub registry_center: Option<CarriedCenter>,
}

impl Daemon {
    /// The most items that a process gets when all processes live: each item needs its own share of the resources.
    pub fn items_of_a_process(&self) -> usize {
        self.job.items_of_a_process(self.instances)
    }

    /// The environment of a process. The program is told the whole job, and schedules by itself.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut carried = self.job.description_of_process();
        carried.event_trace_sampling_count = self.app.event_trace_sampling_count;
        if let Some(schedule) = &mut carried.schedule {
            schedule.registry_center = self.registry_center.clone();
        }
        let carried = serde_json::to_string(&carried).expect("texts and numbers have a JSON form");
        let mut environment = self.app.env.clone();
        environment.extend(self.job.env.clone());
        environment.insert(CARRIED.to_owned(), carried);
        environment.insert("ELASTICJOB_JOB_NAME".to_owned(), self.job.job_name.to_string());
        environment
    }
}

impl Daemon {
    /// A name for the settings of its processes: other settings have another one. 12 hexadecimal digits.
    pub(crate) fn settings(&self) -> String {
        let items = self.items_of_a_process();
        let (cpus, memory) = (self.job.cpus(&self.app, items), self.job.memory(&self.app, items));
        let mut settings = Sha256::new();
        settings.update(format!("{:?} {:?} {cpus} {memory} {:?}", self.app, self.environment(), self.job.queue_name));
        settings.update(self.job.script().unwrap_or_default());
        settings.finalize()[..6].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A process of a `DAEMON` job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DaemonProcess {
    /// Its number, from 0.
    pub index: u32,
    /// The state of the process. One that waits for its next start says why the last one ended.
    pub state: ItemState,
    /// The number of times that it was started again after it had ended.
    pub restarts: u32,
}

impl DaemonProcess {
    /// Describes a process.
    pub fn new(index: u32, state: ItemState, restarts: u32) -> Self {
        Self { index, state, restarts }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::carrier::Carried;

    fn daemon(change: Value) -> Daemon {
        let mut job = json!({ "jobName": "a", "appName": "a", "jobExecutionType": "DAEMON", "cpuCount": 0.1, "memoryMB": 16,
                              "shardingTotalCount": 2, "cron": "0 0 3 * * ?" });
        job.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let app = json!({ "appName": "a", "appURL": "file:///a", "bootstrapScript": "a" });
        Daemon {
            app: Arc::new(App::from_json(app).unwrap()),
            job: Arc::new(CarriedJob::from_json(job).unwrap()),
            instances: 2,
            registry_center: None,
        }
    }

    #[test]
    fn a_process_is_told_the_whole_job_and_is_another_one_when_the_job_changes() {
        let before = daemon(json!({}));
        for (field, value) in [
            ("cron", json!("0 0 4 * * ?")),
            ("timeZone", json!("Asia/Shanghai")),
            ("misfire", json!(true)),
            ("failover", json!(true)),
            ("jobErrorHandlerType", json!("THROW")),
            ("shardingItemParameters", json!("0=north")),
            ("jobParameter", json!("x")),
            ("props", json!({ "a": "b" })),
        ] {
            let changed = daemon(json!({ field: value }));
            assert_ne!(changed.settings(), before.settings(), "{field}");
        }
        let center = CarriedCenter { server_lists: "a:2181".to_owned(), namespace: "shop".to_owned() };
        let told = Daemon { registry_center: Some(center.clone()), ..daemon(json!({ "failover": true })) };
        let carried: Carried = serde_json::from_str(&told.environment()[CARRIED]).unwrap();
        let schedule = carried.schedule.unwrap();
        assert_eq!((schedule.cron.as_deref(), schedule.failover), (Some("0 0 3 * * ?"), true));
        assert_eq!(schedule.registry_center, Some(center));
    }
}
