//! `elasticjob status`: a job at a glance.

use elasticjob::ident::{InstanceId, JobName};
use elasticjob::operations::{JobSnapshot, JobState, Operations, Reason, ServerStatus, ShardInfo};
use serde::Serialize;

use crate::failure::Failure;
use crate::lists::items;
use crate::table::json;
use crate::time::{now, or_dash, zone_of};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    /// The time of the snapshot.
    at: i64,
    job: &'a JobName,
    status: JobState,
    cron: Option<String>,
    time_zone: Option<String>,
    next_fire: Option<i64>,
    leader: Option<&'a InstanceId>,
    resharding: bool,
    servers: Vec<Server<'a>>,
    instances: Vec<&'a InstanceId>,
    items: Vec<ShardInfo>,
    findings: Vec<String>,
}

#[derive(Serialize)]
struct Server<'a> {
    server: &'a str,
    status: ServerStatus,
}

pub(crate) async fn status(operations: &Operations, job: &JobName, as_json: bool) -> Result<String, Failure> {
    Ok(render(&operations.snapshot(job).await?, as_json))
}

/// The text of a job's status.
pub(crate) fn render(snapshot: &JobSnapshot, as_json: bool) -> String {
    let now = now();
    let zone = zone_of(snapshot);
    let time = |at| elasticjob::schedule::format_rfc3339(at, zone);
    let schedule = snapshot.usable().and_then(|configuration| configuration.schedule());
    let findings = snapshot.findings(now);
    // `why` also shows findings that are always true.
    let findings =
        findings.iter().filter(|finding| !matches!(finding.reason, Reason::BoundToPrograms(_) | Reason::OwnTypes(_)));
    let mut findings: Vec<String> = findings.map(|finding| finding.describe(&time)).collect();
    for item in snapshot.items.keys() {
        let obstacles = snapshot.findings_of(*item, now);
        let obstacles = obstacles.iter().filter(|finding| finding.is_obstacle());
        findings.extend(obstacles.map(|finding| format!("item {item}: {}", finding.describe(&time))));
    }
    let status = Status {
        at: now,
        job: &snapshot.job,
        status: snapshot.state(),
        cron: schedule.map(|schedule| schedule.cron().to_string()),
        time_zone: schedule.map(|schedule| schedule.time_zone().to_string()),
        next_fire: snapshot.next_fire(now),
        leader: snapshot.leader.as_ref(),
        resharding: snapshot.resharding,
        servers: snapshot.servers().map(|(server, status)| Server { server, status }).collect(),
        instances: snapshot.instances().map(|(id, _)| id).collect(),
        items: snapshot.shards(now),
        findings,
    };
    if as_json { json(&status) } else { text(snapshot, &status) }
}

fn text(snapshot: &JobSnapshot, status: &Status<'_>) -> String {
    let zone_is_given = snapshot.usable().is_some_and(|configuration| configuration.settings().time_zone.is_some());
    let fires = match (&status.cron, &status.time_zone) {
        (Some(cron), Some(zone)) if zone_is_given => format!("{cron} in {zone}"),
        (Some(cron), Some(zone)) => format!("{cron} (it names no time zone: shown in {zone}, that of this host)"),
        _ => match &snapshot.configuration {
            Some(Ok(configuration)) if configuration.fires_by_itself() => {
                let jobs: Vec<String> = configuration.depends_on().iter().map(ToString::to_string).collect();
                format!("after {}", jobs.join(", "))
            }
            Some(Ok(_)) => "when it is triggered".to_owned(),
            Some(Err(_)) => "not known: its configuration cannot be used".to_owned(),
            None => "not known: it has no configuration".to_owned(),
        },
    };
    let servers: Vec<String> =
        status.servers.iter().map(|server| format!("{} {}", server.server, server.status)).collect();
    let instances: Vec<&str> = status.instances.iter().map(|id| id.as_str()).collect();
    let or_none = |list: &[&str]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    let lines = [
        ("job", status.job.to_string()),
        ("status", status.status.as_str().to_owned()),
        ("fires", fires),
        ("next", or_dash(status.next_fire, zone_of(snapshot))),
        ("leader", status.leader.map_or_else(|| "none".to_owned(), ToString::to_string)),
        ("servers", or_none(&servers)),
        ("instances", or_none(&instances)),
    ];
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:<11}{value}\n")).collect();
    text.push('\n');
    text.push_str(&items(snapshot, &status.items));
    if !status.findings.is_empty() {
        text.push('\n');
        text.extend(status.findings.iter().map(|finding| format!("! {finding}\n")));
    }
    text
}
