//! The facts that an observer of jobs gets.

use std::sync::{Arc, Mutex};

use super::super::ShutdownMode;
use super::super::observed::Observed;
use super::*;
use crate::api::{JobError, JobFact, JobObserver};
use crate::engine::Notice;
use crate::fire::{CancelReason, ExecutionSource, Fire, FireState, LateCause, RunKey, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::schedule::{Schedule, TimeZone};

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl JobObserver for Heard {
    fn observe(&self, job: &JobName, fact: &JobFact<'_>) {
        let text = match fact {
            JobFact::Begun { source, late, cause, .. } => format!("begun {source} {} {cause:?}", late.is_some()),
            JobFact::ItemStarted { item } => format!("started {item}"),
            JobFact::ItemEnded { item, state, .. } => format!("ended {item} {state}"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(format!("{job}: {text}"));
    }
}

impl Heard {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn an_observer_hears_of_a_run_from_its_begin_to_the_end_of_its_items() {
    let heard = Heard::default();
    let environment = environment().with_observer(Arc::new(heard.clone()));
    let handler = item_handler(|context: ShardingContext| async move {
        if context.sharding_item() == 0 { Ok(()) } else { Err(JobError::message("no")) }
    });
    let registry = environment.embedded_registry();
    let job = JobConfiguration::builder("job", 2).build().unwrap();
    let mut job = super::super::OneOffJobBootstrap::new(&environment, registry, job, handler).unwrap();
    job.start().await.unwrap();
    job.handle().execute().await.unwrap();
    let ends = |fact: &String| fact.contains("ended");
    soon(async {
        while heard.all().iter().filter(|fact| ends(fact)).count() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    job.shutdown(ShutdownMode::Graceful).await;
    let mut told = heard.all();
    told.retain(|fact| !fact.contains("Resharded"));
    told[4..].sort();
    let expected = [
        "job: Elected",
        "job: begun NORMAL_TRIGGER false None",
        "job: started 0",
        "job: started 1",
        "job: ended 0 SUCCEEDED",
        "job: ended 1 FAILED",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_notice_is_told_with_what_it_counts() {
    const FIRE: Fire = Fire::Scheduled(60_000);
    let heard = Heard::default();
    let mut observed = Observed::new(Arc::new(heard.clone()), "job".parse().unwrap());
    let schedule = Schedule::new("0 * * * * ?".parse().unwrap(), TimeZone::UTC);
    let key = RunKey::new(FIRE, ExecutionSource::NormalTrigger);
    let items: Vec<ShardingItem> = vec![0, 1];
    for notice in [
        Notice::BegunLate { fire: FIRE, items: items.clone(), seconds: 9, why: LateCause::Acquired },
        Notice::Begun { key, attempt: None, items: items.clone() },
        Notice::Begun { key, attempt: None, items: items.clone() },
        Notice::Missed { from: 60_000, until: 240_000 },
        Notice::Collapsed { earlier: 60_000, into: 120_000 },
        Notice::Skipped { fire: FIRE, items: Vec::new(), reason: SkipReason::Leaving },
        Notice::RunsCancelled { items: items.clone(), reason: CancelReason::Shutdown },
        Notice::NotStarted { key, items, reason: CancelReason::Shutdown },
        Notice::Finished { key, items: vec![(0, FireState::NotRun), (1, FireState::Succeeded)] },
        Notice::TakenOver { fire: FIRE, item: 0, from: Some(InstanceId::of_process("10.0.0.2", 7)) },
        Notice::Stale { fire: FIRE, item: 0 },
        Notice::Resharded { moved: vec!["0: a -> b".to_owned()], pinned: Vec::new() },
        Notice::Left,
    ] {
        observed.note(&notice, Some(&schedule), 69_000);
    }
    let expected = [
        "begun NORMAL_TRIGGER true Some(Acquired)",
        "begun NORMAL_TRIGGER true None",
        "Missed { fires: 3 }",
        "Collapsed",
        "Skipped { reason: Leaving }",
        "RunsCancelled { reason: Shutdown, items: 2 }",
        "NotRun { items: 2 }",
        "NotRun { items: 1 }",
        "TakenOver",
        "Stale",
        "Resharded { moved: 1 }",
    ];
    assert_eq!(heard.all(), expected.map(|fact| format!("job: {fact}")));
}

#[test]
fn a_panic_of_the_observer_is_caught() {
    struct Panics;
    impl JobObserver for Panics {
        fn observe(&self, _: &JobName, fact: &JobFact<'_>) {
            assert!(matches!(fact, JobFact::Elected), "an observer without patience");
        }
    }
    let mut observed = Observed::new(Arc::new(Panics), "job".parse().unwrap());
    observed.note(&Notice::Collapsed { earlier: 0, into: 1 }, None, 0);
    observed.note(&Notice::Elected, None, 0);
}
