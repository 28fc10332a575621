use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use chrono::DateTime;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::api::{JobError, JobListener, JobResult, ListenerRound, OnceJobListener, RunInfo};
use crate::config::JobConfiguration;
use crate::fire::{ExecutionSource, Fire, RunKey};
use crate::ident::InstanceId;

const LONG: Duration = Duration::from_secs(20);

/// The reports of listeners and of their calls.
#[derive(Debug, PartialEq)]
enum Told {
    Called(&'static str, Hook),
    Failed(String, String),
    Gone,
    Ended,
}

/// The behavior of a listener when it is called.
#[derive(Clone, Copy)]
enum Does {
    Return,
    Fail,
    Panic,
    /// Returns when its token fires.
    Listen,
    /// Never returns.
    Hang,
}

struct Probe {
    name: &'static str,
    does: Does,
    told: Sender<Told>,
}

/// A value that a call owns. It reports when it is dropped.
struct Owned(Sender<Told>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.send(Told::Gone).unwrap();
    }
}

impl Probe {
    async fn called(&self, hook: Hook, context: &ListenerContext) -> JobResult {
        self.told.send(Told::Called(self.name, hook)).unwrap();
        match self.does {
            Does::Return => Ok(()),
            Does::Fail => Err(JobError::message("disk is full")),
            Does::Panic => panic!("as planned"),
            Does::Listen => {
                context.cancelled().await;
                Err(JobError::message("cancelled"))
            }
            Does::Hang => {
                let _owned = Owned(self.told.clone());
                std::future::pending().await
            }
        }
    }
}

impl JobListener for Probe {
    fn type_name(&self) -> &str {
        self.name
    }

    async fn before_job_executed(&self, context: &ListenerContext) -> JobResult {
        self.called(Hook::Before, context).await
    }

    async fn after_job_executed(&self, context: &ListenerContext) -> JobResult {
        self.called(Hook::After, context).await
    }
}

impl OnceJobListener for Probe {
    fn type_name(&self) -> &str {
        self.name
    }

    async fn at_last_started(&self, context: &ListenerContext) -> JobResult {
        self.called(Hook::Before, context).await
    }

    async fn at_last_completed(&self, context: &ListenerContext) -> JobResult {
        self.called(Hook::After, context).await
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn context() -> ListenerContext {
    let instance = InstanceId::of_process("10.0.0.1", 7);
    let configuration = JobConfiguration::builder("reports", 3).sharding_item_parameters("0=a,2=c").build().unwrap();
    ListenerContext::new(ListenerRound {
        run: Arc::new(RunInfo::new(
            RunKey::new(Fire::Scheduled(0), ExecutionSource::NormalTrigger),
            Arc::new(configuration),
            instance,
            vec![0, 1],
            DateTime::UNIX_EPOCH.fixed_offset(),
        )),
        cancellation: CancellationToken::new(),
    })
}

/// Calls listeners that every instance calls, and returns their reports.
fn call(runtime: &Runtime, hook: Hook, listeners: &[(&'static str, Does)]) -> (Running, Receiver<Told>) {
    let (told, heard) = channel();
    let listeners = listeners
        .iter()
        .map(|(name, does)| Arc::new(AnyJobListener::every_instance(Probe { name, does: *does, told: told.clone() })));
    (spawn(runtime, hook, listeners.collect(), &told), heard)
}

fn spawn(runtime: &Runtime, hook: Hook, listeners: Vec<Arc<AnyJobListener>>, told: &Sender<Told>) -> Running {
    let (failed, ended) = (told.clone(), told.clone());
    let on_failure = move |listener: &AnyJobListener, why| {
        failed.send(Told::Failed(listener.type_name().to_owned(), why)).unwrap();
    };
    let on_end = move || ended.send(Told::Ended).unwrap();
    spawn_listeners(runtime.handle(), listeners, hook, context(), on_failure, on_end)
}

/// The remaining reports. Returns when everything of the call is dropped.
fn rest(heard: Receiver<Told>) -> Vec<Told> {
    std::iter::from_fn(|| heard.recv_timeout(LONG).ok()).collect()
}

fn failed(name: &str, why: &str) -> Told {
    Told::Failed(name.to_owned(), why.to_owned())
}

#[test]
fn listeners_are_called_one_after_the_other() {
    let runtime = runtime();
    for hook in [Hook::Before, Hook::After] {
        let (_, heard) = call(&runtime, hook, &[("a", Does::Return), ("b", Does::Return)]);
        assert_eq!(rest(heard), [Told::Called("a", hook), Told::Called("b", hook), Told::Ended]);
    }
}

#[test]
fn an_error_or_a_panic_is_told_and_the_next_one_is_called() {
    let runtime = runtime();
    let listeners = [("a", Does::Fail), ("b", Does::Panic), ("c", Does::Return)];
    let (_, heard) = call(&runtime, Hook::Before, &listeners);
    let called = |name| Told::Called(name, Hook::Before);
    let mut heard = rest(heard);
    let Told::Failed(name, panic) = heard.remove(3) else { panic!("{heard:?}") };
    assert!(name == "b" && panic.starts_with("it panicked at ") && panic.ends_with(": as planned"), "{panic}");
    assert_eq!(heard, [called("a"), failed("a", "disk is full"), called("b"), called("c"), Told::Ended]);
}

#[test]
fn both_kinds_are_called_for_their_hooks() {
    let runtime = runtime();
    for hook in [Hook::Before, Hook::After] {
        let (told, heard) = channel();
        let once = AnyJobListener::once(Probe { name: "once", does: Does::Return, told: told.clone() });
        assert!(once.spec().once.is_some());
        spawn(&runtime, hook, vec![Arc::new(once)], &told);
        drop(told);
        assert_eq!(rest(heard), [Told::Called("once", hook), Told::Ended]);
    }
}

#[test]
fn cancelling_fires_the_token_of_the_context() {
    let runtime = runtime();
    let (running, heard) = call(&runtime, Hook::After, &[("a", Does::Listen)]);
    running.cancel();
    assert_eq!(rest(heard), [Told::Called("a", Hook::After), failed("a", "cancelled"), Told::Ended]);
}

#[test]
fn an_aborted_call_is_dropped_and_the_next_listener_is_not_called() {
    let runtime = runtime();
    let (running, heard) = call(&runtime, Hook::Before, &[("a", Does::Hang), ("b", Does::Return)]);
    assert_eq!(heard.recv_timeout(LONG), Ok(Told::Called("a", Hook::Before)));
    running.abort();
    assert_eq!(rest(heard), [Told::Gone, Told::Ended]);
}

#[test]
fn a_runtime_that_was_shut_down_ends_the_call_at_once() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    drop(runtime);
    let (told, heard) = channel();
    let listener = AnyJobListener::every_instance(Probe { name: "a", does: Does::Return, told: told.clone() });
    let on_end = move || told.send(Told::Ended).unwrap();
    spawn_listeners(&handle, vec![Arc::new(listener)], Hook::Before, context(), |_, _| {}, on_end);
    assert_eq!(rest(heard), [Told::Ended]);
}

#[test]
fn a_context_tells_the_items_with_their_parameters() {
    assert_eq!(context().sharding_items().collect::<Vec<_>>(), [(0, Some("a")), (1, None)]);
    assert_eq!(context().sharding_total_count(), 3);
}
