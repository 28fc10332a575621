use std::path::{Path, PathBuf};
use std::time::Duration;

use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, TaskId};
use elasticjob::schedule::TimeZone;
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTraceReader, RdbTracingStorage};
use elasticjob::trace::{DecisionKind, JobDecisionEvent, JobEvent, JobExecutionEvent, Tracing, TracingConfiguration};
use tokio::runtime::Handle;

use super::*;

/// A folder that is removed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("elasticjob-traces-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn name(job: &str) -> JobName {
    JobName::new(job).expect("a name")
}

fn second(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + at, 0).expect("a time")
}

/// A run of a job in a second.
fn run(job: &str, at: i64) -> JobEvent {
    let (job_name, instance) = (name(job), InstanceId::of_process("10.0.0.7", 42));
    JobEvent::Execution(JobExecutionEvent {
        id: format!("{job}-{at}").into(),
        run_id: format!("{at}").into(),
        task_id: TaskId::new(&job_name, [0], &instance),
        job_name,
        hostname: "host".into(),
        instance,
        sharding_item: 0,
        source: ExecutionSource::NormalTrigger,
        scheduled_at: Some(second(at)),
        attempt: None,
        start_time: second(at),
        complete_time: Some(second(at)),
        success: true,
        failure_cause: None,
    })
}

fn decision(job: &str, at: i64) -> JobEvent {
    JobEvent::Decision(JobDecisionEvent {
        id: format!("{job}-{at}"),
        job_name: name(job),
        at: second(at),
        kind: DecisionKind::Skipped,
        scheduled_at: Some(second(at)),
        scheduled_until: None,
        sharding_items: vec![0],
        instance: None,
        related_instance: None,
        reason: "it runs".to_owned(),
        detail: serde_json::Map::new(),
    })
}

/// Writes events to a database, whose clock is that of a zone, and reads it.
async fn database(folder: &Path, file: &str, zone: &str, events: Vec<JobEvent>) -> Arc<AnyTraceReader> {
    let source = DataSource::new(&format!("sqlite:{}", folder.join(file).display())).expect("an address");
    let zone: TimeZone = zone.parse().expect("a zone");
    let mut options = RdbOptions::default();
    options.time_zone = Some(zone);
    let storage = RdbTracingStorage::connect(&source, options).await.expect("it is made");
    let tracing = Tracing::start(TracingConfiguration::new(storage), &Handle::current());
    events.into_iter().for_each(|event| tracing.post(event));
    tracing.close(Duration::from_secs(10)).await;
    Arc::new(AnyTraceReader::new(RdbTraceReader::connect(&source, Some(zone)).await.expect("it is there")))
}

async fn traces(folder: &Folder) -> TracesOfJobs {
    // Seconds of both come one after the other, and both have the thirtieth one.
    let here = (0..20).map(|at| run("here", 2 * at)).chain([decision("here", 1), decision("here", 3)]);
    let there = (0..15).map(|at| run("there", 2 * at + 1)).chain([run("there", 30), decision("there", 2)]);
    let usual = database(&folder.0, "usual.db", "UTC", here.collect()).await;
    let audit = database(&folder.0, "audit.db", "Asia/Shanghai", there.collect()).await;
    let readers = BTreeMap::from([("default".to_owned(), usual), ("audit".to_owned(), audit)]);
    let of_jobs = [("here", "default"), ("there", "audit"), ("own", "log")];
    let of_jobs = of_jobs.map(|(job, tracing)| (name(job), tracing.to_owned()));
    TracesOfJobs::new(readers, "default", of_jobs.into())
}

#[tokio::test]
async fn a_job_is_read_from_the_storage_that_it_traces_to() {
    let folder = Folder::new("own");
    let traces = traces(&folder).await;
    let runs = async |job: &str| {
        let page = traces.executions(&ExecutionFilter::of_job(name(job)), &PageRequest::default()).await;
        page.expect("it is read").records.len()
    };
    assert_eq!((runs("here").await, runs("there").await), (20, 16));
    assert_eq!((runs("own").await, runs("unknown").await), (0, 0), "a storage that cannot be read has nothing");
    let wanted = ["there", "here", "own"].map(|job| NewestRuns { job: name(job), most: 2, from: None });
    let fires = traces.fires(&wanted).await.expect("it is read");
    let fires: Vec<_> = fires.iter().map(|fire| (fire.job_name.as_str(), fire.started)).collect();
    let expected = [("here", 38), ("here", 36), ("there", 30), ("there", 29)];
    assert_eq!(fires, expected.map(|(job, at)| (job, second(at))));
    let decisions = traces.decisions(&DecisionFilter::of_job(name("there")), &PageRequest::default()).await;
    assert_eq!(decisions.expect("it is read").records.len(), 1);
    let most = async |filter: ExecutionFilter| traces.count(&filter, 100).await.expect("it is counted").runs;
    assert_eq!(most(ExecutionFilter::of_job(name("there"))).await, 16);
    assert_eq!(most(ExecutionFilter::default()).await, 36);
    let parts =
        |job| RunParts { job: name(job), from: second(0), splits: vec![second(10)], until: second(40), most: 99 };
    let counted = traces.count_parts(&["there", "own", "here"].map(parts)).await.expect("it is counted");
    let counted: Vec<Vec<u64>> = counted.iter().map(|parts| parts.iter().map(|part| part.runs).collect()).collect();
    assert_eq!(counted, [[5, 11], [0, 0], [5, 15]], "in the order in which they were asked for");
}

#[tokio::test]
async fn what_is_asked_about_all_jobs_comes_page_by_page_from_all_storages() {
    let folder = Folder::new("all");
    let traces = traces(&folder).await;
    for size in [1, 2, 7, 100] {
        let (mut seen, mut next) = (Vec::new(), None);
        loop {
            let request = PageRequest::default().limit(size).after(next);
            let page = traces.executions(&ExecutionFilter::default(), &request).await.expect("it is read");
            seen.extend(page.records.iter().map(|record| record.start_time));
            // The cursor of a page comes back from its address.
            next = page.next.map(|next| next.to_string().parse::<Cursor>().expect("a cursor"));
            if next.is_none() {
                break;
            }
        }
        let all = (0..20).map(|at| 2 * at).chain((0..15).map(|at| 2 * at + 1)).chain([30]);
        let mut all: Vec<_> = all.map(second).collect();
        all.sort_by(|one, other| other.cmp(one));
        assert_eq!(seen, all, "{size} at a time");
    }
    let mut filter = ExecutionFilter::default();
    (filter.from, filter.until) = (Some(second(5)), Some(second(8)));
    let page = traces.executions(&filter, &PageRequest::default()).await.expect("it is read");
    let started: Vec<_> = page.records.iter().map(|record| record.start_time).collect();
    assert_eq!(started, [7, 6, 5].map(second));
    let decisions = traces.decisions(&DecisionFilter::default(), &PageRequest::default()).await.expect("it is read");
    let jobs: Vec<_> = decisions.records.iter().map(|record| record.job_name.as_str()).collect();
    assert_eq!(jobs, ["here", "there", "here"]);
}
