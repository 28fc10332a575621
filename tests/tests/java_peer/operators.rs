//! The operations of each kind on instances of both.

use std::sync::Arc;

use elasticjob::config::wire;
use elasticjob::operations::Target;
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::{History, Run, now_us, pid_of};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{ITEMS, JOB, Kind, LIMIT, Mixed, each_second, job_name};

pub async fn configured(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    let (mixed, pids) = Mixed::pair(&server, &peer, "configured", each_second()).await;

    let read = mixed.operations().configuration(&job_name()).await.expect("it can be read");
    let mut settings = read.configuration.settings();
    settings.sharding_total_count = Some(6);
    mixed.operations().update_configuration(&read, &settings).await.expect("it can be changed");
    mixed.split(6, &pids, now_us() / 1_000).await;

    let mut java = mixed.java_operator();
    let text = java.perform("configuration", &[Some(JOB)]);
    let text = text.as_str().expect("YAML");
    assert_eq!(mixed.node(JOB, "config").await.as_deref(), Some(text), "Java writes what it reads as it was");
    let changed = text.replace("cron: '* * * * * ?'", "cron: 0/2 * * * * ?").replace("TotalCount: 6", "TotalCount: 3");
    java.perform("configure", &[Some(&changed)]);
    let changed_ms = now_us() / 1_000;
    let last = mixed.split(3, &pids, changed_ms).await;
    let fires = mixed.group.history().fires(JOB);
    // One that was due at that very moment may have been begun.
    let odd: Vec<&i64> = fires.range(changed_ms + 1_000..=last).filter(|fire| *fire % 2_000 != 0).collect();
    assert!(odd.is_empty(), "{odd:?}\n{}", mixed.group.logs());
    let stored = mixed.node(JOB, "config").await.expect("it is there");
    let read = mixed.operations().configuration(&job_name()).await.expect("what Java wrote can be read");
    assert_eq!(wire::to_yaml(&read.configuration), stored, "and would be written alike");
}

pub async fn triggered(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    // By itself it fires at the turn of the year alone.
    let job = JobPlan { cron: "0 0 0 1 1 ?".to_owned(), ..each_second() };
    let mut mixed = Mixed::new(&server, &peer, "triggered", vec![job]).await;
    let rust = mixed.start(Kind::Rust).await;
    // A Rust leader assigns the items at once, a Java leader when the job fires.
    mixed.until("a leader", async || mixed.leader(JOB).await).await;
    let mut pids = [rust, mixed.start(Kind::Java).await];
    pids.sort_unstable();
    let shared = async || {
        let owners = mixed.owners(JOB, ITEMS).await;
        let mut by: Vec<u32> = owners.values().filter_map(|owner| pid_of(owner)).collect();
        by.sort_unstable();
        by.dedup();
        (owners.len() == ITEMS as usize && by == pids).then_some(())
    };
    mixed.until("items of both", shared).await;
    let mut java = mixed.java_operator();
    for operator in Kind::BOTH {
        let since_us = now_us();
        match operator {
            Kind::Rust => {
                drop(mixed.operations().trigger(&Target::Job(job_name())).await.expect("it can be triggered"))
            }
            Kind::Java => drop(java.perform("trigger", &[Some(JOB)])),
        }
        let all = |history: &History| {
            let runs: Vec<&Run> =
                history.runs.iter().filter(|run| run.began_us > since_us && run.end.is_some()).collect();
            let mut items: Vec<u32> = runs.iter().map(|run| run.item).collect();
            items.sort_unstable();
            let mut by: Vec<u32> = runs.iter().map(|run| run.pid).collect();
            by.sort_unstable();
            by.dedup();
            (items == Vec::from_iter(0..ITEMS) && by == pids).then_some(())
        };
        mixed.group.wait(&format!("every item once, by a trigger from {operator:?}"), LIMIT, all).await;
    }
    assert_eq!(mixed.children(JOB, "trigger").await, [""; 0]);
}

pub async fn item_disabled(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    let (mixed, pids) = Mixed::pair(&server, &peer, "item-disabled", each_second()).await;
    let (operations, mut java) = (mixed.operations(), mixed.java_operator());
    let item_of = |pid: u32| {
        let owners = mixed.group.history();
        let last = *owners.fires(JOB).last().expect("fires");
        owners.owners(JOB, last - 1_000).into_iter().find(|(_, owner)| *owner == pid).expect("an item").0
    };
    // Each kind on an item of the other.
    let (of_java, of_rust) = (item_of(pids[1]), item_of(pids[0]));
    operations.disable_item(&job_name(), of_java).await.expect("it can be disabled");
    java.perform("disable-item", &[Some(JOB), Some(&of_rust.to_string())]);
    let disabled = now_us() / 1_000 + 1_000;
    let without = |history: &History| {
        let fires = history.fires(JOB);
        let later: Vec<i64> = fires.range(disabled..).copied().collect();
        later.get(3).map(|_| later.iter().flat_map(|fire| history.owners(JOB, *fire).into_keys()).collect::<Vec<u32>>())
    };
    let run = mixed.group.wait("fires without the items", LIMIT, without).await;
    assert!(!run.contains(&of_rust) && !run.contains(&of_java), "{run:?}\n{}", mixed.group.logs());

    // Each kind enables what the other disabled.
    operations.enable_item(&job_name(), of_rust).await.expect("it can be enabled");
    java.perform("enable-item", &[Some(JOB), Some(&of_java.to_string())]);
    mixed.split(ITEMS, &pids, now_us() / 1_000).await;
}

pub async fn server_disabled(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    let (mixed, pids) = Mixed::pair(&server, &peer, "server-disabled", each_second()).await;
    let (operations, mut java, ip) = (mixed.operations(), mixed.java_operator(), mixed.ip().await);
    let target = Target::ServerOfJob(job_name(), ip.clone());
    for operator in Kind::BOTH {
        match operator {
            Kind::Rust => drop(operations.disable_servers(&target).await.expect("it can be disabled")),
            Kind::Java => drop(java.perform("disable-server", &[Some(JOB), Some(&ip)])),
        }
        mixed.until("nobody leads", async || mixed.leader(JOB).await.is_none().then_some(())).await;
        // A fire that was due at that very moment may have been begun.
        let disabled = now_us() / 1_000 + 2_000;
        mixed.until("some more seconds", async || (now_us() / 1_000 > disabled + 3_000).then_some(())).await;
        let begun: Vec<i64> = mixed.group.history().fires(JOB).range(disabled..).copied().collect();
        assert!(begun.is_empty(), "disabled by {operator:?}: {begun:?}\n{}", mixed.group.logs());
        match operator {
            Kind::Rust => drop(java.perform("enable-server", &[Some(JOB), Some(&ip)])),
            Kind::Java => drop(operations.enable_servers(&target).await.expect("it can be enabled")),
        }
        mixed.split(ITEMS, &pids, now_us() / 1_000).await;
        assert!(mixed.leader(JOB).await.is_some());
    }
}

pub async fn shut_down(server: Arc<ZookeeperServer>, peer: Arc<JavaPeer>) {
    let (mut mixed, _) = Mixed::pair(&server, &peer, "shut-down", each_second()).await;
    let ip = mixed.ip().await;
    let no_instance = async |mixed: &Mixed| {
        let gone = async || mixed.children(JOB, "instances").await.is_empty().then_some(());
        mixed.until("no instance", gone).await;
    };
    // By server and by job: both reach the instances of both kinds.
    mixed.java_operator().perform("shutdown", &[Some(JOB), Some(&ip)]);
    no_instance(&mixed).await;
    let shown = mixed.operations().job(&job_name()).await.expect("the job is still there");
    assert_eq!(shown.instance_count, 0, "{shown:?}");

    let pids = [mixed.start(Kind::Java).await, mixed.start(Kind::Rust).await];
    mixed.split(ITEMS, &pids, now_us() / 1_000).await;
    let shut = mixed.operations().shut_down(&Target::Job(job_name())).await.expect("it can be shut down");
    let mut of: Vec<u32> =
        shut.changed.iter().map(|one| pid_of(&one.instance.to_string()).expect("the id of a process")).collect();
    of.sort_unstable();
    let mut wanted = pids;
    wanted.sort_unstable();
    assert_eq!(of, wanted);
    no_instance(&mixed).await;
    let shut_ms = now_us() / 1_000 + 1_000;
    mixed.until("some more seconds", async || (now_us() / 1_000 > shut_ms + 3_000).then_some(())).await;
    let begun: Vec<i64> = mixed.group.history().fires(JOB).range(shut_ms..).copied().collect();
    assert!(begun.is_empty(), "{begun:?}\n{}", mixed.group.logs());
}
