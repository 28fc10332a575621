//! The statements that write rows, many at a time.

use chrono::NaiveDateTime;
use sqlx::query_builder::Separated;
use sqlx::{Encode, QueryBuilder, Type};

use super::dialect::{DECISION_LOG, Dialect, EXECUTION_LOG, OwnColumn, RUN_LOG, SOURCE, STATUS_TRACE_LOG, Table};
use super::rows::{Decision, Execution, Line, Own, State};

/// Writes executions: new ones, and the ends of known ones.
pub(super) fn insert_executions<DB>(executions: Vec<Execution>, own: &[OwnColumn]) -> QueryBuilder<DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> Option<String>: Encode<'e, DB> + Type<DB>,
    for<'e> bool: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
    for<'e> Option<NaiveDateTime>: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(head(EXECUTION_LOG, own, None));
    query.push_values(executions, |mut row, execution| {
        row.push_bind(execution.id)
            .push_bind(execution.job_name)
            .push_bind(execution.task_id)
            .push_bind(execution.hostname)
            .push_bind(execution.ip)
            .push_bind(execution.sharding_item)
            .push_bind(execution.source)
            .push_bind(execution.failure_cause)
            .push_bind(execution.success)
            .push_bind(execution.start_time)
            .push_bind(execution.complete_time);
        push_own(&mut row, own, &execution.own);
    });
    query.push(DB::COMPLETE_EXECUTION);
    query
}

/// The value that Java writes into [`SOURCE`].
const LITE_EXECUTOR: &str = "LITE_EXECUTOR";

/// Writes states, with their source where the table has one.
pub(super) fn insert_states<DB>(states: Vec<State>, own: &[OwnColumn], has_source: bool) -> QueryBuilder<DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> Option<String>: Encode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
{
    let source = has_source.then_some(SOURCE);
    let mut query = QueryBuilder::new(head(STATUS_TRACE_LOG, own, source));
    query.push_values(states, |mut row, state| {
        row.push_bind(state.id)
            .push_bind(state.job_name)
            // ElasticJob-Lite leaves it empty as well: it is for tasks that another scheduler restarted.
            .push_bind(String::new())
            .push_bind(state.task_id)
            .push_bind(state.slave_id)
            .push_bind(state.execution_type)
            .push_bind(state.sharding_item)
            .push_bind(state.state)
            .push_bind(state.message)
            .push_bind(state.creation_time);
        push_own(&mut row, own, &state.own);
        if has_source {
            row.push_bind(LITE_EXECUTOR.to_owned());
        }
    });
    query.push(DB::KEEP_STATUS);
    query
}

/// Writes decisions.
pub(super) fn insert_decisions<DB>(decisions: Vec<Decision>) -> QueryBuilder<DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> Option<String>: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(head(DECISION_LOG, &[], None));
    query.push_values(decisions, |mut row, decision| {
        row.push_bind(decision.id)
            .push_bind(decision.job_name)
            .push_bind(Some(decision.decided_at))
            .push_bind(decision.kind)
            .push_bind(decision.scheduled_at)
            .push_bind(decision.scheduled_until)
            .push_bind(decision.sharding_items)
            .push_bind(decision.instance_id)
            .push_bind(decision.related_instance)
            .push_bind(decision.reason)
            .push_bind(decision.detail);
    });
    query.push(DB::KEEP_DECISION);
    query
}

/// Writes lines of the logs of runs.
pub(super) fn insert_lines<DB>(lines: Vec<Line>) -> QueryBuilder<DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(head(RUN_LOG, &[], None));
    query.push_values(lines, |mut row, line| {
        row.push_bind(line.execution_id)
            .push_bind(line.line_number)
            .push_bind(line.job_name)
            .push_bind(Some(line.logged_at))
            .push_bind(line.log_level)
            .push_bind(line.target)
            .push_bind(line.message)
            .push_bind(line.left_out);
    });
    query.push(DB::KEEP_LINE);
    query
}

/// Finds which of these states are written. It uses the index, which is not on `id`.
pub(super) fn known_states<DB>(states: &[State]) -> QueryBuilder<DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(format!("SELECT id FROM {} WHERE task_id IN (", STATUS_TRACE_LOG.name));
    let mut list = query.separated(", ");
    states.iter().for_each(|state| {
        list.push_bind(state.task_id.clone());
    });
    query.push(") AND id IN (");
    let mut list = query.separated(", ");
    states.iter().for_each(|state| {
        list.push_bind(state.id.clone());
    });
    query.push(")");
    query
}

fn push_own<DB>(row: &mut Separated<'_, DB, &'static str>, columns: &[OwnColumn], values: &Own)
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> Option<String>: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
{
    for column in columns {
        match column {
            OwnColumn::RunId => row.push_bind(values.run_id.clone()),
            OwnColumn::ScheduledAt => row.push_bind(values.scheduled_at),
            OwnColumn::InstanceId => row.push_bind(values.instance_id.clone()),
            OwnColumn::Attempt => row.push_bind(values.attempt.clone()),
        };
    }
}

fn head(table: Table, own: &[OwnColumn], more: Option<&str>) -> String {
    let columns: Vec<&str> =
        table.columns.iter().copied().chain(own.iter().map(|own| own.name())).chain(more).collect();
    format!("INSERT INTO {} ({}) ", table.name, columns.join(", "))
}
