//! Events on their way to a storage of the test.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::Utc;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::*;
use crate::ident::{InstanceId, JobName, TaskId};
use crate::test_log::Logged;

/// How many events were posted, written and lost.
fn totals(tracing: &Tracing) -> (u64, u64, u64) {
    let TracingCounts { posted, written, lost, .. } = tracing.counts();
    (posted, written, lost)
}

/// The answers of the storage, and the events that it took.
#[derive(Clone)]
struct Played {
    answers: watch::Sender<Answer>,
    batches: Arc<Mutex<Vec<Vec<String>>>>,
    attempts: watch::Sender<u32>,
}

#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Takes,
    IsAway,
    Hangs,
    Refuses(&'static str),
    PanicsAt(&'static str),
}

impl Played {
    fn new(answer: Answer) -> Self {
        Self { answers: watch::Sender::new(answer), batches: Arc::default(), attempts: watch::Sender::new(0) }
    }

    fn start(&self, queue: usize) -> Tracing {
        Tracing::start(TracingConfiguration::new(self.clone()).queue(queue), &Handle::current())
    }

    async fn attempts(&self, at_least: u32) {
        self.attempts.subscribe().wait_for(|attempts| *attempts >= at_least).await.unwrap();
    }

    fn batches(&self) -> Vec<Vec<String>> {
        self.batches.lock().unwrap().clone()
    }
}

impl TracingStorage for Played {
    fn type_name(&self) -> &str {
        "PLAYED"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        self.attempts.send_modify(|attempts| *attempts += 1);
        let names: Vec<String> = events.iter().map(|event| event.job_name().to_string()).collect();
        let answer = self.answers.borrow().clone();
        match answer {
            Answer::Takes => {}
            Answer::IsAway => return Err(WriteError::Unavailable("away".to_owned())),
            Answer::Hangs => std::future::pending().await,
            Answer::Refuses(name) if names.iter().any(|known| known == name) => {
                return Err(WriteError::Refused(format!("{name} is not for it")));
            }
            Answer::PanicsAt(name) if names.iter().any(|known| known == name) => panic!("{name} is too much for it"),
            Answer::Refuses(_) | Answer::PanicsAt(_) => {}
        }
        self.batches.lock().unwrap().push(names);
        Ok(())
    }
}

fn event(job: &str) -> JobEvent {
    let (job_name, instance) = (JobName::new(job).unwrap(), InstanceId::of_process("192.0.2.2", 7));
    JobEvent::Status(JobStatusTraceEvent {
        id: job.to_owned(),
        run_id: "run".into(),
        task_id: TaskId::new(&job_name, [0], &instance),
        job_name,
        instance,
        execution_type: ExecutionType::Ready,
        scheduled_at: None,
        attempt: None,
        sharding_items: vec![0],
        state: TaskState::Running,
        message: String::new(),
        creation_time: Utc::now(),
    })
}

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::test(start_paused = true)]
async fn events_are_written_together_in_their_order_and_the_last_ones_at_the_end() {
    let storage = Played::new(Answer::Takes);
    let tracing = storage.start(10_000);
    (0..2_500).for_each(|number| tracing.post(event(&number.to_string())));
    storage.attempts(3).await;
    tracing.post(event("last"));
    tracing.close(LIMIT).await;
    let batches = storage.batches();
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 1_000, 500, 1]);
    let expected: Vec<String> = (0..2_500).map(|number| number.to_string()).chain(["last".to_owned()]).collect();
    assert_eq!(batches.concat(), expected);
    assert_eq!(totals(&tracing), (2_501, 2_501, 0));
}

#[tokio::test(start_paused = true)]
async fn a_lone_event_waits_a_fifth_of_a_second_for_company() {
    let storage = Played::new(Answer::Takes);
    let tracing = storage.start(10);
    let began = tokio::time::Instant::now();
    tracing.post(event("lone"));
    storage.attempts(1).await;
    assert_eq!(began.elapsed(), Duration::from_millis(200));
}

#[tokio::test(start_paused = true)]
async fn while_the_storage_is_away_events_are_kept_up_to_the_bound_and_the_rest_is_counted() {
    let storage = Played::new(Answer::IsAway);
    let tracing = storage.start(1_500);
    // The writer holds these events; they take no room in the queue.
    (0..1_000).for_each(|number| tracing.post(event(&number.to_string())));
    storage.attempts(3).await;
    (1_000..3_000).for_each(|number| tracing.post(event(&number.to_string())));
    assert_eq!(totals(&tracing), (3_000, 0, 500));
    assert_eq!(tracing.counts().lost_by, LostEvents { queue_full: 500, ..LostEvents::default() });
    assert_eq!(tracing.queue_capacity(), 1_500);
    assert_eq!(tracing.counts().waiting(), 2_500);
    storage.answers.send_replace(Answer::Takes);
    tracing.close(LIMIT).await;
    assert_eq!(totals(&tracing), (3_000, 2_500, 500));
    assert_eq!(storage.batches().concat(), (0..2_500).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_refused_does_not_take_others_along() {
    let storage = Played::new(Answer::Refuses("b"));
    let tracing = storage.start(10);
    ["a", "b", "c"].into_iter().for_each(|name| tracing.post(event(name)));
    tracing.close(LIMIT).await;
    assert_eq!(storage.batches().concat(), ["a", "c"]);
    assert_eq!(totals(&tracing), (3, 2, 1));
    assert_eq!(tracing.counts().lost_by, LostEvents { refused: 1, ..LostEvents::default() });
}

#[tokio::test(start_paused = true)]
async fn a_refused_event_among_many_is_found_by_halves() {
    let storage = Played::new(Answer::Refuses("600"));
    let tracing = storage.start(1_000);
    (0..1_000).for_each(|number| tracing.post(event(&number.to_string())));
    tracing.close(LIMIT).await;
    assert_eq!(totals(&tracing), (1_000, 999, 1));
    let expected: Vec<String> = (0..1_000).filter(|number| *number != 600).map(|number| number.to_string()).collect();
    assert_eq!(storage.batches().concat(), expected);
    let attempts = *storage.attempts.borrow();
    assert!(attempts < 40, "{attempts} attempts");
}

#[tokio::test(start_paused = true)]
async fn long_texts_are_not_written_together_beyond_a_size() {
    let storage = Played::new(Answer::Takes);
    let tracing = storage.start(10);
    let with_text = |name: &str, bytes: usize| match event(name) {
        JobEvent::Status(state) => JobEvent::Status(JobStatusTraceEvent { message: "x".repeat(bytes), ..state }),
        other => other,
    };
    for (name, bytes) in [("a", 600_000), ("b", 400_000), ("c", 100_000), ("d", 2_000_000), ("e", 0)] {
        tracing.post(with_text(name, bytes));
    }
    tracing.close(LIMIT).await;
    assert_eq!(storage.batches(), [vec!["a", "b"], vec!["c"], vec!["d"], vec!["e"]]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_storage_is_said_and_costs_only_the_event_that_it_panics_at() {
    let logged = Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    let storage = Played::new(Answer::PanicsAt("b"));
    let tracing = storage.start(10);
    ["a", "b", "c"].into_iter().for_each(|name| tracing.post(event(name)));
    tracing.close(LIMIT).await;
    assert_eq!(storage.batches().concat(), ["a", "c"]);
    assert_eq!(totals(&tracing), (3, 2, 1));
    let (said, place) = ("ERROR tracing: an event is lost, the storage refuses it; 1 are lost so far: ", file!());
    let said = format!("{said}it panicked at {place}:");
    let lines = logged.lines();
    assert!(lines.iter().any(|line| line.starts_with(&said) && line.ends_with("b is too much for it")), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn an_end_does_not_wait_longer_than_it_may_for_a_storage() {
    for answer in [Answer::IsAway, Answer::Hangs] {
        let storage = Played::new(answer);
        let tracing = storage.start(10);
        tracing.post(event("a"));
        storage.attempts(1).await;
        tracing.post(event("b"));
        let began = tokio::time::Instant::now();
        assert_eq!(tracing.close(LIMIT).await, 2);
        assert_eq!(began.elapsed(), LIMIT);
        tracing.post(event("too late"));
        assert_eq!(totals(&tracing), (3, 0, 3));
        assert_eq!(tracing.counts().lost_by, LostEvents { queue_full: 1, not_in_time: 2, ..LostEvents::default() });
    }
}

#[tokio::test(start_paused = true)]
async fn a_storage_that_hangs_is_tried_again() {
    let storage = Played::new(Answer::Hangs);
    let tracing = storage.start(10);
    tracing.post(event("a"));
    storage.attempts(1).await;
    storage.answers.send_replace(Answer::Takes);
    tracing.close(Duration::from_secs(60)).await;
    assert_eq!(storage.batches().concat(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_too_old_is_removed_between_writes_as_often_as_the_storage_wants() {
    struct Cleans(watch::Sender<u32>);
    impl TracingStorage for Cleans {
        fn type_name(&self) -> &str {
            "CLEANS"
        }

        async fn write(&self, _: &[JobEvent]) -> Result<(), WriteError> {
            Ok(())
        }

        async fn clean(&self) -> Result<Option<Duration>, WriteError> {
            self.0.send_modify(|times| *times += 1);
            let times = *self.0.borrow();
            if times == 2 { Err(WriteError::Unavailable("not now".to_owned())) } else { Ok(Some(LIMIT)) }
        }
    }
    let times = watch::Sender::new(0);
    let mut cleaned = times.subscribe();
    let began = tokio::time::Instant::now();
    let tracing = Tracing::start(TracingConfiguration::new(Cleans(times)), &Handle::current());
    for (time, after) in [(1, 1), (2, 11), (3, 71), (4, 81)] {
        cleaned.wait_for(|times| *times >= time).await.unwrap();
        assert_eq!(began.elapsed(), Duration::from_secs(after));
    }
    tracing.close(LIMIT).await;
}

#[tokio::test(start_paused = true)]
async fn a_clean_up_that_does_not_come_to_its_end_is_said_and_tried_again() {
    struct Stumbles(watch::Sender<u32>);
    impl TracingStorage for Stumbles {
        fn type_name(&self) -> &str {
            "STUMBLES"
        }

        async fn write(&self, _: &[JobEvent]) -> Result<(), WriteError> {
            Ok(())
        }

        async fn clean(&self) -> Result<Option<Duration>, WriteError> {
            self.0.send_modify(|times| *times += 1);
            let times = *self.0.borrow();
            match times {
                1 => std::future::pending().await,
                2 => panic!("out of paper"),
                _ => Ok(None),
            }
        }
    }
    let logged = Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    // With only one subscriber, a log line here would stay disabled if a thread of another test reached it first.
    let _other = tracing::Dispatch::new(Logged::default());
    let times = watch::Sender::new(0);
    let mut cleaned = times.subscribe();
    let began = tokio::time::Instant::now();
    let tracing = Tracing::start(TracingConfiguration::new(Stumbles(times)), &Handle::current());
    for (time, after) in [(1, 1), (2, 1 + 30 + 60), (3, 1 + 30 + 60 + 60)] {
        cleaned.wait_for(|times| *times == time).await.unwrap();
        assert_eq!(began.elapsed(), Duration::from_secs(after));
    }
    let said = "WARN tracing: old rows could not be deleted, trying again: ";
    let lines = logged.lines();
    for reason in ["no answer within 30 s", "out of paper"] {
        assert!(lines.iter().any(|line| line.starts_with(said) && line.ends_with(reason)), "{reason}: {lines:?}");
    }
    tracing.close(LIMIT).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_loss_is_said_at_once_and_what_was_lost_is_said_at_the_end() {
    let logged = Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    let said = || logged.take();
    let (mut trouble, away) = (super::loss::Trouble::default(), WriteError::Unavailable("away".to_owned()));
    trouble.unavailable(&away, 0);
    assert_eq!(said().len(), 1);
    trouble.unavailable(&away, 0);
    assert_eq!(said(), Vec::<String>::new(), "not again within a minute");
    trouble.unavailable(&away, 3);
    let [first_loss] = &said()[..] else { panic!("it is said") };
    assert!(first_loss.starts_with("WARN") && first_loss.contains("3 events are lost so far"), "{first_loss}");
    trouble.unavailable(&away, 4);
    assert_eq!(said(), Vec::<String>::new());
    trouble.available(5);
    let [end] = &said()[..] else { panic!("it is said") };
    assert!(end.starts_with("WARN") && end.contains("2 more were lost, 5 in all"), "{end}");
    trouble.unavailable(&away, 5);
    said();
    trouble.available(5);
    assert!(said()[0].starts_with("INFO"));
}
