//! `elasticjob alarms`: what is wrong now.

use std::collections::BTreeMap;
use std::sync::Arc;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::alarms::{Alarm, UsualDurations, alarms as wrong_now};
use elasticjob::operations::disabled::{By, DisabledBy, Disablings, KeptActions, MOST_READ, of_list};
use elasticjob::operations::{Catalogue, JobOverview};
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::watched::WatchedRegistry;
use elasticjob::schedule::{TimeZone, format_rfc3339};
use elasticjob::trace::AnyTraceReader;
use elasticjob_starter::settings::Sources;
use serde::Serialize;

use crate::Console;
use crate::args::Registry;
use crate::failure::Failure;
use crate::lists::failures;
use crate::table::{Table, json};
use crate::time::{now, or_dash};
use crate::traces::open_shown;
use crate::why::Told;

/// An alarm with the names of the REST API. What lives in the console alone is not known here: its id and who looks after it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    kind: &'static str,
    /// `None` for an alarm of the whole registry center.
    job: Option<&'a JobName>,
    /// In milliseconds since 1970.
    since: Option<i64>,
    /// Of a job that runs long: 95 of 100 runs took no longer, in milliseconds.
    usual: Option<u64>,
    obstacles: Vec<Told>,
    /// The items whose last run failed, with the cause; it is empty where no instance finished the run.
    failed_items: BTreeMap<ShardingItem, String>,
    disabled_by: Option<DisabledBy>,
}

impl<'a> Row<'a> {
    fn of(alarm: &'a Alarm, disabled_by: Option<By>) -> Self {
        let job = alarm.job.as_deref();
        let zone = zone_of(alarm);
        let told = |job: &JobOverview| {
            let time = |at| format_rfc3339(at, zone);
            job.obstacles.iter().map(|finding| Told::of(finding, &job.job, &time)).collect()
        };
        Self {
            kind: alarm.kind.code(),
            job: job.map(|job| &job.job),
            since: alarm.since,
            usual: alarm.usual,
            obstacles: job.map(told).unwrap_or_default(),
            failed_items: job.map(|job| job.failed.clone()).unwrap_or_default(),
            disabled_by: disabled_by.and_then(By::operator),
        }
    }

    /// What is known about it beyond its kind.
    fn why(&self) -> String {
        // That a run takes long has nothing to do with what keeps the job from its next one.
        if let Some(usual) = self.usual {
            return format!("95 of 100 runs took no longer than {usual} ms");
        }
        let obstacles = self.obstacles.iter().map(|told| match told.item {
            Some(item) => format!("item {item}: {}", told.text),
            None => told.text.clone(),
        });
        let failed = failures(&self.failed_items);
        let by = self.disabled_by.as_ref().map(|by| match by.reason.as_str() {
            "" => format!("disabled by {}", by.actor),
            reason => format!("disabled by {}: {reason}", by.actor),
        });
        obstacles.chain(failed).chain(by).collect::<Vec<_>>().join("; ")
    }
}

/// The zone in which the times of an alarm are written.
fn zone_of(alarm: &Alarm) -> TimeZone {
    let of_job = alarm.job.as_ref().and_then(|job| job.time_zone);
    of_job.unwrap_or_else(|| TimeZone::local().unwrap_or(TimeZone::UTC))
}

/// The database of traces, where the settings name one. Alarms are told without it, too: so a database that is away is a remark.
pub(crate) async fn traces(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Option<AnyTraceReader>, Failure> {
    match open_shown(flags, sources, console).await {
        Ok(found) => Ok(found.map(|(reader, _)| reader)),
        Err(wrong @ Failure::Settings(_)) => Err(wrong),
        Err(why) => {
            let why = crate::shown(&why.to_string());
            let _ = writeln!(console.stderr, "note: which runs take long, and who disabled a job, is not known: {why}");
            Ok(None)
        }
    }
}

/// The alarms as text, and whether who disabled a job was not read in time.
pub(crate) async fn alarms(
    center: Arc<dyn RegistryCenter>,
    reader: Option<&AnyTraceReader>,
    as_json: bool,
) -> Result<(String, bool), Failure> {
    let listed = Catalogue::new(WatchedRegistry::new(center)).jobs().await?;
    let now = now();
    let alarms = wrong_now(&listed, reader, &UsualDurations::default(), now).await;
    let (mut rows, mut is_unread) = (Vec::new(), false);
    for part in alarms.chunks(MOST_READ) {
        let jobs = of_list(part.iter().filter_map(|alarm| alarm.job.as_deref()));
        // Nothing is kept: a part that the database answers late keeps no other one from being read.
        let disablings = Disablings::of(reader, &KeptActions::default(), jobs, now).await;
        for alarm in part {
            let by = alarm.job.as_deref().and_then(|job| disablings.by_of_job(job));
            is_unread |= matches!(by, Some(By::Unread));
            rows.push((alarm, Row::of(alarm, by)));
        }
    }
    if as_json {
        return Ok((json(&rows.iter().map(|(_, row)| row).collect::<Vec<_>>()), is_unread));
    }
    let mut table = Table::new(["KIND", "JOB", "SINCE", "WHY"]);
    for (alarm, row) in rows {
        let job = row.job.map(ToString::to_string).unwrap_or_default();
        table.row([row.kind.to_owned(), job, or_dash(row.since, zone_of(alarm)), row.why()]);
    }
    Ok((table.into_text(), is_unread))
}
