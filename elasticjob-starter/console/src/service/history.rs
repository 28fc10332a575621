//! Reads traces: runs of items, changes of state, and decisions with the actions of operators.

use std::marker::PhantomData;

use axum::extract::Query;
use axum::http::Uri;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, ShardingItem};
use elasticjob::schedule::TimeZone;
use elasticjob::trace::{
    AnyTraceReader, Cursor, DecisionFilter, DecisionKind, DecisionRecord, ExecutionFilter, ExecutionOutcome,
    ExecutionRecord, Page, PageRequest, ReadError, StateFilter, StateRecord, TraceReader,
};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::local::instant_of;
use crate::access::{Permission, Role};
use crate::api::Problem;
use crate::api::jobs::parameters;
use crate::here::Here;
use crate::registries::Registry;
use crate::texts;

/// The longest time range of one request.
pub(crate) const LONGEST: TimeDelta = TimeDelta::days(31);

/// The time range unless it is said.
const USUAL: TimeDelta = TimeDelta::days(7);

/// The most records of a page, and how many are on it unless it is said.
const MOST: u32 = 500;
const USUALLY: u32 = 50;

/// The most characters of the name of a parameter that is told again.
const LONGEST_NAME: usize = 40;

/// How many pages are read for one page of a caller who may not see all of their records: of a database that ignores
/// capitals.
const ROUNDS: usize = 20;

/// The parameters that a query for any records may have.
const COMMON: [&str; 6] = ["job", "from", "until", "cursor", "limit", "format"];

/// What is asked for. What is empty asks for everything. Each kind of record uses a part of it.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    pub(crate) job: String,
    pub(crate) item: String,
    /// The address of a server, or the id of an instance.
    pub(crate) ip: String,
    /// `SUCCEEDED`, `FAILED` or `NO_END`.
    pub(crate) result: String,
    /// `NORMAL_TRIGGER`, `MISFIRE` or `FAILOVER`.
    pub(crate) source: String,
    /// `TASK_STAGING`, `TASK_RUNNING`, `TASK_FINISHED`, `TASK_ERROR`, `TASK_FAILED` or `TASK_KILLED`.
    pub(crate) state: String,
    /// A kind of decision.
    pub(crate) kind: String,
    /// A part of the name of an operator.
    pub(crate) who: String,
    /// A part of the name of an action.
    pub(crate) what: String,
    /// RFC 3339, or a local time of the zone of this host.
    pub(crate) from: String,
    pub(crate) until: String,
    pub(crate) cursor: String,
    pub(crate) limit: Option<u32>,
    /// `csv` for a file.
    pub(crate) format: String,
}

/// The time range of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: DateTime<Utc>,
    /// `None` for all that follows: a clock that is ahead writes times that are yet to come.
    pub(crate) until: Option<DateTime<Utc>>,
}

/// Records, the newest first.
#[derive(Debug)]
pub(crate) struct Found<T> {
    pub(crate) records: Vec<T>,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
}

/// A kind of record: how it is read, and which job it is about.
pub(crate) trait Traced: Sized + Send {
    type Filter: Send + Sync;

    /// The parameters of a query that it uses, beside those of all kinds.
    const PARAMETERS: &'static [&'static str];

    fn filter(query: &HistoryQuery, of: Jobs, range: Range) -> Result<Self::Filter, Problem>;

    fn read(
        reader: &AnyTraceReader,
        filter: &Self::Filter,
        page: &PageRequest,
    ) -> impl Future<Output = Result<Page<Self>, ReadError>> + Send;

    /// What has the records of a registry center.
    fn reader(registry: &Registry) -> Option<&AnyTraceReader> {
        registry.trace_reader()
    }

    fn job(&self) -> &str;

    /// Whether the query asks for it, where the database cannot tell.
    fn is_wanted(&self, _query: &HistoryQuery) -> bool {
        true
    }
}

/// Whether a query for these records uses a parameter.
pub(crate) fn uses<T: Traced>(name: &str) -> bool {
    COMMON.contains(&name) || T::PARAMETERS.contains(&name)
}

/// The query of an address of the API. A parameter that these records do not use is refused: it would ask for less than it gets.
pub(crate) fn asked<T: Traced>(uri: &Uri) -> Result<HistoryQuery, Problem> {
    let mut names = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).map(|(name, _)| name);
    if let Some(unknown) = names.find(|name| !uses::<T>(name)) {
        let known: Vec<String> = ParametersOf::<T>::names().map(|name| format!("`{name}`")).collect();
        let unknown: String = unknown.chars().take(LONGEST_NAME).collect();
        return Err(Problem::bad_request(texts::parameter_unknown(unknown, known.join(", "))));
    }
    parameters(Query::try_from_uri(uri))
}

/// The parameters of a query for these records.
pub(crate) struct ParametersOf<T>(PhantomData<T>);

impl<T: Traced> ParametersOf<T> {
    fn names() -> impl Iterator<Item = String> {
        HistoryQuery::into_params(|| None).into_iter().map(|parameter| parameter.name).filter(|name| uses::<T>(name))
    }
}

impl<T: Traced> IntoParams for ParametersOf<T> {
    fn into_params(parameter_in: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let all = HistoryQuery::into_params(parameter_in).into_iter();
        all.filter(|parameter| uses::<T>(&parameter.name)).collect()
    }
}

/// The jobs whose records are read.
pub(crate) struct Jobs {
    /// The one that is asked for.
    one: Option<JobName>,
    /// The patterns of all that the caller sees.
    seen: Vec<String>,
}

impl Jobs {
    /// Both, as filters have them.
    pub(super) fn parts(self) -> (Option<JobName>, Vec<String>) {
        (self.one, self.seen)
    }
}

impl HistoryQuery {
    /// The time range, in which local times are of this zone.
    pub(crate) fn range(&self, now: DateTime<Utc>, zone: TimeZone) -> Result<Range, Problem> {
        let until = time("until", &self.until, zone)?;
        let end = until.unwrap_or(now);
        let from = time("from", &self.from, zone)?.unwrap_or(end - USUAL);
        if from >= end {
            return Err(Problem::bad_request(texts::range_reversed()));
        }
        match end - from > LONGEST {
            true => Err(Problem::bad_request(texts::range_too_long(LONGEST.num_days()))),
            false => Ok(Range { from, until }),
        }
    }

    pub(crate) fn job(&self) -> Result<Option<JobName>, Problem> {
        parsed("job", &self.job)
    }

    fn instance(&self) -> Option<InstanceId> {
        self.ip.contains("@-@").then(|| InstanceId::new(self.ip.trim()).ok()).flatten()
    }

    /// The address of a server, where it is no id of an instance.
    fn server(&self) -> Option<String> {
        let asked = self.ip.trim();
        (!asked.is_empty() && self.instance().is_none()).then(|| asked.to_owned())
    }

    /// The same query with other values, as the query of an address.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let limit = self.limit.map(|limit| limit.to_string()).unwrap_or_default();
        let fields = [
            ("job", &self.job),
            ("item", &self.item),
            ("ip", &self.ip),
            ("result", &self.result),
            ("source", &self.source),
            ("state", &self.state),
            ("kind", &self.kind),
            ("who", &self.who),
            ("what", &self.what),
            ("from", &self.from),
            ("until", &self.until),
            ("limit", &limit),
        ];
        let fields = fields.into_iter().map(|(name, value)| (name, value.as_str()));
        let kept = fields.filter(|(name, value)| !value.is_empty() && changes.iter().all(|(one, _)| one != name));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).extend_pairs(changes).finish()
    }
}

/// The value of a field, `None` where it is empty.
pub(crate) fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: &str,
) -> Result<Option<T>, Problem> {
    match text.trim() {
        "" => Ok(None),
        text => {
            text.parse().map(Some).map_err(|wrong| Problem::bad_request(texts::field_wrong(name, format!("{wrong}"))))
        }
    }
}

/// One of these values, by its name.
fn one_of<T: Copy>(name: &str, text: &str, all: &[T], written: impl Fn(T) -> String) -> Result<Option<T>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = all.iter().copied().find(|one| written(*one) == text);
    let names = || all.iter().copied().map(&written).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| Problem::bad_request(texts::field_one_of(name, names())))
}

/// RFC 3339, or what a browser sends for a field of date and time: a local time of the zone.
pub(super) fn time(name: &str, text: &str, zone: TimeZone) -> Result<Option<DateTime<Utc>>, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(Some(time.to_utc()));
    }
    let local = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let wrong = || Problem::bad_request(texts::field_time(name));
    instant_of(local.ok_or_else(wrong)?, zone).map(Some).ok_or_else(wrong)
}

/// The records that the caller may see and that the query asks for.
pub(crate) async fn find<T: Traced>(here: &Here, query: &HistoryQuery, range: Range) -> Result<Found<T>, Problem> {
    let job = query.job()?;
    if job.as_ref().is_some_and(|job| !here.sees(job)) {
        return Err(Problem::forbidden(Permission::Has(Role::Viewer), false));
    }
    // The filter leaves them out already, on a database that tells capitals apart.
    let sees = |record: &T| here.identity.sees_job(here.registry.name(), record.job());
    let reader = T::reader(&here.registry).ok_or_else(Problem::not_traced)?;
    let seen = here.identity.seen_jobs(here.registry.name());
    let filter = T::filter(query, Jobs { one: job, seen }, range)?;
    let wanted = query.limit.unwrap_or(USUALLY).clamp(1, MOST);
    let (mut records, mut cursor) = (Vec::new(), parsed::<Cursor>("cursor", &query.cursor)?);
    for _ in 0..ROUNDS {
        let missing = wanted - u32::try_from(records.len()).unwrap_or(wanted);
        let page = T::read(reader, &filter, &PageRequest::default().limit(missing).after(cursor)).await?;
        records.extend(page.records.into_iter().filter(sees).filter(|it| it.is_wanted(query)));
        cursor = page.next;
        if cursor.is_none() || records.len() >= wanted as usize {
            break;
        }
    }
    Ok(Found { records, next: cursor.map(|cursor| cursor.to_string()) })
}

/// The run of an item with this id, where the caller may see its job.
pub(crate) async fn execution_of(here: &Here, id: &str) -> Result<ExecutionRecord, Problem> {
    let reader = here.registry.trace_reader().ok_or_else(Problem::not_traced)?;
    let name = here.registry.name();
    let mut filter = ExecutionFilter::default();
    (filter.id, filter.jobs) = (Some(id.to_owned()), here.identity.seen_jobs(name));
    let page = reader.executions(&filter, &PageRequest::default().limit(1)).await?;
    // The filter leaves it out already, on a database that tells capitals apart.
    let seen = page.records.into_iter().find(|record| here.identity.sees_job(name, &record.job_name));
    seen.ok_or_else(|| Problem::no_such_run_to_see(id))
}

const OUTCOMES: [ExecutionOutcome; 3] =
    [ExecutionOutcome::Succeeded, ExecutionOutcome::Failed, ExecutionOutcome::NoEnd];

const SOURCES: [ExecutionSource; 3] =
    [ExecutionSource::NormalTrigger, ExecutionSource::Misfire, ExecutionSource::Failover];

/// The states that ElasticJob-UI filters by. `TASK_FAILED` and `TASK_KILLED` are in rows that ElasticJob-Cloud left in the table.
pub(crate) const STATES: [&str; 6] =
    ["TASK_STAGING", "TASK_RUNNING", "TASK_FINISHED", "TASK_ERROR", "TASK_FAILED", "TASK_KILLED"];

impl Traced for ExecutionRecord {
    type Filter = ExecutionFilter;

    const PARAMETERS: &'static [&'static str] = &["item", "ip", "result", "source"];

    fn filter(query: &HistoryQuery, of: Jobs, range: Range) -> Result<ExecutionFilter, Problem> {
        let mut filter = ExecutionFilter::default();
        (filter.job, filter.jobs) = of.parts();
        (filter.from, filter.until) = (Some(range.from), range.until);
        filter.item = parsed::<ShardingItem>("item", &query.item)?;
        (filter.instance, filter.ip) = (query.instance(), query.server());
        filter.outcome = one_of("result", &query.result, &OUTCOMES, |it| it.as_str().to_owned())?;
        filter.source = one_of("source", &query.source, &SOURCES, |it| it.to_string())?;
        Ok(filter)
    }

    async fn read(
        reader: &AnyTraceReader,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<Self>, ReadError> {
        reader.executions(filter, page).await
    }

    fn job(&self) -> &str {
        &self.job_name
    }
}

impl Traced for StateRecord {
    type Filter = StateFilter;

    const PARAMETERS: &'static [&'static str] = &["ip", "state"];

    fn filter(query: &HistoryQuery, of: Jobs, range: Range) -> Result<StateFilter, Problem> {
        let mut filter = StateFilter::default();
        (filter.job, filter.jobs) = of.parts();
        (filter.from, filter.until) = (Some(range.from), range.until);
        (filter.instance, filter.ip) = (query.instance(), query.server());
        filter.state_name = one_of("state", &query.state, &STATES, str::to_owned)?.map(str::to_owned);
        Ok(filter)
    }

    async fn read(reader: &AnyTraceReader, filter: &StateFilter, page: &PageRequest) -> Result<Page<Self>, ReadError> {
        reader.states(filter, page).await
    }

    fn job(&self) -> &str {
        &self.job_name
    }
}

impl Traced for DecisionRecord {
    type Filter = DecisionFilter;

    const PARAMETERS: &'static [&'static str] = &["item", "ip", "kind"];

    fn filter(query: &HistoryQuery, of: Jobs, range: Range) -> Result<DecisionFilter, Problem> {
        let mut filter = DecisionFilter::default();
        (filter.job, filter.jobs) = of.parts();
        (filter.from, filter.until) = (Some(range.from), range.until);
        filter.item = parsed::<ShardingItem>("item", &query.item)?;
        (filter.instance, filter.ip) = (query.instance(), query.server());
        filter.kinds = parsed::<DecisionKind>("kind", &query.kind)?.into_iter().collect();
        Ok(filter)
    }

    async fn read(
        reader: &AnyTraceReader,
        filter: &DecisionFilter,
        page: &PageRequest,
    ) -> Result<Page<Self>, ReadError> {
        reader.decisions(filter, page).await
    }

    fn job(&self) -> &str {
        &self.job_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("it is a time")
    }

    fn range(from: &str, until: &str, zone: &str) -> Result<Range, Problem> {
        let query = HistoryQuery { from: from.to_owned(), until: until.to_owned(), ..HistoryQuery::default() };
        query.range(at("2026-11-21T12:00:00Z"), zone.parse().expect("it is a zone"))
    }

    #[test]
    fn a_time_range_is_the_last_week_unless_it_is_said_and_is_never_longer_than_a_month() {
        let usual = range("", "", "UTC").expect("it is usual");
        assert_eq!(usual, Range { from: at("2026-11-14T12:00:00Z"), until: None });
        assert!(range("2026-10-21T12:00", "", "UTC").is_ok());
        for (from, until) in [
            ("2026-10-21T11:59", ""),
            ("2026-11-21T12:00", ""),
            ("2026-11-02T00:00", "2026-11-01T00:00"),
            ("yesterday", ""),
            ("", "2026-13-01T00:00"),
            ("+262142-12-31T23:59:59Z", "-262143-01-01T00:00:00Z"),
        ] {
            assert_eq!(range(from, until, "UTC").expect_err("it is wrong").code(), "bad-request", "{from} {until}");
        }
    }

    #[test]
    fn a_time_without_an_offset_is_a_local_one_of_the_zone() {
        let range = range("2026-11-21T03:00", "2026-11-21T03:00:00Z", "Asia/Shanghai").expect("it is right");
        assert_eq!(range, Range { from: at("2026-11-20T19:00:00Z"), until: Some(at("2026-11-21T03:00:00Z")) });
        let berlin: TimeZone = "Europe/Berlin".parse().expect("it is a zone");
        // The offset changes at 01:00 UTC: read as UTC, 03:30 is after the change, and the day before is not.
        let time = |text: &str| time("from", text, berlin).expect("it is a time");
        assert_eq!(time("2026-03-29T03:30"), Some(at("2026-03-29T01:30:00Z")));
        assert_eq!(time("2026-03-29T01:30"), Some(at("2026-03-29T00:30:00Z")));
    }

    #[test]
    fn an_address_keeps_what_was_asked_for() {
        let query = HistoryQuery { job: "a&b".to_owned(), ip: "10.0.0.7".to_owned(), ..HistoryQuery::default() };
        assert_eq!(query.with(&[("cursor", "7.x")]), "job=a%26b&ip=10.0.0.7&cursor=7.x");
        assert_eq!(query.with(&[("job", "c")]), "ip=10.0.0.7&job=c");
    }
}
