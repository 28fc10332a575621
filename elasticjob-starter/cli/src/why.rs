//! `elasticjob why`: explains why a job runs or does not run.

use std::collections::BTreeMap;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{Argument, Finding, Operations};
use elasticjob::schedule::format_rfc3339;
use serde::Serialize;

use crate::failure::Failure;
use crate::table::json;
use crate::time::{now, zone_of};

#[derive(Serialize)]
struct Why<'a> {
    job: &'a JobName,
    findings: Vec<Told>,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    item: ShardingItem,
    findings: Vec<Told>,
}

/// A finding, for readers and programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    /// `None` for the whole job.
    pub(crate) item: Option<ShardingItem>,
    /// Whether it keeps the job or the item from running.
    obstacle: bool,
    code: &'static str,
    arguments: BTreeMap<&'static str, Argument>,
    /// In milliseconds since 1970.
    since: Option<i64>,
    remedy: Option<Help>,
    pub(crate) text: String,
}

#[derive(Serialize)]
struct Help {
    code: &'static str,
    command: Option<String>,
}

impl Told {
    pub(crate) fn of(finding: &Finding, job: &JobName, time: &dyn Fn(i64) -> String) -> Self {
        Self {
            item: finding.item,
            obstacle: finding.is_obstacle(),
            code: finding.code(),
            arguments: finding.arguments(),
            since: finding.since,
            remedy: finding.remedy().map(|remedy| Help { code: remedy.code(), command: remedy.command(job) }),
            text: finding.describe(time),
        }
    }
}

pub(crate) async fn why(
    operations: &Operations,
    job: &JobName,
    item: Option<ShardingItem>,
    as_json: bool,
) -> Result<String, Failure> {
    let snapshot = operations.snapshot(job).await?;
    let zone = zone_of(&snapshot);
    let time = |at| format_rfc3339(at, zone);
    let tell = |findings: Vec<Finding>| -> Vec<Told> {
        findings.iter().map(|finding| Told::of(finding, job, &time)).collect()
    };
    let now = now();
    let items: Vec<ShardingItem> = match item {
        Some(item) if !snapshot.items.contains_key(&item) => {
            let why = snapshot.findings_of(item, now).iter().map(|finding| finding.describe(&time)).collect();
            return Err(Failure::NoSuchItem { job: job.to_string(), item, why });
        }
        Some(item) => vec![item],
        None => snapshot.items.keys().copied().collect(),
    };
    let mut findings = tell(snapshot.findings(now));
    if let Some(next) = snapshot.next_fire(now) {
        findings.push(Told {
            item: None,
            obstacle: false,
            code: "next-fire",
            arguments: BTreeMap::from([("fireAt", Argument::Time(next))]),
            since: None,
            remedy: None,
            text: format!("its next fire is {}", time(next)),
        });
    }
    let items = items.into_iter().map(|item| Item { item, findings: tell(snapshot.findings_of(item, now)) });
    let why = Why { job, findings, items: items.collect() };
    Ok(if as_json { json(&why) } else { text(&why) })
}

fn text(why: &Why<'_>) -> String {
    let lines = |findings: &[Told]| -> String {
        let line = |told: &Told| {
            let help = told.remedy.as_ref().and_then(|remedy| remedy.command.as_deref());
            let help = help.map(|command| format!("      to fix it: {command}\n")).unwrap_or_default();
            format!("  {} {}\n{help}", if told.obstacle { '!' } else { '-' }, told.text)
        };
        findings.iter().map(line).collect()
    };
    let mut text = format!("job {}\n{}", why.job, lines(&why.findings));
    text.extend(why.items.iter().map(|item| format!("item {}\n{}", item.item, lines(&item.findings))));
    text
}
