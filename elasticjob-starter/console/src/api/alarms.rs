//! Alarms.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::{IntoResponse, Response};
use elasticjob::operations::JobOverview;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use super::body::{Body, Reason, checked};
use super::jobs::parameters;
use super::named::Names;
use super::tagged::with_link;
use crate::here::Here;
use crate::service::alarms::{self, Acknowledged, Alarm};
use crate::service::disabled::{DisabledBy, Disablings, disablings_of, of_list};
use crate::service::job::FindingView;
use crate::service::part::PartQuery;
use crate::service::time::Time;

/// Something that is wrong now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlarmView {
    id: String,
    /// registry-lost, overdue, daemon-ends, crashed, configuration-refused, cannot-fail-over, carried-waits, failing, disabled-for-long or runs-long.
    kind: &'static str,
    /// `null` for an alarm of the whole registry center.
    job: Option<String>,
    /// Since when it holds; of a job that fails, the end of its last good run. `null` where that is not known.
    #[schema(value_type = Option<String>)]
    since: Option<Time>,
    /// Of a job that runs long: 95 of 100 runs took no longer, in milliseconds.
    usual: Option<u64>,
    /// The obstacles that keep the job or some of its items from running.
    obstacles: Vec<FindingView>,
    /// The items whose last run failed, with the cause; it is empty where no instance finished the run.
    #[schema(value_type = BTreeMap<String, String>)]
    failed_items: BTreeMap<u32, String>,
    /// Who disabled the job, or the first of its items that is disabled; `null` where nothing of it is, or that was not
    /// recorded or not read so far.
    disabled_by: Option<DisabledBy>,
    acknowledged: Option<AcknowledgedView>,
}

/// An operator looks after it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcknowledgedView {
    by: String,
    #[schema(value_type = String)]
    at: Time,
    reason: String,
}

impl From<Acknowledged> for AcknowledgedView {
    fn from(it: Acknowledged) -> Self {
        Self { by: it.by, at: Time(it.at), reason: it.reason }
    }
}

impl AlarmView {
    fn of(here: &Here, disablings: &Disablings, alarm: Alarm) -> Self {
        let wrong = alarm.wrong;
        let job = wrong.job.as_deref();
        let findings =
            |job: &JobOverview| job.obstacles.iter().map(|finding| FindingView::of(here, finding, &job.job)).collect();
        Self {
            id: alarm.id,
            kind: wrong.kind.code(),
            obstacles: job.map(findings).unwrap_or_default(),
            failed_items: job.map(|job| job.failed.clone()).unwrap_or_default(),
            disabled_by: job.and_then(|job| disablings.by_of_job(job)).and_then(DisabledBy::of),
            job: job.map(|job| job.job.to_string()),
            since: wrong.since.map(Time),
            usual: wrong.usual,
            acknowledged: alarm.acknowledged.map(AcknowledgedView::from),
        }
    }
}

/// The alarms that hold now
///
/// Alarms that no operator has acknowledged come first; then by urgency, then by age.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/alarms", tag = "jobs", params(PartQuery),
    responses((status = 200, body = Vec<AlarmView>), (status = "default", body = Problem)))]
pub(crate) async fn list(here: Here, query: Result<Query<PartQuery>, QueryRejection>) -> Result<Response, Problem> {
    let query = parameters(query)?;
    let part = query.of(alarms::alarms(&here).await?, Alarm::place)?;
    let link = part.link(&here, "alarms", query.limit, &[]);
    let disablings =
        disablings_of(&here, of_list(part.elements.iter().filter_map(|alarm| alarm.wrong.job.as_deref()))).await;
    let part = part.map(|alarm| AlarmView::of(&here, &disablings, alarm));
    Ok(with_link(Json(part.elements).into_response(), link))
}

/// Say that the caller looks after an alarm
///
/// It counts until the alarm begins again. A console with a data file keeps it there, another one in memory.
#[utoipa::path(put, path = "/api/v1/registries/{registry}/alarms/{alarm}/acknowledgement", tag = "actions",
    request_body = Reason, responses((status = 200, body = AlarmView), (status = "default", body = Problem)))]
pub(crate) async fn acknowledge(
    here: Here,
    Names((_, alarm)): Names<(String, String)>,
    Body(body): Body<Reason>,
) -> Result<Json<AlarmView>, Problem> {
    let alarm = alarms::acknowledge(&here, &alarm, checked(&body.reason)?).await?;
    let disablings = disablings_of(&here, of_list(alarm.wrong.job.as_deref())).await;
    Ok(Json(AlarmView::of(&here, &disablings, alarm)))
}
