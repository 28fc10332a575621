//! Lists: jobs, servers, items.

use std::collections::BTreeMap;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{JobBrief, JobSnapshot, Operations, ShardInfo};

use crate::args::Jobs;
use crate::failure::Failure;
use crate::table::{Table, json};
use crate::time::{now, or_dash, zone_of};

pub(crate) async fn jobs(operations: &Operations, jobs: Jobs, as_json: bool) -> Result<String, Failure> {
    if let Some(server) = jobs.server {
        let jobs = operations.jobs_of_server(&server).await?;
        if jobs.is_empty() {
            // A server is known by its jobs alone. So an address without any is mistyped.
            return Err(Failure::NoServer(server));
        }
        if as_json {
            return Ok(json(&jobs));
        }
        let mut table = Table::new(["JOB", "SERVER", "INSTANCES"]);
        for job in jobs {
            table.row([job.job.to_string(), job.status.to_string(), job.instance_count.to_string()]);
        }
        return Ok(table.into_text());
    }
    let jobs = match jobs.job {
        Some(job) => vec![operations.job(&job).await?],
        None => operations.jobs().await?,
    };
    Ok(if as_json { json(&jobs) } else { briefs(&jobs) })
}

fn briefs(jobs: &[JobBrief]) -> String {
    let mut table = Table::new(["JOB", "STATUS", "ITEMS", "INSTANCES", "CRON", "DESCRIPTION"]);
    for job in jobs {
        let what = job.problem.as_ref().map(|problem| format!("cannot be used: {problem}"));
        table.row([
            job.job.to_string(),
            job.status.as_str().to_owned(),
            job.sharding_total_count.to_string(),
            job.instance_count.to_string(),
            job.cron.clone().unwrap_or_else(|| if what.is_some() { String::new() } else { "one-off".to_owned() }),
            what.or_else(|| failures(&job.failed_items)).unwrap_or_else(|| job.description.clone()),
        ]);
    }
    table.into_text()
}

/// The last failures: the error of the first item represents the others.
pub(crate) fn failures(failed: &BTreeMap<ShardingItem, String>) -> Option<String> {
    let (first, error) = failed.first_key_value()?;
    let others = match failed.len() - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let error = if error.is_empty() { "no instance finished it" } else { error };
    Some(format!("the last run failed of item {first}{others}: {error}"))
}

pub(crate) async fn servers(operations: &Operations, job: Option<JobName>, as_json: bool) -> Result<String, Failure> {
    if let Some(job) = job {
        let servers = operations.servers_of_job(&job).await?;
        if as_json {
            return Ok(json(&servers));
        }
        let mut table = Table::new(["SERVER", "STATUS", "INSTANCES"]);
        for server in servers {
            let status = server.status.map(|status| status.to_string()).unwrap_or_default();
            table.row([server.server, status, server.instances.len().to_string()]);
        }
        return Ok(table.into_text());
    }
    let servers = operations.servers().await?;
    if as_json {
        return Ok(json(&servers));
    }
    let mut table = Table::new(["SERVER", "INSTANCES", "JOBS", "DISABLED IN"]);
    for server in servers {
        let counts = [server.instances.len(), server.jobs.len(), server.disabled_jobs].map(|count| count.to_string());
        let [instances, jobs, disabled] = counts;
        table.row([server.server, instances, jobs, disabled]);
    }
    Ok(table.into_text())
}

pub(crate) async fn shards(operations: &Operations, job: &JobName, as_json: bool) -> Result<String, Failure> {
    let snapshot = operations.snapshot(job).await?;
    let shards = snapshot.shards(now());
    Ok(if as_json { json(&shards) } else { items(&snapshot, &shards) })
}

/// The table of the items.
pub(crate) fn items(snapshot: &JobSnapshot, shards: &[ShardInfo]) -> String {
    let zone = zone_of(snapshot);
    let mut table =
        Table::new(["ITEM", "PARAMETER", "STATUS", "INSTANCE", "FAILOVER", "LAST FIRE", "RESULT", "NEXT FIRE"]);
    for shard in shards {
        let result = shard.last.as_ref().map(|last| {
            let took = last.took.map(|took| format!(" {took} ms")).unwrap_or_default();
            // The column INSTANCE has the owner. Another one may run it, or have run it, since the item moved.
            let moved = shard.instance.as_ref() != Some(&last.instance);
            let by = if moved { format!(" on {}", last.instance) } else { String::new() };
            format!("{}{took}{by}", last.state)
        });
        table.row([
            shard.item.to_string(),
            shard.parameter.clone().unwrap_or_default(),
            shard.status.as_str().to_owned(),
            shard.instance.as_ref().map(ToString::to_string).unwrap_or_default(),
            if shard.failover { "yes".to_owned() } else { String::new() },
            or_dash(shard.last.as_ref().map(|last| last.at), zone),
            result.unwrap_or_default(),
            or_dash(shard.next_fire, zone),
        ]);
    }
    table.into_text()
}
