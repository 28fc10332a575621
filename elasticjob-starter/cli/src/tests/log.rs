//! Tests of `elasticjob log`.

use chrono::{DateTime, TimeDelta, Utc};
use clap::Parser;
use elasticjob::fire::ExecutionSource;
use elasticjob::ident::{InstanceId, JobName, TaskId};
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbTraceReader, RdbTracingStorage, Retention};
use elasticjob::trace::{AnyTraceReader, JobEvent, JobExecutionEvent, JobLogEvent, LogLevel, TracingStorage};
use serde_json::Value;

use crate::Console;
use crate::args::{Arguments, Command};

fn moment() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_768_476_840_000).unwrap()
}

/// The run of an item of the fire of a time.
fn run(item: u32, at: DateTime<Utc>, failure: Option<&str>) -> JobExecutionEvent {
    let (job_name, instance) = (JobName::new("settle").unwrap(), InstanceId::of_process("192.0.2.2", 7));
    JobExecutionEvent {
        id: format!("{item}-{}", at.timestamp()).into(),
        run_id: "run".into(),
        task_id: TaskId::new(&job_name, [item], &instance),
        job_name,
        hostname: "host".into(),
        instance,
        sharding_item: item,
        source: ExecutionSource::NormalTrigger,
        scheduled_at: Some(at),
        attempt: None,
        start_time: at + TimeDelta::milliseconds(4),
        complete_time: Some(at + TimeDelta::milliseconds(816)),
        success: failure.is_none(),
        failure_cause: failure.map(str::to_owned),
    }
}

fn line(of: &JobExecutionEvent, line: u32, level: LogLevel, message: &str, left_out: u32) -> JobEvent {
    JobEvent::Log(JobLogEvent {
        execution_id: of.id.clone(),
        job_name: of.job_name.clone(),
        line,
        at: of.start_time + TimeDelta::milliseconds(line.into()),
        level,
        target: "billing".to_owned(),
        message: message.to_owned(),
        left_out,
    })
}

async fn log(reader: &AnyTraceReader, arguments: &[&str]) -> (Result<String, String>, String) {
    let arguments = Arguments::parse_from(["elasticjob", "log", "settle"].iter().chain(arguments));
    let Command::Log(wanted) = &arguments.command else { panic!("another command") };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let done = crate::log::of(wanted, reader, arguments.json, &mut console).await;
    let written = String::from_utf8(stdout).unwrap();
    (done.map(|text| written + &text).map_err(|error| error.to_string()), String::from_utf8(stderr).unwrap())
}

#[tokio::test]
async fn the_log_of_a_fire_is_written_by_item_or_followed_to_its_end() {
    let folder = std::env::temp_dir().join(format!("elasticjob-log-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = DataSource::new(&format!("sqlite:{}", folder.join("trace.db").display())).unwrap();
    let mut options = RdbOptions::default();
    options.run_log = Some(Retention::default());
    let storage = RdbTracingStorage::connect(&source, options).await.unwrap();
    let (before, at) = (moment(), moment() + TimeDelta::minutes(10));
    let runs = [run(0, before, None), run(0, at, None), run(1, at, Some("no disk"))];
    let events = [
        line(&runs[0], 1, LogLevel::Info, "of the fire before", 0),
        line(&runs[1], 1, LogLevel::Info, "7 rows\nin two files", 0),
        line(&runs[2], 1, LogLevel::Error, "no disk", 37),
        line(&runs[2], 2, LogLevel::Info, "", 0),
    ];
    storage.write(&events).await.unwrap();
    storage.write(&runs.map(JobEvent::Execution)).await.unwrap();
    let reader = AnyTraceReader::new(RdbTraceReader::connect(&source, None).await.unwrap());

    let text = log(&reader, &[]).await.0.unwrap();
    for part in [
        "item 0: NORMAL_TRIGGER on 192.0.2.2@-@7, began ",
        ", succeeded after 812 ms\n",
        " INFO  billing: 7 rows\n      in two files\n",
        "  ... 37 lines left out\n",
        " ERROR billing: no disk\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("of the fire before"), "{text}");
    let half_a_minute = (before - TimeDelta::seconds(30)).to_rfc3339();
    let earlier = log(&reader, &["--at", &half_a_minute]).await.0.unwrap();
    assert!(earlier.contains("of the fire before") && !earlier.contains("no disk"), "{earlier}");
    let errors = log(&reader, &["--item", "1", "--level", "error", "--at", &at.to_rfc3339()]).await.0.unwrap();
    assert!(errors.contains("no disk") && !errors.contains("item 0"), "{errors}");

    let json: Value = serde_json::from_str(&log(&reader, &["--json"]).await.0.unwrap()).unwrap();
    let failed = &json["runs"][1];
    assert_eq!((&failed["outcome"], &failed["lines"][0]["leftOut"]), (&"FAILED".into(), &37.into()), "{json}");
    let followed = log(&reader, &["--follow"]).await.0.unwrap();
    assert!(followed.contains("0| ") && followed.contains("1| ... 37 lines left out\n1| "), "{followed}");

    let (error, _) = log(&reader, &["--at", "2020-01-01T00:00:00Z"]).await;
    assert!(error.unwrap_err().contains("no run of job 'settle' at "));
    let (_, note) = log(&reader, &["--at", &at.to_rfc3339(), "--item", "0", "--contains", "rows"]).await;
    assert_eq!(note, "", "lines that do not match are no reason to look at the settings");
    std::fs::remove_dir_all(&folder).unwrap();
}
