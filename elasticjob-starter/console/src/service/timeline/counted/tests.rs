use std::sync::Arc;

use elasticjob::trace::{
    DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, Page, PageRequest, StateFilter, StateRecord,
};
use tokio::sync::Semaphore;
use tokio::time::advance;

use super::*;

const MINUTE: i64 = 60_000;
/// The length of a part.
const PART: i64 = 10 * MINUTE;
const NOON: i64 = 1_700_000_000_000 / PART * PART;

/// A database of runs that began at these times.
#[derive(Clone)]
struct Database(Arc<Inside>);

struct Inside {
    runs: Mutex<Vec<i64>>,
    /// What was asked for.
    asked: Mutex<Vec<(i64, i64, u32)>>,
    /// A read takes one of them.
    answers: Semaphore,
    is_away: bool,
}

impl TraceReader for Database {
    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        let Inside { runs, asked, answers, is_away } = &*self.0;
        let parts = wanted.iter().map(|one| (minute(one.from), minute(one.until), one.most));
        lock(asked).extend(parts);
        answers.acquire().await.expect("it is never closed").forget();
        if *is_away {
            return Err(ReadError::NoTable { at: "here".into(), table: "JOB_EXECUTION_LOG" });
        }
        let mut runs = lock(runs).clone();
        runs.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
        let of_job = |one: &RunParts| {
            let within = |at: &&i64| (one.from..one.until).contains(&instant(**at));
            let newest: Vec<_> = runs.iter().filter(within).take(one.most as usize).map(|at| instant(*at)).collect();
            let count = |(from, until): (DateTime<Utc>, DateTime<Utc>)| {
                let mut count = RunCount::default();
                count.runs = newest.iter().filter(|at| (from..until).contains(*at)).count() as u64;
                count
            };
            one.parts().map(count).collect()
        };
        Ok(wanted.iter().map(of_job).collect())
    }

    async fn executions(&self, _: &ExecutionFilter, _: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        unreachable!("runs are counted by the database")
    }

    async fn states(&self, _: &StateFilter, _: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        unreachable!("states are not counted")
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        unreachable!("decisions are not counted")
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Minutes since noon.
fn minute(at: DateTime<Utc>) -> i64 {
    (at.timestamp_millis() - NOON) / MINUTE
}

impl Database {
    /// With a run at each of these minutes since noon, which answers so often.
    fn new(minutes: Range<i64>, answers: usize, is_away: bool) -> Self {
        let runs = Mutex::new(minutes.map(|minute| NOON + minute * MINUTE).collect());
        Self(Arc::new(Inside { runs, asked: Mutex::default(), answers: Semaphore::new(answers), is_away }))
    }

    fn asked(&self) -> Vec<(i64, i64, u32)> {
        std::mem::take(&mut *lock(&self.0.asked))
    }
}

/// The parts of a job from one minute to another one.
fn wanted(from: i64, until: i64, most: u32) -> [RunParts; 1] {
    let [from, until] = [from, until].map(|minute| NOON + minute * MINUTE);
    let job = JobName::new("settle").expect("a name");
    [RunParts { job, from: instant(from), splits: splits(from, until, PART), until: instant(until), most }]
}

async fn counts(kept: &KeptCounts, database: &Database, wanted: &[RunParts; 1]) -> Result<Vec<u64>, ReadError> {
    let reader = AnyTraceReader::new(database.clone());
    let counted = kept.count(&reader, wanted).await?;
    Ok(counted.into_iter().flatten().map(|count| count.runs).collect())
}

#[test]
fn parts_begin_at_the_same_moments_wherever_the_time_begins() {
    let begins = |from, until| splits(from, until, 100).iter().map(DateTime::timestamp_millis).collect::<Vec<_>>();
    assert_eq!(begins(5, 301), [100, 200, 300]);
    assert_eq!(begins(100, 300), [200], "neither end of the time is one");
    assert_eq!(begins(-150, 99), [-100, 0]);
    assert_eq!(begins(110, 190), [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_page_counts_what_none_has_shown_lately_and_both_ends_of_its_time() {
    let (kept, database) = (KeptCounts::default(), Database::new(0..60, 100, false));
    let read = async |from, until| {
        let shown = counts(&kept, &database, &wanted(from, until, 100)).await.expect("it answers");
        let asked = database.asked();
        let fresh = counts(&KeptCounts::default(), &database, &wanted(from, until, 100)).await;
        database.asked();
        (asked, fresh.expect("it answers") == shown, shown)
    };
    assert_eq!(read(5, 42).await, (vec![(5, 42, 100)], true, vec![5, 10, 10, 10, 2]), "nothing is known");
    advance(KEPT / 2).await;
    assert_eq!(
        read(6, 53).await,
        (vec![(40, 53, 100), (6, 10, 100 - 30)], true, vec![4, 10, 10, 10, 10, 3]),
        "three parts are known, and one is over since"
    );
    lock(&database.0.runs).push(NOON + 25 * MINUTE);
    let (_, is_fresh, shown) = read(6, 53).await;
    assert_eq!((is_fresh, shown), (false, vec![4, 10, 10, 10, 10, 3]), "its record came late");
    advance(KEPT / 2).await;
    assert_eq!(
        read(6, 53).await,
        (vec![(50, 53, 100), (6, 40, 100 - 10)], true, vec![4, 10, 11, 10, 10, 3]),
        "each part is counted again after its time"
    );
}

#[tokio::test(start_paused = true)]
async fn of_a_job_with_more_runs_than_are_counted_the_rest_is_asked_for() {
    let (kept, database) = (KeptCounts::default(), Database::new(0..60, 100, false));
    let read = async |from, until, most| {
        let shown = counts(&kept, &database, &wanted(from, until, most)).await.expect("it answers");
        (database.asked(), shown)
    };
    assert_eq!(read(5, 55, 28).await, (vec![(5, 55, 28)], vec![0, 0, 3, 10, 10, 5]));
    assert_eq!(
        read(5, 56, 28).await,
        (vec![(50, 56, 28), (5, 30, 28 - 20)], vec![0, 0, 8, 10, 10, 6]),
        "the part that was cut is counted again"
    );
}

#[tokio::test(start_paused = true)]
async fn pages_at_the_same_time_count_once() {
    let (kept, database) = (KeptCounts::default(), Database::new(0..60, 0, false));
    let wanted = wanted(5, 42, 100);
    let page = || counts(&kept, &database, &wanted);
    let answer = async {
        tokio::task::yield_now().await;
        assert_eq!(database.asked(), [(5, 42, 100)], "the others wait");
        database.0.answers.add_permits(3);
    };
    let (first, second, third, ()) = tokio::join!(page(), page(), page(), answer);
    for shown in [first, second, third] {
        assert_eq!(shown.expect("it answers"), [5, 10, 10, 10, 2]);
    }
    assert_eq!(database.asked(), [(40, 42, 100), (5, 10, 70)].repeat(2), "only the ends");
}

#[tokio::test(start_paused = true)]
async fn pages_that_waited_for_a_count_that_failed_do_not_wait_for_each_other() {
    let (kept, database) = (KeptCounts::default(), Database::new(0..60, 0, true));
    let wanted = wanted(5, 42, 100);
    let page = || counts(&kept, &database, &wanted);
    let answer = async {
        let turn = async || {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            database.asked()
        };
        assert_eq!(turn().await, [(5, 42, 100)], "the others wait");
        database.0.answers.add_permits(1);
        assert_eq!(turn().await, [(5, 42, 100); 2], "one was answered, and the others ask side by side");
        database.0.answers.add_permits(2);
    };
    let (first, second, third, ()) = tokio::join!(page(), page(), page(), answer);
    for shown in [first, second, third] {
        assert!(matches!(shown, Err(ReadError::NoTable { .. })), "{shown:?}");
    }
}
