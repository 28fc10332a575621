//! `/api/job/events`: runs and changes of state, from the tables that the jobs trace to.

use std::cmp::Ordering;
use std::fmt::Display;
use std::future::Future;

use axum::Json;
use axum::extract::Query;
use elasticjob::ident::JobName;
use elasticjob::trace::{
    AnyTraceReader, ExecutionFilter, ExecutionOutcome, ExecutionRecord, ExecutionType, Page, PageRequest, ReadError,
    StateFilter, StateRecord, TaskState, TraceReader,
};
use elasticjob_console::Role;
use serde_json::{Value, json};

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use super::times::{time, written};
use crate::texts;

/// Of the latest so many records pages are made.
pub(super) const MOST: usize = 10_000;

/// The reader of the traces.
pub(super) fn traces(visitor: &Visitor) -> Result<&AnyTraceReader, Refusal> {
    visitor.api.traces.as_deref().ok_or_else(|| Refusal::conflict(texts::not_traced()))
}

/// The latest records, as far as they are looked at.
pub(super) struct Latest<T> {
    pub(super) records: Vec<T>,
    /// Whether there are older ones, which are not looked at.
    pub(super) truncated: bool,
}

/// Reads the latest records.
pub(super) async fn latest<'a, T, F>(most: usize, read: impl Fn(PageRequest) -> F) -> Result<Latest<T>, ReadError>
where
    F: Future<Output = Result<Page<T>, ReadError>> + 'a,
{
    let (mut records, mut cursor) = (Vec::new(), None);
    loop {
        let missing = u32::try_from(most - records.len()).unwrap_or(u32::MAX);
        let page = read(PageRequest::default().limit(missing).after(cursor)).await?;
        records.extend(page.records);
        cursor = page.next;
        if cursor.is_none() || records.len() >= most {
            return Ok(Latest { records, truncated: cursor.is_some() });
        }
    }
}

fn job(parameters: &Parameters) -> Result<Option<JobName>, Refusal> {
    let name = parameters.get("jobName").filter(|name| !name.is_empty());
    name.map(|name| JobName::new(name.clone()).map_err(|error| Refusal::bad(error.message().clone()))).transpose()
}

fn given<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a str> {
    parameters.get(name).map(String::as_str).filter(|text| !text.is_empty())
}

/// The order of two values of a column: numbers by their size, anything else by its text.
fn order(a: &Value, b: &Value) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.to_string().cmp(&b.to_string()),
    }
}

/// A page of rows, in the order that is wanted. `truncated` says that there are older records that were not looked at.
fn page(
    mut rows: Vec<Value>,
    truncated: bool,
    parameters: &Parameters,
    columns: &[&str],
) -> Result<Json<Value>, Refusal> {
    let number = |name: &str, unset: usize, most: usize| match given(parameters, name) {
        None => Ok(unset),
        Some(text) => text
            .parse()
            .ok()
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| Refusal::bad(texts::number_out_of_range(name, text, most))),
    };
    let (per_page, number) = (number("per_page", 10, 1_000)?, number("page", 1, MOST)?);
    if let Some(column) = given(parameters, "sort") {
        if !columns.contains(&column) {
            return Err(Refusal::bad(texts::no_such_column(column, columns.join(", "))));
        }
        rows.sort_by(|a, b| order(&a[column], &b[column]));
        match given(parameters, "order").unwrap_or("ASC") {
            order if order.eq_ignore_ascii_case("asc") => {}
            order if order.eq_ignore_ascii_case("desc") => rows.reverse(),
            order => return Err(Refusal::bad(texts::no_such_order(order))),
        }
    }
    let total = rows.len();
    let rows: Vec<Value> = rows.into_iter().skip((number - 1) * per_page).take(per_page).collect();
    Ok(Json(json!({ "total": total, "truncated": truncated, "rows": rows })))
}

/// The names of columns that rows can be sorted by.
const EXECUTION: [&str; 9] = [
    "jobName",
    "taskId",
    "hostname",
    "ip",
    "shardingItem",
    "executionSource",
    "startTime",
    "completeTime",
    "isSuccess",
];
const STATE: [&str; 7] = ["jobName", "taskId", "slaveId", "source", "executionType", "state", "creationTime"];

pub(super) async fn executions(visitor: Visitor, Query(parameters): Query<Parameters>) -> Result<Json<Value>, Refusal> {
    let mut filter = ExecutionFilter::default();
    filter.job = job(&parameters)?;
    filter.from = time(&parameters, "startTime")?;
    filter.until = time(&parameters, "endTime")?;
    filter.jobs = visitor.seen_jobs();
    filter.task_id = given(&parameters, "taskId").map(str::to_owned);
    filter.ip = given(&parameters, "ip").map(str::to_owned);
    filter.outcome = match given(&parameters, "isSuccess") {
        None => None,
        Some("true") => Some(ExecutionOutcome::Succeeded),
        Some("false") => Some(ExecutionOutcome::Failed),
        Some(other) => return Err(Refusal::bad(texts::no_flag("isSuccess", other))),
    };
    let reader = traces(&visitor)?;
    let records = latest(MOST, |request| {
        let filter = &filter;
        async move { reader.executions(filter, &request).await }
    });
    let Latest { records, truncated } = records.await?;
    // A database may not tell capitals apart.
    let seen = records.into_iter().filter(|record: &ExecutionRecord| {
        is_task(filter.task_id.as_deref(), &record.task_id) && visitor.may(Role::Viewer, &record.job_name)
    });
    let row = |record: ExecutionRecord| {
        json!({
            "id": record.id, "jobName": record.job_name, "taskId": record.task_id, "hostname": record.hostname,
            "ip": record.ip, "shardingItem": record.sharding_item, "executionSource": record.source,
            "failureCause": record.failure_cause, "isSuccess": record.outcome == ExecutionOutcome::Succeeded,
            "startTime": written(record.start_time), "completeTime": record.complete_time.map(written),
        })
    };
    page(seen.map(row).collect(), truncated, &parameters, &EXECUTION)
}

pub(super) async fn states(visitor: Visitor, Query(parameters): Query<Parameters>) -> Result<Json<Value>, Refusal> {
    let filter = states_filter(&visitor, &parameters)?;
    let reader = traces(&visitor)?;
    let Some(filter) = filter else { return page(Vec::new(), false, &parameters, &STATE) };
    let records = latest(MOST, |request| {
        let filter = &filter;
        async move { reader.states(filter, &request).await }
    });
    let row = |record: StateRecord| {
        json!({
            "id": record.id, "jobName": record.job_name, "originalTaskId": "", "taskId": record.task_id,
            "slaveId": record.ip, "source": SOURCE, "executionType": record.execution_type,
            "shardingItem": record.sharding_items, "state": record.state, "message": record.message,
            "creationTime": written(record.creation_time),
        })
    };
    let Latest { records, truncated } = records.await?;
    let seen = records.into_iter().filter(|record: &StateRecord| {
        is_task(filter.task_id.as_deref(), &record.task_id) && visitor.may(Role::Viewer, &record.job_name)
    });
    page(seen.map(row).collect(), truncated, &parameters, &STATE)
}

/// Whether a task is the one that is asked for, to the letter.
fn is_task(wanted: Option<&str>, task: &str) -> bool {
    wanted.is_none_or(|wanted| wanted == task)
}

/// What wrote the rows of ElasticJob-Cloud. Here the scheduler writes all of them.
const SOURCE: &str = "CLOUD_SCHEDULER";
const OTHER_SOURCES: [&str; 2] = ["CLOUD_EXECUTOR", "LITE_EXECUTOR"];

/// The states of a run, and those that ElasticJob-Cloud has besides: rows that it left in the same table have them.
const STATES: [TaskState; 4] = [TaskState::Staging, TaskState::Running, TaskState::Finished, TaskState::Error];
const OTHER_STATES: [&str; 8] = [
    "TASK_KILLED",
    "TASK_LOST",
    "TASK_FAILED",
    "TASK_DROPPED",
    "TASK_GONE",
    "TASK_GONE_BY_OPERATOR",
    "TASK_UNREACHABLE",
    "TASK_UNKNOWN",
];

/// The filter of the rows that are wanted. `None` where no row can be: the source is known, and is that of no row.
fn states_filter(visitor: &Visitor, parameters: &Parameters) -> Result<Option<StateFilter>, Refusal> {
    let types = [ExecutionType::Ready, ExecutionType::Failover];
    let source = one_of(parameters, "source", &[SOURCE], &OTHER_SOURCES)?;
    let state = one_of(parameters, "state", &STATES, &OTHER_STATES)?;
    let execution_type = one_of(parameters, "executionType", &types, &[])?;
    let mut filter = StateFilter::default();
    filter.job = job(parameters)?;
    filter.jobs = visitor.seen_jobs();
    filter.from = time(parameters, "startTime")?;
    filter.until = time(parameters, "endTime")?;
    filter.task_id = given(parameters, "taskId").map(str::to_owned);
    filter.ip = given(parameters, "slaveId").map(str::to_owned);
    match state {
        Wanted::One(state) => filter.state = Some(state),
        Wanted::Other(name) => filter.state_name = Some(name),
        Wanted::Any => {}
    }
    if let Wanted::One(type_) = execution_type {
        filter.execution_type = Some(type_);
    }
    Ok((!matches!(source, Wanted::Other(_))).then_some(filter))
}

/// What a parameter asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted<T> {
    Any,
    One(T),
    /// A value that the scheduler writes nowhere.
    Other(String),
}

/// The value that a parameter names, of those that the scheduler writes and those that it does not.
fn one_of<T: Copy + Display>(
    parameters: &Parameters,
    name: &str,
    values: &[T],
    others: &[&str],
) -> Result<Wanted<T>, Refusal> {
    let Some(given) = given(parameters, name) else { return Ok(Wanted::Any) };
    if let Some(value) = values.iter().find(|value| value.to_string() == given) {
        return Ok(Wanted::One(*value));
    }
    if others.contains(&given) {
        return Ok(Wanted::Other(given.to_owned()));
    }
    let known = values.iter().map(T::to_string).chain(others.iter().map(|text| (*text).to_owned()));
    let known = known.collect::<Vec<_>>().join(", ");
    Err(Refusal::bad(texts::none_of(name, given, known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_written_nowhere_is_told_from_one_that_nobody_knows() {
        let of = |state: &str| {
            let parameters = Parameters::from([("state".to_owned(), state.to_owned())]);
            one_of(&parameters, "state", &STATES, &OTHER_STATES)
        };
        assert_eq!(of("TASK_ERROR").unwrap(), Wanted::One(TaskState::Error));
        assert_eq!(of("TASK_LOST").unwrap(), Wanted::Other("TASK_LOST".to_owned()));
        assert_eq!(of("").unwrap(), Wanted::Any);
        assert!(of("LOST").is_err());
    }

    #[test]
    fn numbers_are_sorted_by_their_size_and_texts_as_texts() {
        let rows = [10, 9, 100].map(|item| json!({ "shardingItem": item, "jobName": item.to_string() }));
        let sorted = |column: &str| {
            let parameters = Parameters::from([("sort".to_owned(), column.to_owned())]);
            let Ok(Json(page)) = page(rows.to_vec(), true, &parameters, &EXECUTION) else { panic!("it is right") };
            assert_eq!((&page["total"], &page["truncated"]), (&json!(3), &json!(true)));
            page["rows"].as_array().unwrap().iter().map(|row| row[column].clone()).collect::<Vec<_>>()
        };
        assert_eq!(sorted("shardingItem"), [json!(9), json!(10), json!(100)]);
        assert_eq!(sorted("jobName"), [json!("10"), json!("100"), json!("9")]);
    }
}
