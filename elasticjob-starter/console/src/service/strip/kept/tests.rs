use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use elasticjob::schedule::TimeZone;
use elasticjob::trace::rdb::RdbTraceReader;
use elasticjob::trace::{
    DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, JobEvent, JobExecutionEvent, Page, PageRequest,
    StateFilter, StateRecord,
};

use super::*;
use crate::testing::traced::{Folder, failed, run};

const MINUTE: i64 = 60_000;
const NOON: i64 = 1_700_000_000_000 / MINUTE * MINUTE;

/// Reads a database, and counts the runs that it read.
struct Counted {
    reader: AnyTraceReader,
    runs: Arc<AtomicU64>,
    /// Whether the database was emptied.
    is_empty: Arc<AtomicBool>,
}

impl TraceReader for Counted {
    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        if self.is_empty.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let fires = self.reader.fires(wanted).await?;
        self.runs.fetch_add(fires.iter().map(|fire| fire.runs).sum(), Ordering::Relaxed);
        Ok(fires)
    }

    async fn executions(&self, _: &ExecutionFilter, _: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        unreachable!("fires are counted by the database")
    }

    async fn states(&self, _: &StateFilter, _: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        unreachable!("strips have no states")
    }

    async fn decisions(&self, _: &DecisionFilter, _: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        unreachable!("strips have no decisions")
    }
}

/// A job of two items, with what a page kept of its fires.
struct Desk {
    folder: Folder,
    reader: AnyTraceReader,
    runs: Arc<AtomicU64>,
    is_empty: Arc<AtomicBool>,
    kept: KeptFires,
    settle: [Wanted; 1],
}

impl Desk {
    async fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        folder.write([]).await;
        let reader =
            RdbTraceReader::connect(&folder.source(), Some(TimeZone::UTC)).await.expect("the database is there");
        let (runs, is_empty) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let counted = Counted { reader: AnyTraceReader::new(reader), runs: runs.clone(), is_empty: is_empty.clone() };
        let job = JobName::new("settle").expect("a name");
        let settle = [Wanted { job, most: 26 * 2, items: 2 }];
        Self { folder, reader: AnyTraceReader::new(counted), runs, is_empty, kept: KeptFires::default(), settle }
    }

    async fn write(&self, runs: impl IntoIterator<Item = JobExecutionEvent>) {
        self.folder.write(runs.into_iter().map(JobEvent::Execution)).await;
    }

    /// What a page says, which is what the database says; and how many runs it read for it.
    async fn read(&self, now: i64) -> (Vec<FireCount>, u64) {
        let of = async |kept: &KeptFires| {
            let mut fires = kept.read(&self.reader, &self.settle, now).await.expect("it is read");
            fires.remove(&self.settle[0].job).expect("the job is wanted")
        };
        let before = self.runs.load(Ordering::Relaxed);
        let shown = of(&self.kept).await;
        let runs = self.runs.load(Ordering::Relaxed) - before;
        assert_eq!(shown, of(&KeptFires::default()).await, "as if nothing had been kept");
        (shown, runs)
    }
}

/// Both items of the fire of a minute, with their end or without.
fn fire(minute: i64, is_over: bool) -> [JobExecutionEvent; 2] {
    let at = NOON + minute * MINUTE;
    [0, 1].map(|item| run("settle", item, Some(at), at + 10, is_over.then_some(at + 20)))
}

#[tokio::test]
async fn a_page_reads_the_newest_runs_alone_and_says_what_the_database_says() {
    let desk = Desk::new("kept-fires").await;
    let mut now = NOON + 40 * MINUTE;
    assert_eq!(desk.read(now).await, (Vec::new(), 0));
    desk.write((0..40).flat_map(|minute| fire(minute, true))).await;
    let (fires, all) = desk.read(now).await;
    assert_eq!((fires.len(), all), (25, 52), "as many as are whole");
    assert_eq!(desk.read(now).await.1, 4, "the last two fires again");

    desk.write(fire(40, false)).await;
    let (fires, read) = desk.read(now).await;
    assert_eq!((fires[0].no_end, fires.len(), read), (2, 25, 6), "it runs");
    desk.write(fire(40, true)).await;
    assert_eq!(desk.read(now).await.0[0].succeeded, 2, "it is over");

    // An item that an instance runs for long, while others go on.
    let [first, late] = fire(41, false);
    desk.write([first.clone(), late.clone()].into_iter().chain((42..50).flat_map(|minute| fire(minute, true)))).await;
    now += 10 * MINUTE;
    assert_eq!(desk.read(now).await.0[8].no_end, 2);
    let [done, _] = fire(41, true);
    desk.write([
        done,
        failed(
            run(
                "settle",
                1,
                late.scheduled_at.map(|at| at.timestamp_millis()),
                late.start_time.timestamp_millis(),
                Some(now),
            ),
            "no disk",
        ),
    ])
    .await;
    let eighth = desk.read(now).await.0[8].clone();
    assert_eq!((eighth.succeeded, eighth.failed, eighth.no_end), (1, 1, 0));

    // A fire of long ago is run again.
    let again = NOON + 40 * MINUTE;
    desk.write([run("settle", 1, Some(again), now + 5, Some(now + 9))]).await;
    assert_eq!(desk.read(now).await.0[9].runs, 3);
    desk.is_empty.store(true, Ordering::Relaxed);
    assert_eq!(desk.read(now).await.0, [], "the records were removed");
}

#[tokio::test]
async fn pages_that_wait_for_the_first_one_show_what_it_read() {
    let desk = Desk::new("kept-shared").await;
    let now = NOON + 40 * MINUTE;
    desk.write((0..40).flat_map(|minute| fire(minute, true))).await;
    let other = Wanted { job: JobName::new("load").expect("a name"), ..desk.settle[0].clone() };
    let both = [desk.settle[0].clone(), other];
    let pages = (0..10).map(|page| desk.kept.read(&desk.reader, &both[..=page % 2], now));
    let shown = futures_util::future::try_join_all(pages).await.expect("they are read");
    let runs = desk.runs.load(Ordering::Relaxed);
    let fires = |page: &HashMap<JobName, Vec<FireCount>>| page[&desk.settle[0].job].clone();
    assert!(fires(&shown[0]).len() == 25 && shown.iter().all(|page| fires(page) == fires(&shown[0])));
    assert!(shown.iter().enumerate().all(|(page, shown)| shown.len() == 1 + page % 2));
    assert_eq!(runs, 52, "each job once");
    assert_eq!(desk.read(now).await.1, 4, "what comes later reads what may have changed");
}

#[tokio::test]
async fn fires_without_a_scheduled_time_and_clocks_that_are_wrong_are_read_as_they_are() {
    let desk = Desk::new("kept-odd").await;
    let now = NOON + 5 * MINUTE;
    // By hand, at the same time as a fire of the schedule; and by an instance whose clock is an hour ahead.
    let by_hand = |start: i64| run("settle", 0, None, start, Some(start + 5));
    desk.write(fire(3, true).into_iter().chain([by_hand(NOON + 3 * MINUTE + 500), by_hand(now + 60 * MINUTE)])).await;
    assert_eq!(desk.read(now).await.0.len(), 3);
    desk.write(fire(4, true)).await;
    assert_eq!(desk.read(now + 10).await.0.len(), 4, "a run that begins before one that was read");
    desk.write([by_hand(NOON + 3 * MINUTE + 700)]).await;
    assert_eq!(desk.read(now + 20).await.0.iter().map(|fire| fire.runs).sum::<u64>(), 7);
}

#[tokio::test]
async fn whatever_is_written_a_page_says_what_the_database_says() {
    let mut desk = Desk::new("kept-any").await;
    // Where not all runs may be read, how many old fires are whole depends on which runs are read together.
    desk.settle[0].most = 1_000;
    let mut seed = 7_u64;
    let mut below = move |limit: i64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(seed >> 33).unwrap_or_default() % limit
    };
    let (mut now, mut open, mut at, mut begun) = (NOON, Vec::new(), NOON, 0);
    for _ in 0..100 {
        now += below(20_000);
        let event = match below(4) {
            0 if !open.is_empty() => {
                let place = usize::try_from(below(i64::try_from(open.len()).unwrap_or(1))).unwrap_or_default();
                let goes_on: JobExecutionEvent = open.remove(place);
                let over =
                    JobExecutionEvent { complete_time: DateTime::from_timestamp_millis(now), success: true, ..goes_on };
                if below(5) == 0 { failed(over, "no disk") } else { over }
            }
            1 => {
                at = now / 10_000 * 10_000;
                begun += 1;
                run("settle", 0, Some(at), now, Some(now))
            }
            other => {
                let scheduled = (below(8) > 0).then_some(at);
                let goes_on = run("settle", u32::from(other == 2), scheduled, now, None);
                open.push(goes_on.clone());
                begun += 1;
                goes_on
            }
        };
        desk.write([event]).await;
        desk.read(now).await;
    }
    assert!(desk.read(now).await.1 < begun, "some of them");
    now += KEPT;
    assert_eq!(desk.read(now).await.1, begun, "all of them again");
}

#[tokio::test]
async fn many_jobs_that_were_not_shown_lately_are_read_in_two_parts_and_each_has_its_fires() {
    let desk = Desk::new("kept-many").await;
    let names: Vec<String> = (0..MANY + 1).map(|number| format!("job-{number}")).collect();
    let start = |number: usize| NOON + i64::try_from(number).expect("a few") * 10;
    desk.write(names.iter().enumerate().map(|(number, name)| {
        let start = start(number);
        run(name, 0, Some(start), start, Some(start + 5))
    }))
    .await;
    let wanted = |name: &String| Wanted { job: JobName::new(name).expect("a name"), most: 26, items: 1 };
    let wanted: Vec<Wanted> = names.iter().map(wanted).collect();
    let found = desk.kept.read(&desk.reader, &wanted, NOON + MINUTE).await.expect("it is read");
    let started = |job: &Wanted| found[&job.job].iter().map(|fire| fire.started.timestamp_millis()).collect::<Vec<_>>();
    for (number, job) in wanted.iter().enumerate() {
        assert_eq!(started(job), [start(number)], "{:?}", job.job);
    }
}
