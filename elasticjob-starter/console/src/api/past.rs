//! `/registries/{registry}/jobs/{job}/past`: what became of a fire in the past.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use elasticjob::ident::ShardingItem;
use elasticjob::operations::{Happened, PastFire};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::jobs::parameters;
use super::named::OfJob;
use crate::pages::time::Clock;
use crate::service::job::look;
use crate::service::past::past;
use crate::service::time::Time;

/// Which fire is meant.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PastQuery {
    /// RFC 3339, or a local time of the zone of the job: the time of the fire, or up to a minute before it.
    at: String,
    /// The item of which the events are wanted, beside those about the whole fire.
    #[param(value_type = Option<u32>)]
    item: Option<ShardingItem>,
}

/// The account of a fire in the past.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PastView {
    job: String,
    #[schema(value_type = String, format = DateTime)]
    fire: Time,
    /// Whether the schedule as it is now has that fire; `null` where there is no schedule to compare with.
    in_schedule: Option<bool>,
    /// Decisions about the whole fire.
    whole: Vec<HappenedView>,
    /// The runs of each item, and the decisions about it.
    #[schema(value_type = BTreeMap<String, Vec<HappenedView>>)]
    items: BTreeMap<ShardingItem, Vec<HappenedView>>,
    /// The events in the group before the fire and in the five minutes after it.
    around: Vec<HappenedView>,
}

/// Something that happened.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HappenedView {
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    /// `RUN`, `NOT_RECORDED`, or the kind of a decision.
    kind: String,
    /// Whether it kept the fire, or the item, from being run as usual.
    obstacle: bool,
    /// The outcome of a run so far: SUCCEEDED, FAILED or NO_END.
    outcome: Option<&'static str>,
    instance: Option<String>,
    related_instance: Option<String>,
    reason: Option<String>,
    #[schema(value_type = Object)]
    detail: Map<String, Value>,
    /// The same in English.
    text: String,
}

impl From<&Happened> for HappenedView {
    fn from(happened: &Happened) -> Self {
        let told = |kind: &str| Self {
            at: Time(happened.at()),
            kind: kind.to_owned(),
            obstacle: happened.is_obstacle(),
            outcome: None,
            instance: None,
            related_instance: None,
            reason: None,
            detail: Map::new(),
            text: happened.describe(&|at| Time(at).to_string()),
        };
        match happened {
            Happened::Run(record) => Self {
                outcome: Some(record.outcome.as_str()),
                instance: record.instance.clone(),
                reason: record.failure_cause.clone(),
                ..told("RUN")
            },
            Happened::Decided(record) | Happened::Around(record) => Self {
                instance: record.instance.clone(),
                related_instance: record.related_instance.clone(),
                reason: Some(record.reason.clone()).filter(|reason| !reason.is_empty()),
                detail: record.detail.clone(),
                ..told(&record.kind)
            },
            _ => told("NOT_RECORDED"),
        }
    }
}

impl From<PastFire> for PastView {
    fn from(past: PastFire) -> Self {
        let all = |happened: &[Happened]| happened.iter().map(HappenedView::from).collect();
        Self {
            fire: Time(past.fire),
            in_schedule: past.in_schedule,
            whole: all(&past.whole),
            items: past.items.iter().map(|(item, happened)| (*item, all(happened))).collect(),
            around: all(&past.around),
            job: past.job.to_string(),
        }
    }
}

/// Why a fire in the past ran, or did not run
///
/// From what was traced, so that it is known also when all processes are gone. A fire without a record is answered as well.
#[utoipa::path(get, path = "/api/v1/registries/{registry}/jobs/{job}/past", tag = "history", params(PastQuery),
    responses((status = 200, body = PastView), (status = "default", body = Problem)))]
pub(crate) async fn show(
    of: OfJob,
    query: Result<Query<PastQuery>, QueryRejection>,
) -> Result<Json<PastView>, Problem> {
    let query = parameters(query)?;
    let (snapshot, _) = look(&of.here, &of.job).await?;
    let clock = Clock::of(snapshot.usable().and_then(|it| it.schedule()));
    let mut found = past(&of.here, &of.job, &query.at, clock.zone).await?;
    if let Some(item) = query.item {
        found.items.retain(|of, _| *of == item);
    }
    Ok(Json(found.into()))
}
