//! Filters that no row can fulfil: they find nothing, on every database, and are no failure of it.

use chrono::{DateTime, Utc};
use elasticjob::ident::{InstanceId, JobName};
use elasticjob::trace::rdb::Retention;
use elasticjob::trace::{
    AnyTraceReader, Cursor, DecisionFilter, DecisionKind, ExecutionFilter, LogFilter, PageRequest, ReadError,
    StateFilter, TaskState, TraceReader, TracingStorage,
};

use super::events::{decided, decision, end, execution, line, logged, state, status};
use super::history::reader_of;
use super::tables::{open_with, options};
use crate::databases::Database;

/// A reader, and which page it reads.
struct Tables {
    reader: AnyTraceReader,
    page: PageRequest,
}

impl Tables {
    async fn executions(&self, change: impl FnOnce(&mut ExecutionFilter)) -> Result<usize, ReadError> {
        let mut filter = ExecutionFilter::default();
        change(&mut filter);
        Ok(self.reader.executions(&filter, &self.page).await?.records.len())
    }

    async fn states(&self, change: impl FnOnce(&mut StateFilter)) -> Result<usize, ReadError> {
        let mut filter = StateFilter::default();
        change(&mut filter);
        Ok(self.reader.states(&filter, &self.page).await?.records.len())
    }

    async fn decisions(&self, change: impl FnOnce(&mut DecisionFilter)) -> Result<usize, ReadError> {
        let mut filter = DecisionFilter::default();
        change(&mut filter);
        Ok(self.reader.decisions(&filter, &self.page).await?.records.len())
    }

    async fn lines(&self, run: &str, contains: Option<String>) -> Result<usize, ReadError> {
        let mut filter = LogFilter::of_run(JobName::new("settle").expect("a name"), run);
        filter.contains = contains;
        Ok(self.reader.log(&filter, 10).await?.len())
    }
}

/// Tables with a row each.
async fn tables(database: &Database) -> Tables {
    let storage = open_with(database, options(|options| options.run_log = Some(Retention::default()))).await;
    let events = [
        execution(end("a", None)),
        status(state("s", TaskState::Error)),
        decided(decision("d", DecisionKind::Skipped)),
        logged(line("a", 1)),
    ];
    storage.write(&events).await.expect("it is written");
    Tables { reader: reader_of(database.url()).await, page: PageRequest::default() }
}

pub(super) async fn a_text_that_no_column_has_is_found_in_no_row(database: Database) {
    let tables = tables(&database).await;
    let zero_characters = ["a\0", "\0", "settle\0"].map(str::to_owned);
    for text in zero_characters.into_iter().chain(["9".repeat(60_000), "报".repeat(20_000)]) {
        let (shown, text) = (text.chars().take(10).collect::<String>(), || text.clone());
        let executions: [&dyn Fn(&mut ExecutionFilter); 4] = [
            &|filter| filter.id = Some(text()),
            &|filter| filter.ip = Some(text()),
            &|filter| filter.run_id = Some(text()),
            &|filter| filter.jobs = vec![text()],
        ];
        for (number, change) in executions.into_iter().enumerate() {
            assert_eq!(tables.executions(change).await, Ok(0), "{shown:?} {number}");
        }
        let both = |filter: &mut ExecutionFilter| filter.jobs = vec![text(), "set*".to_owned()];
        assert_eq!(tables.executions(both).await, Ok(1), "{shown:?}: another pattern fits");
        assert_eq!(tables.states(|filter| filter.ip = Some(text())).await, Ok(0), "{shown:?}");
        assert_eq!(tables.decisions(|filter| filter.ip = Some(text())).await, Ok(0), "{shown:?}");
        assert_eq!(tables.lines(&text(), None).await, Ok(0), "{shown:?}");
        assert_eq!(tables.lines("a", Some(text())).await, Ok(0), "{shown:?}");
    }
    let long = InstanceId::new("9".repeat(60_000)).expect("an id");
    assert_eq!(tables.executions(|filter| filter.instance = Some(long.clone())).await, Ok(0));
    assert_eq!(tables.states(|filter| filter.instance = Some(long.clone())).await, Ok(0));
    assert_eq!(tables.decisions(|filter| filter.instance = Some(long.clone())).await, Ok(0));
    let job = JobName::new("9".repeat(60_000)).expect("a name");
    assert_eq!(tables.executions(|filter| filter.job = Some(job.clone())).await, Ok(0));
}

pub(super) async fn a_time_that_no_column_has_is_before_or_after_all_rows(database: Database) {
    let mut tables = tables(&database).await;
    let time = |text: &str| text.parse::<DateTime<Utc>>().expect("a time");
    let early = [DateTime::<Utc>::MIN_UTC, time("-4713-01-01T00:00:00Z"), time("-0001-01-01T00:00:00Z")];
    let late = [time("+10000-01-01T00:00:00Z"), time("+262142-01-01T00:00:00Z"), DateTime::<Utc>::MAX_UTC];
    for (times, after, before) in [(early, 1, 0), (late, 0, 1)] {
        for at in times {
            assert_eq!(tables.executions(|filter| filter.from = Some(at)).await, Ok(after), "{at}");
            assert_eq!(tables.executions(|filter| filter.until = Some(at)).await, Ok(before), "{at}");
            assert_eq!(tables.executions(|filter| filter.scheduled_at = Some(at)).await, Ok(0), "{at}");
            assert_eq!(tables.states(|filter| filter.from = Some(at)).await, Ok(after), "{at}");
            assert_eq!(tables.states(|filter| filter.until = Some(at)).await, Ok(before), "{at}");
            assert_eq!(tables.decisions(|filter| filter.from = Some(at)).await, Ok(after), "{at}");
            assert_eq!(tables.decisions(|filter| filter.until = Some(at)).await, Ok(before), "{at}");
            assert_eq!(tables.decisions(|filter| filter.fire = Some(at)).await, Ok(0), "{at}");
        }
    }
    for (at, found) in [(i64::MIN, 0), (i64::MAX, 1)] {
        tables.page = PageRequest::default().after(Cursor::after(at, "x"));
        assert_eq!(tables.executions(|_| {}).await, Ok(found), "{at}");
        assert_eq!(tables.states(|_| {}).await, Ok(found), "{at}");
        assert_eq!(tables.decisions(|_| {}).await, Ok(found), "{at}");
    }
}
