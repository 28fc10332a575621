//! The filters of events are those of the question to the database.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, ExecutionType, Page, PageRequest,
    ReadError, StateFilter, StateRecord, TaskState, TraceReader,
};
use serde_json::json;

use super::tests::Server;

/// Traces without a row, which remember what they were asked for.
#[derive(Clone, Default)]
pub(super) struct Asked {
    executions: Arc<Mutex<Vec<ExecutionFilter>>>,
    states: Arc<Mutex<Vec<StateFilter>>>,
}

impl TraceReader for Asked {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.executions.lock().unwrap().push(filter.clone());
        Ok(Page::of(Vec::new(), page, |_| unreachable!("there is no row")))
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.states.lock().unwrap().push(filter.clone());
        Ok(Page::of(Vec::new(), page, |_| unreachable!("there is no row")))
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        unreachable!("events are no decisions")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_filter_of_the_manual_is_one_of_the_database() {
    let asked = Asked::default();
    let server = Server::traced(AnyTraceReader::new(asked.clone())).await;
    let (admin, team) = (server.token("admin").await, server.token("billing").await);
    let none = (StatusCode::OK, json!({ "total": 0, "truncated": false, "rows": [] }));
    let states = "/api/job/events/statusTraces?jobName=settle&taskId=t%40-%400&slaveId=10.0.0.7&state=TASK_ERROR\
                  &source=CLOUD_SCHEDULER&executionType=FAILOVER&startTime=2026-11-24%2018%3A30%3A00";
    assert_eq!(server.call(&admin, "GET", states, "").await, none);
    let filter = asked.states.lock().unwrap().pop().unwrap();
    assert_eq!((filter.job.unwrap().as_str(), filter.task_id.as_deref()), ("settle", Some("t@-@0")));
    assert_eq!((filter.ip.as_deref(), filter.state), (Some("10.0.0.7"), Some(TaskState::Error)));
    assert_eq!((filter.execution_type, filter.from.is_some()), (Some(ExecutionType::Failover), true));
    assert_eq!(filter.jobs, ["*"]);
    let executions = "/api/job/events/executions?taskId=t&ip=10.0.0.7&isSuccess=false";
    assert_eq!(server.call(&team, "GET", executions, "").await, none);
    let filter = asked.executions.lock().unwrap().pop().unwrap();
    assert_eq!((filter.task_id.as_deref(), filter.ip.as_deref()), (Some("t"), Some("10.0.0.7")));
    assert!(filter.outcome.is_some());
    assert_eq!(filter.jobs, ["billing-*"], "rows of jobs that a caller does not see take no room");
    // A state that ElasticJob-Cloud alone writes is looked for, too: it may have left such rows in the same table.
    assert_eq!(server.call(&admin, "GET", "/api/job/events/statusTraces?state=TASK_LOST", "").await, none);
    let filter = asked.states.lock().unwrap().pop().unwrap();
    assert_eq!((filter.state, filter.state_name.as_deref()), (None, Some("TASK_LOST")));
    // A source that ElasticJob-Cloud knows and that no row has is found nowhere; what nobody knows is an error.
    assert_eq!(server.call(&admin, "GET", "/api/job/events/statusTraces?source=CLOUD_EXECUTOR", "").await, none);
    assert_eq!(asked.states.lock().unwrap().len(), 0);
    for wrong in ["state=LOST", "source=ME", "executionType=NEVER"] {
        let (status, why) = server.call(&admin, "GET", &format!("/api/job/events/statusTraces?{wrong}"), "").await;
        let (name, value) = wrong.split_once('=').unwrap();
        assert_eq!(status, StatusCode::BAD_REQUEST, "{why}");
        assert!(why["message"].as_str().is_some_and(|why| why.starts_with(&format!("{name}: '{value}'"))), "{why}");
    }
    server.scheduler.shutdown().await;
}
