//! Operations and views while another client writes, or while answers get lost.

use std::pin::Pin;
use std::sync::Mutex;

use tokio::sync::watch;

use super::rerun::NEW_YEAR;
use super::*;
use crate::registry::memory::MemoryRegistryCenter;
use crate::registry::{Answer, CommitError, Committed, NodeData, Proof, RequestCount, SessionState, WatchStream};

/// A registry center that disturbs the first transaction right before its commit, or a view in the midst of its reads.
#[derive(Debug)]
struct Busy {
    center: MemoryRegistryCenter,
    before: Mutex<Option<Before>>,
}

#[derive(Debug)]
enum Before {
    /// Another client commits this.
    Other(Transaction),
    /// Another client commits this as soon as the children of that node are listed.
    Listed(&'static str, Transaction),
    /// Another client commits this as soon as that node is read.
    Read(&'static str, Transaction),
    /// The answer gets lost.
    Lost,
}

impl Busy {
    /// What was read, with a transaction of another client right after it.
    fn then<T: Send + 'static>(&self, read: Answer<T>, other: Transaction) -> Answer<T> {
        let other = self.center.commit(other);
        Box::pin(async move {
            let read = read.await?;
            other.await.unwrap();
            Ok(read)
        })
    }
}

impl RegistryCenter for Busy {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        let node = self.center.get(path);
        match self.before.lock().unwrap().take_if(|before| matches!(before, Before::Read(of, _) if *of == path)) {
            Some(Before::Read(_, other)) => self.then(node, other),
            _ => node,
        }
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        let children = self.center.children(path);
        match self.before.lock().unwrap().take_if(|before| matches!(before, Before::Listed(of, _) if *of == path)) {
            Some(Before::Listed(_, other)) => self.then(children, other),
            _ => children,
        }
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        match self.before.lock().unwrap().take() {
            None | Some(Before::Listed(..) | Before::Read(..)) => self.center.commit(transaction),
            Some(Before::Other(other)) => {
                let (other, own) = (self.center.commit(other), self.center.commit(transaction));
                Box::pin(async {
                    other.await?;
                    own.await
                })
            }
            Some(Before::Lost) => {
                let applied = self.center.commit(transaction);
                Box::pin(async {
                    applied.await?;
                    Err(CommitError::Unknown { why: "the connection broke".into() })
                })
            }
        }
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.center.watch(path)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.center.session()
    }

    fn proof(&self) -> Option<Proof> {
        self.center.proof()
    }

    fn requests(&self) -> RequestCount {
        self.center.requests()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.center.close()
    }
}

fn busy(desk: &Desk, before: Before) -> Operations {
    Operations::new(Arc::new(Busy { center: desk.memory.connect(), before: Mutex::new(Some(before)) }))
}

fn other(change: impl FnOnce(&mut Transaction) -> usize) -> Before {
    let mut transaction = Transaction::new();
    change(&mut transaction);
    Before::Other(transaction)
}

#[tokio::test]
async fn who_leaves_while_a_job_is_triggered_gets_no_trigger_and_the_others_do() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/instances/10.0.0.1@-@8", ""),
    ])
    .await;
    let leaves = other(|txn| txn.delete("/job/instances/10.0.0.1@-@7", None));
    let outcome = busy(&desk, leaves).trigger(&Target::Job(name("job"))).await.unwrap().instances;
    assert_eq!(outcome.changed.iter().map(|one| one.instance.as_str()).collect::<Vec<_>>(), ["10.0.0.1@-@8"]);
    assert_eq!(desk.operations.names("/job/trigger".into()).await.unwrap(), ["10.0.0.1@-@8"]);
}

/// The item of a job with one instance; `joined` is a second one, to which the item moves.
async fn one_item(desk: &Desk) -> Transaction {
    desk.write(&[
        ("/job/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\nmonitorExecution: true\n"),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
    ])
    .await;
    let mut joined = Transaction::new();
    joined.create("/job/instances/10.0.0.1@-@8", "", CreateMode::Ephemeral);
    joined.set("/job/sharding", "", None);
    joined.set("/job/sharding/0/instance", "10.0.0.1@-@8", None);
    joined
}

#[tokio::test]
async fn an_item_that_moves_while_its_job_is_triggered_is_not_left_out() {
    let desk = Desk::new();
    let joined = one_item(&desk).await;
    busy(&desk, Before::Other(joined)).trigger(&Target::Job(name("job"))).await.unwrap();
    assert_eq!(desk.operations.names("/job/trigger".into()).await.unwrap(), ["10.0.0.1@-@7", "10.0.0.1@-@8"]);
}

#[tokio::test]
async fn an_item_that_moves_while_a_fire_is_run_again_is_not_left_out() {
    let desk = Desk::new();
    let joined = one_item(&desk).await;
    busy(&desk, Before::Other(joined)).rerun(&name("job"), NEW_YEAR).await.unwrap();
    assert_eq!(desk.operations.names("/job/trigger".into()).await.unwrap(), ["10.0.0.1@-@7", "10.0.0.1@-@8"]);
}

#[tokio::test]
async fn a_job_whose_run_ends_while_it_is_read_does_not_fail() {
    let desk = Desk::new();
    let record = |state: &str| {
        format!(r#"{{"last":{{"at":1,"instance":"10.0.0.1@-@7","attempt":"2-00000007.1","state":"{state}"}}}}"#)
    };
    desk.write(&[
        ("/job/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\n"),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
        ("/job/sharding/0/fire", &record("RUNNING")),
        ("/job/sharding/0/running", "10.0.0.1@-@7"),
    ])
    .await;
    let mut ends = Transaction::new();
    ends.delete("/job/sharding/0/running", None);
    ends.set("/job/sharding/0/fire", record("SUCCEEDED"), None);
    let jobs = busy(&desk, Before::Read("/job/sharding/0/fire", ends)).jobs().await.unwrap();
    assert_eq!(jobs[0].status, JobState::Ok, "{jobs:?}");
    desk.write(&[("/job/sharding/0/fire", &record("RUNNING"))]).await;
    assert_eq!(desk.operations.jobs().await.unwrap()[0].status, JobState::Failing, "one without a mark is lost");
}

#[tokio::test]
async fn a_run_that_begins_while_its_item_is_read_is_not_lost() {
    let desk = Desk::new();
    desk.write(&[
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
        ("/job/sharding/0/fire", ""),
    ])
    .await;
    let record = r#"{"last":{"at":1,"instance":"10.0.0.1@-@7","attempt":"2-00000007.1","state":"RUNNING"}}"#;
    let mut begins = Transaction::new();
    begins.create("/job/sharding/0/running", "10.0.0.1@-@7", CreateMode::Ephemeral);
    begins.set("/job/sharding/0/fire", record, None);
    let snapshot = busy(&desk, Before::Listed("/job/sharding/0", begins)).snapshot(&name("job")).await.unwrap();
    let findings = snapshot.findings_of(0, 0);
    assert!(findings.iter().any(|one| matches!(one.reason, Reason::Running { .. })), "{findings:?}");
    assert!(!findings.iter().any(|one| matches!(one.reason, Reason::LeftUndone(_))), "{findings:?}");
}

#[tokio::test]
async fn a_server_that_is_forgotten_while_it_is_disabled_is_not_made_again() {
    let desk = Desk::new();
    desk.write(&[("/job/servers/10.0.0.1", "ENABLED")]).await;
    let swept = other(|txn| txn.delete("/job/servers/10.0.0.1", None));
    let error = busy(&desk, swept).disable_servers(&Target::Job(name("job"))).await.unwrap_err();
    assert!(matches!(error, OperationError::NothingMatched { .. }), "{error}");
    assert_eq!(desk.text("/job/servers/10.0.0.1").await, None);
}

#[tokio::test]
async fn what_two_operators_do_at_once_is_done_once() {
    let desk = Desk::new();
    desk.write(&[("/job/sharding/0", ""), ("/job/servers/10.0.0.1", "ENABLED")]).await;
    let disables = other(|txn| txn.create("/job/sharding/0/disabled", "", CreateMode::Persistent));
    let outcome = busy(&desk, disables).disable_item(&name("job"), 0).await.unwrap();
    assert_eq!((outcome.changed.len(), outcome.unchanged.len()), (0, 1));
    let disables = other(|txn| txn.set("/job/servers/10.0.0.1", "DISABLED", None));
    let outcome = busy(&desk, disables).disable_servers(&Target::Job(name("job"))).await.unwrap();
    assert_eq!((outcome.changed.len(), outcome.unchanged.len()), (0, 1));
}

#[tokio::test]
async fn an_instance_that_comes_while_its_job_is_removed_refuses_that() {
    let desk = Desk::new();
    desk.write(&[("/job/config", ""), ("/job/instances", "")]).await;
    let comes = || other(|txn| txn.create("/job/instances/10.0.0.1@-@7", "", CreateMode::Persistent));
    let error = busy(&desk, comes()).remove_job(&name("job"), Force::No).await.unwrap_err();
    assert!(matches!(error, OperationError::InstancesOnline { .. }), "{error}");
    assert!(desk.text("/job/config").await.is_some(), "nothing is gone");
    desk.operations.shut_down(&Target::Job(name("job"))).await.unwrap();
    let removed = busy(&desk, comes()).remove_job(&name("job"), Force::Yes).await.unwrap();
    assert_eq!(removed.instances.len(), 1);
    assert_eq!(desk.operations.job_names().await.unwrap(), []);
}

#[tokio::test]
async fn a_lost_answer_is_said_and_nothing_is_written_again() {
    let desk = Desk::new();
    desk.write(&[("/job/servers/10.0.0.1", "ENABLED"), ("/job/instances/10.0.0.1@-@7", "")]).await;
    let operations = busy(&desk, Before::Lost);
    let error = operations.trigger(&Target::Job(name("job"))).await.unwrap_err();
    assert!(error.is_unreachable() && error.to_string().contains("got lost"), "{error}");
    assert_eq!(operations.registry.requests().writes, 1);
}
