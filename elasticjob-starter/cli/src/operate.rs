//! Commands that change something. Each reports what it did.

use elasticjob::fire::CancelRequest;
use elasticjob::ident::JobName;
use elasticjob::operations::dump::Addresses;
use elasticjob::operations::{Force, ItemOfJob, ItemSet, Operations, Outcome, Target};
use elasticjob::schedule::{TimeZone, format_rfc3339};
use serde::Serialize;

use crate::args::{Cancel, Of, Rerun, Switch, Trigger};
use crate::failure::Failure;
use crate::table::json;

/// A line for each part of the target: the changed parts first, then the unchanged ones.
fn told<T: Serialize>(
    outcome: &Outcome<T>,
    as_json: bool,
    changed: impl Fn(&T) -> String,
    unchanged: impl Fn(&T) -> String,
) -> String {
    if as_json {
        return json(outcome);
    }
    let lines = outcome.changed.iter().map(changed).chain(outcome.unchanged.iter().map(unchanged));
    lines.map(|line| line + "\n").collect()
}

fn target(of: Of) -> Result<Target, Failure> {
    Target::new(of.job, of.server).ok_or_else(|| Failure::Usage("give --job, --server or both".to_owned()))
}

pub(crate) async fn trigger(operations: &Operations, what: Trigger, as_json: bool) -> Result<String, Failure> {
    let target = target(Of { job: what.job, server: what.server })?;
    let outcome = operations.trigger(&target).await?;
    if as_json {
        return Ok(json(&outcome));
    }
    let lines = told(
        &outcome.instances,
        false,
        |one| format!("triggered job '{}' on {}", one.job, one.instance),
        |one| format!("job '{}' was triggered on {} before, and has not begun yet", one.job, one.instance),
    );
    Ok(lines + &left_out(&outcome.without_instance))
}

/// A line for the items of a job that was triggered which do not run; nothing where all of them do.
fn left_out(without_instance: &[ItemOfJob]) -> String {
    let Some(ItemOfJob { job, .. }) = without_instance.first() else { return String::new() };
    let items: ItemSet = without_instance.iter().map(|one| one.item).collect();
    format!(
        "without the items {items} of job '{job}': no instance that is online and enabled has them, or theirs has yet to begin an older trigger\n"
    )
}

pub(crate) async fn rerun(operations: &Operations, what: Rerun, as_json: bool) -> Result<String, Failure> {
    let asked = operations.rerun(&what.job, what.fire.timestamp_millis()).await?;
    if as_json {
        return Ok(json(&asked));
    }
    let at = format_rfc3339(asked.rerun.of, TimeZone::UTC);
    let instances = asked.instances.iter();
    let mut text: String = instances
        .map(|one| format!("running the fire of {at} of job '{}' again on {}\n", one.job, one.instance))
        .collect();
    text.push_str(&left_out(&asked.without_instance));
    if !asked.follow.is_empty() {
        let jobs: Vec<&str> = asked.follow.iter().map(JobName::as_str).collect();
        text.push_str(&format!("after it, as it ends: {}\n", jobs.join(", ")));
    }
    Ok(text)
}

pub(crate) async fn cancel(
    operations: &Operations,
    what: Cancel,
    request: &CancelRequest,
    as_json: bool,
) -> Result<String, Failure> {
    let outcome = operations.cancel(&what.job, what.item, request).await?;
    Ok(told(
        &outcome,
        as_json,
        |one| format!("asked the run of item {} of job '{}' to end", one.item, one.job),
        |one| format!("the run of item {} of job '{}' was asked to end before", one.item, one.job),
    ))
}

pub(crate) async fn switch(
    operations: &Operations,
    what: Switch,
    enable: bool,
    as_json: bool,
) -> Result<String, Failure> {
    let (done, is) = if enable { ("enabled", "is enabled") } else { ("disabled", "is disabled") };
    if let (Some(job), Some(item)) = (&what.of.job, what.item) {
        let outcome = match enable {
            true => operations.enable_item(job, item).await?,
            false => operations.disable_item(job, item).await?,
        };
        return Ok(told(
            &outcome,
            as_json,
            |one| format!("{done} item {} of job '{}'", one.item, one.job),
            |one| format!("item {} of job '{}' {is} already", one.item, one.job),
        ));
    }
    let target = target(what.of)?;
    let outcome = match enable {
        true => operations.enable_servers(&target).await?,
        false => operations.disable_servers(&target).await?,
    };
    Ok(told(
        &outcome,
        as_json,
        |one| format!("{done} server {} of job '{}'", one.server, one.job),
        |one| format!("server {} of job '{}' {is} already", one.server, one.job),
    ))
}

pub(crate) async fn shut_down(operations: &Operations, of: Of, as_json: bool) -> Result<String, Failure> {
    let outcome = operations.shut_down(&target(of)?).await?;
    let line = |one: &elasticjob::operations::InstanceOfJob| {
        format!("asked instance {} of job '{}' to leave", one.instance, one.job)
    };
    Ok(told(&outcome, as_json, line, line))
}

pub(crate) async fn remove(operations: &Operations, of: Of, as_json: bool) -> Result<String, Failure> {
    let outcome = operations.remove_servers(&target(of)?, Force::Yes).await?;
    let line = |one: &elasticjob::operations::Removed| format!("removed {one}");
    Ok(told(&outcome, as_json, line, line))
}

pub(crate) async fn remove_job(
    operations: &Operations,
    job: &JobName,
    force: bool,
    as_json: bool,
) -> Result<String, Failure> {
    let removed = operations.remove_job(job, if force { Force::Yes } else { Force::No }).await?;
    if as_json {
        return Ok(json(&removed));
    }
    let instances = removed.instances.iter().map(|id| format!("asked instance {id} to leave\n"));
    let removed = format!("removed job '{}' with {} nodes\n", removed.job, removed.nodes);
    Ok(instances.chain([removed]).collect())
}

pub(crate) async fn dump(
    operations: &Operations,
    job: &JobName,
    hide_addresses: bool,
    as_json: bool,
) -> Result<String, Failure> {
    let addresses = if hide_addresses { Addresses::Hidden } else { Addresses::Shown };
    Ok(dumped(job, &operations.dump(job, addresses).await?, as_json))
}

/// The text of a dump.
pub(crate) fn dumped(job: &JobName, dump: &str, as_json: bool) -> String {
    if as_json { json(&serde_json::json!({ "job": job, "dump": dump })) } else { dump.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

    use super::*;

    #[tokio::test]
    async fn a_trigger_names_the_items_that_no_instance_has() {
        let ours = "jobInstanceId: 10.0.0.1@-@7\nserverIp: 10.0.0.1\n# elasticjob for Rust\n";
        let mut nodes = Transaction::new();
        for (path, data) in [
            ("/tick", ""),
            ("/tick/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 4\nstaticSharding: true\n"),
            ("/tick/servers", ""),
            ("/tick/servers/10.0.0.1", "ENABLED"),
            ("/tick/instances", ""),
            ("/tick/sharding", ""),
        ] {
            nodes.create(path, data, CreateMode::Persistent);
        }
        nodes.create("/tick/instances/10.0.0.1@-@7", ours, CreateMode::Ephemeral);
        for (item, owner) in (0..).zip(["10.0.0.1@-@7", "10.0.0.9@-@1", "10.0.0.9@-@1", "10.0.0.1@-@7"]) {
            nodes.create(format!("/tick/sharding/{item}"), "", CreateMode::Persistent);
            nodes.create(format!("/tick/sharding/{item}/instance"), owner, CreateMode::Persistent);
        }
        let instance = MemoryRegistry::new().connect();
        instance.commit(nodes).await.unwrap();
        let what = Trigger { job: Some(JobName::new("tick").unwrap()), server: None };
        let said = trigger(&Operations::new(Arc::new(instance)), what, false).await.unwrap();
        let without = "without the items 1-2 of job 'tick': no instance that is online and enabled has them, or theirs has yet to begin an older trigger\n";
        assert_eq!(said, format!("triggered job 'tick' on 10.0.0.1@-@7\n{without}"));
    }
}
