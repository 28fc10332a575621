//! The last actions of operators, in memory and in the log, where neither a database of traces nor a data file keeps them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::__private::log::{apart, info, warn};
use elasticjob::trace::{
    AnyTraceReader, Cursor, DecisionFilter, DecisionKind, DecisionRecord, ExecutionFilter, ExecutionRecord,
    JobDecisionEvent, JobEvent, OperatorAction, Page, PageRequest, ReadError, StateFilter, StateRecord, TraceReader,
    Tracing, TracingConfiguration, TracingStorage, WriteError,
};
use tokio::runtime::Handle;

use crate::access::Glob;

/// How many are kept.
const MOST: usize = 1_000;

/// The last actions in one registry center, the last one first.
#[derive(Clone)]
pub(crate) struct RecentActions {
    registry: Arc<str>,
    actions: Arc<Mutex<VecDeque<DecisionRecord>>>,
}

impl RecentActions {
    pub(crate) fn of(registry: &str) -> Self {
        Self { registry: registry.into(), actions: Arc::default() }
    }

    pub(crate) fn reader(&self) -> AnyTraceReader {
        AnyTraceReader::new(self.clone())
    }

    /// Notes what is recorded with it.
    pub(crate) fn record(&self, runtime: &Handle) -> Tracing {
        Tracing::start(TracingConfiguration::new(self.clone()), runtime)
    }

    fn add(&self, event: &JobDecisionEvent) {
        let record = DecisionRecord::from(event.clone());
        self.log(&record);
        let mut actions = self.actions.lock().unwrap_or_else(PoisonError::into_inner);
        if actions.len() >= MOST {
            // What changed nothing makes room first: one action on many jobs may be as many records.
            let least = actions.iter().rposition(|record| OperatorAction::of(record).outcome() == "unchanged");
            actions.remove(least.unwrap_or(MOST - 1));
        }
        actions.push_front(record);
    }

    /// The memory ends with the process; its log does not.
    fn log(&self, record: &DecisionRecord) {
        let action = OperatorAction::of(record);
        let (registry, user, name) = (self.registry.clone(), action.actor().to_owned(), action.name().to_owned());
        let (job, parts, reason) = (record.job_name.clone(), action.parts().join("; "), record.reason.clone());
        let (outcome, error) = (action.outcome().to_owned(), action.error().map(str::to_owned));
        let from = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let [surface, address, request] = [action.surface(), action.address(), action.request()].map(from);
        match &error {
            None => apart(move || {
                info!(
                    target: "elasticjob::audit", %registry, ?user, %surface, from = %address, %request, ?job, ?parts, ?reason,
                    "{name}: {outcome}"
                );
            }),
            Some(_) => apart(move || {
                warn!(
                    target: "elasticjob::audit", %registry, ?user, %surface, from = %address, %request, ?job, ?parts, ?reason,
                    ?error, "{name}: {outcome}"
                );
            }),
        }
    }
}

impl TracingStorage for RecentActions {
    fn type_name(&self) -> &str {
        "MEMORY"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        for event in events {
            if let JobEvent::Decision(action) = event {
                self.add(action);
            }
        }
        Ok(())
    }

    /// There is room for so many, whatever their age.
    async fn clean(&self) -> Result<Option<Duration>, WriteError> {
        Ok(None)
    }
}

impl TraceReader for RecentActions {
    async fn executions(&self, _: &ExecutionFilter, page: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")))
    }

    async fn states(&self, _: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")))
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        let place = |record: &DecisionRecord| (record.at.timestamp_millis(), record.id.clone());
        let before = page.cursor().map(|cursor| (cursor.time(), cursor.id().to_owned()));
        let is_wanted = |record: &&DecisionRecord| {
            is_of(filter, record) && before.as_ref().is_none_or(|before| place(record) < *before)
        };
        let actions = self.actions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records: Vec<DecisionRecord> = actions.iter().filter(is_wanted).cloned().collect();
        drop(actions);
        records.sort_by_key(|record| std::cmp::Reverse(place(record)));
        Ok(Page::of(records, page, |record| Cursor::after(record.at.timestamp_millis(), &record.id)))
    }
}

/// Whether a filter asks for an action. No instance decides on actions, and none is about a fire alone.
fn is_of(filter: &DecisionFilter, record: &DecisionRecord) -> bool {
    (filter.kinds.is_empty() || filter.kinds.contains(&DecisionKind::Operator))
        && filter.job.as_ref().is_none_or(|job| job.as_str() == record.job_name)
        && (filter.jobs.is_empty() || filter.jobs.iter().any(|jobs| Glob::new(jobs).matches(&record.job_name)))
        && filter.item.as_ref().is_none_or(|item| record.sharding_items.contains(item))
        && filter.from.is_none_or(|from| record.at >= from)
        && filter.until.is_none_or(|until| record.at < until)
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use elasticjob::registry::memory::MemoryRegistry;
    use serde_json::{Value, json as value};

    use super::*;
    use crate::testing::{call, console_of, cookie_of, json, request, start_job};

    #[tokio::test]
    async fn without_traces_and_data_file_the_last_actions_are_shown() {
        let memory = MemoryRegistry::new();
        let _job = start_job(&memory, "settle", &Default::default()).await;
        let console = console_of(&memory);
        let admin = cookie_of(&console, "admin").await;
        for (on, reason) in [(false, "kernel update"), (true, "it is done")] {
            let body = value!({ "enabled": on, "reason": reason });
            let path = "/api/v1/registries/default/jobs/settle/state";
            assert_eq!(call(&console, json("PUT", path, &admin, &body)).await.status, StatusCode::OK);
        }
        console.app().registries["default"].close_kept(Duration::from_secs(10)).await;
        let audit = async |query: &str| {
            let path = format!("/api/v1/registries/default/audit?{query}");
            let answer = call(&console, request("GET", &path, Some(&admin))).await;
            assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
            serde_json::from_str::<Value>(&answer.body).expect("JSON")
        };
        let reasons = |found: &Value| {
            let records = found["records"].as_array().expect("a list").iter();
            records.map(|record| record["reason"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(reasons(&audit("").await), ["it is done", "kernel update"]);
        assert_eq!(reasons(&audit("what=disable").await), ["kernel update"]);
        assert_eq!(reasons(&audit("job=other").await), [""; 0]);
        let first = audit("limit=1").await;
        assert_eq!(reasons(&first), ["it is done"]);
        let next = first["next"].as_str().expect("there is more");
        assert_eq!(reasons(&audit(&format!("limit=1&cursor={next}")).await), ["kernel update"]);
        let page = call(&console, request("GET", "/r/default/history/audit", Some(&admin))).await.body;
        assert!(page.contains("kernel update") && page.contains("elasticjob console --data FILE"), "{page}");
    }

    #[tokio::test]
    async fn older_actions_make_room_and_those_that_changed_nothing_first() {
        let recent = RecentActions::of("default");
        let job = elasticjob::ident::JobName::new("settle").expect("a name");
        let event = |second: u32, outcome: &str| {
            let detail = value!({ "actor": "zhang", "action": "trigger", "outcome": outcome });
            JobDecisionEvent {
                id: format!("{second:04}"),
                at: chrono::DateTime::from_timestamp(i64::from(second), 0).expect("a time"),
                detail: detail.as_object().expect("an object").clone(),
                ..JobDecisionEvent::new(job.clone(), DecisionKind::Operator)
            }
        };
        let more = MOST as u32 + 5;
        let events: Vec<_> = (0..more).map(|second| JobEvent::Decision(event(second, "done"))).collect();
        recent.write(&events).await.expect("memory takes it");
        assert_eq!(recent.actions.lock().expect("nobody panics").len(), MOST);
        let last = recent.decisions(&DecisionFilter::default(), &PageRequest::default().limit(1)).await;
        assert_eq!(last.expect("they are read").records[0].id, format!("{:04}", more - 1));
        let unchanged: Vec<_> = (0..more).map(|row| JobEvent::Decision(event(more + row, "unchanged"))).collect();
        recent.write(&unchanged).await.expect("memory takes it");
        let all = recent.actions.lock().expect("nobody panics").clone();
        let kept = |outcome: &str| all.iter().filter(|record| OperatorAction::of(record).outcome() == outcome).count();
        assert_eq!((kept("done"), kept("unchanged")), (MOST - 1, 1));
    }
}
