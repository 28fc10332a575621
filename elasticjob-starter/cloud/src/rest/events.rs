//! `/api/job/events`: runs and changes of state, from the tables that the jobs trace to.

use std::cmp::Ordering;
use std::future::Future;

use axum::Json;
use axum::extract::Query;
use elasticjob::ident::JobName;
use elasticjob::trace::{
    AnyTraceReader, ExecutionFilter, ExecutionOutcome, ExecutionRecord, Page, PageRequest, ReadError, StateFilter,
    StateRecord, TraceReader,
};
use elasticjob_console::Role;
use serde_json::{Value, json};

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use super::times::{time, written};

/// Of the latest so many records pages are made.
pub(super) const MOST: usize = 10_000;

/// The reader of the traces.
pub(super) fn traces(visitor: &Visitor) -> Result<&AnyTraceReader, Refusal> {
    let why = "the scheduler traces to no database: set elasticjob.tracing, and start it again";
    visitor.api.traces.as_deref().ok_or_else(|| Refusal::conflict(why))
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
    name.map(|name| JobName::new(name.clone()).map_err(|error| Refusal::bad(error.to_string()))).transpose()
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
            .ok_or_else(|| Refusal::bad(format!("{name}: '{text}' is no whole number from 1 to {most}"))),
    };
    let (per_page, number) = (number("per_page", 10, 1_000)?, number("page", 1, MOST)?);
    if let Some(column) = given(parameters, "sort") {
        if !columns.contains(&column) {
            return Err(Refusal::bad(format!("sort: there is no column '{column}': {}", columns.join(", "))));
        }
        rows.sort_by(|a, b| order(&a[column], &b[column]));
        match given(parameters, "order").unwrap_or("ASC") {
            order if order.eq_ignore_ascii_case("asc") => {}
            order if order.eq_ignore_ascii_case("desc") => rows.reverse(),
            order => return Err(Refusal::bad(format!("order: '{order}' is neither ASC nor DESC"))),
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
    filter.ip = given(&parameters, "ip").map(str::to_owned);
    filter.outcome = match given(&parameters, "isSuccess") {
        None => None,
        Some("true") => Some(ExecutionOutcome::Succeeded),
        Some("false") => Some(ExecutionOutcome::Failed),
        Some(other) => return Err(Refusal::bad(format!("isSuccess: '{other}' is neither true nor false"))),
    };
    let reader = traces(&visitor)?;
    let records = latest(MOST, |request| {
        let filter = &filter;
        async move { reader.executions(filter, &request).await }
    });
    let wanted = given(&parameters, "taskId");
    let Latest { records, truncated } = records.await?;
    let seen = records.into_iter().filter(|record: &ExecutionRecord| {
        wanted.is_none_or(|task| record.task_id == task) && visitor.may(Role::Viewer, &record.job_name)
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
    let mut filter = StateFilter::default();
    filter.job = job(&parameters)?;
    filter.from = time(&parameters, "startTime")?;
    filter.until = time(&parameters, "endTime")?;
    let reader = traces(&visitor)?;
    let records = latest(MOST, |request| {
        let filter = &filter;
        async move { reader.states(filter, &request).await }
    });
    let row = |record: StateRecord| {
        json!({
            "id": record.id, "jobName": record.job_name, "originalTaskId": "", "taskId": record.task_id,
            "slaveId": record.ip, "source": "CLOUD_SCHEDULER", "executionType": record.execution_type,
            "shardingItem": record.sharding_items, "state": record.state, "message": record.message,
            "creationTime": written(record.creation_time),
        })
    };
    let wanted = |row: &Value| {
        let is = |name: &str| given(&parameters, name).is_none_or(|wanted| row[name] == wanted);
        ["taskId", "slaveId", "source", "executionType", "state"].into_iter().all(is)
    };
    let Latest { records, truncated } = records.await?;
    let seen = records.into_iter().filter(|record: &StateRecord| visitor.may(Role::Viewer, &record.job_name));
    page(seen.map(row).filter(wanted).collect(), truncated, &parameters, &STATE)
}

#[cfg(test)]
mod tests {
    use super::*;

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
