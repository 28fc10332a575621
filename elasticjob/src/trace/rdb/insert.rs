//! The statements that write rows, many at a time.

use sqlx::{Encode, QueryBuilder, Type};

use super::cells::Cells;
use super::dialect::{DECISION_LOG, Dialect, EXECUTION_LOG, OwnColumn, RUN_LOG, SOURCE, STATUS_TRACE_LOG, Table};
use super::rows::{Decision, Execution, Line, Own, State};

/// Writes executions: new ones, and the ends of known ones.
pub(super) fn insert_executions<DB: Dialect>(executions: Vec<Execution>, own: &[OwnColumn]) -> QueryBuilder<DB> {
    let mut query = DB::insert(head(EXECUTION_LOG, own, None), executions, |execution, cells| {
        cells.text(Some(execution.id));
        cells.text(Some(execution.job_name));
        cells.text(Some(execution.task_id));
        cells.text(Some(execution.hostname));
        cells.text(Some(execution.ip));
        cells.number(execution.sharding_item);
        cells.text(Some(execution.source));
        cells.text(execution.failure_cause);
        cells.flag(execution.success);
        cells.time(Some(execution.start_time));
        cells.time(execution.complete_time);
        put_own(cells, own, execution.own);
    });
    query.push(DB::COMPLETE_EXECUTION);
    query
}

/// The value that Java writes into [`SOURCE`].
const LITE_EXECUTOR: &str = "LITE_EXECUTOR";

/// Writes states, with their source where the table has one.
pub(super) fn insert_states<DB: Dialect>(states: Vec<State>, own: &[OwnColumn], has_source: bool) -> QueryBuilder<DB> {
    let source = has_source.then_some(SOURCE);
    let mut query = DB::insert(head(STATUS_TRACE_LOG, own, source), states, |state, cells| {
        cells.text(Some(state.id));
        cells.text(Some(state.job_name));
        // ElasticJob-Lite leaves it empty as well: it is for tasks that another scheduler restarted.
        cells.text(Some(String::new()));
        cells.text(Some(state.task_id));
        cells.text(Some(state.slave_id));
        cells.text(Some(state.execution_type));
        cells.text(Some(state.sharding_item));
        cells.text(Some(state.state));
        cells.text(Some(state.message));
        cells.time(Some(state.creation_time));
        put_own(cells, own, state.own);
        if has_source {
            cells.text(Some(LITE_EXECUTOR.to_owned()));
        }
    });
    query.push(DB::KEEP_STATUS);
    query
}

/// Writes decisions.
pub(super) fn insert_decisions<DB: Dialect>(decisions: Vec<Decision>) -> QueryBuilder<DB> {
    let mut query = DB::insert(head(DECISION_LOG, &[], None), decisions, |decision, cells| {
        cells.text(Some(decision.id));
        cells.text(Some(decision.job_name));
        cells.long(Some(decision.decided_at));
        cells.text(Some(decision.kind));
        cells.long(decision.scheduled_at);
        cells.long(decision.scheduled_until);
        cells.text(Some(decision.sharding_items));
        cells.text(decision.instance_id);
        cells.text(decision.related_instance);
        cells.text(Some(decision.reason));
        cells.text(Some(decision.detail));
    });
    query.push(DB::KEEP_DECISION);
    query
}

/// Writes lines of the logs of runs.
pub(super) fn insert_lines<DB: Dialect>(lines: Vec<Line>) -> QueryBuilder<DB> {
    let mut query = DB::insert(head(RUN_LOG, &[], None), lines, |line, cells| {
        cells.text(Some(line.execution_id));
        cells.number(line.line_number);
        cells.text(Some(line.job_name));
        cells.long(Some(line.logged_at));
        cells.text(Some(line.log_level));
        cells.text(Some(line.target));
        cells.text(Some(line.message));
        cells.number(line.left_out);
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

fn put_own(cells: &mut dyn Cells, columns: &[OwnColumn], values: Own) {
    let Own { run_id, scheduled_at, instance_id, attempt } = values;
    let (mut run_id, mut instance_id, mut attempt) = (Some(run_id), Some(instance_id), attempt);
    for column in columns {
        match column {
            OwnColumn::RunId => cells.text(run_id.take()),
            OwnColumn::ScheduledAt => cells.long(scheduled_at),
            OwnColumn::InstanceId => cells.text(instance_id.take()),
            OwnColumn::Attempt => cells.text(attempt.take()),
        }
    }
}

fn head(table: Table, own: &[OwnColumn], more: Option<&str>) -> String {
    let columns: Vec<&str> =
        table.columns.iter().copied().chain(own.iter().map(|own| own.name())).chain(more).collect();
    format!("INSERT INTO {} ({}) ", table.name, columns.join(", "))
}
