use std::time::Instant;

use super::*;
use crate::api::fixture::context;
use crate::ident::JobName;
use crate::trace::{JobEvent, RunLogOptions, Tracing, TracingConfiguration, TracingStorage, WriteError};

const LONG: Duration = Duration::from_secs(20);

fn script(line: &str) -> ShardingContext {
    context("job", "", "0=Beijing", &[(COMMAND_LINE, line)])
}

async fn fails(line: &str) -> String {
    Script.process(script(line)).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_script_gets_the_context_as_its_last_argument() {
    let folder = std::env::temp_dir().join(format!("elasticjob-script-{}", std::process::id()));
    let line = format!("sh -c 'printf \"%s|%s\" \"$1\" \"$2\" >{}' name 'two words'", folder.display());
    Script.process(script(&line)).await.unwrap();
    let written = std::fs::read_to_string(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    let (first, json) = written.split_once('|').unwrap();
    assert_eq!(first, "two words");
    assert_eq!(serde_json::from_str::<serde_json::Value>(json).unwrap()["shardingParameter"], "Beijing");
}

#[tokio::test]
async fn an_exit_code_a_signal_and_a_program_that_is_not_there_are_failures() {
    assert_eq!(fails("sh -c 'exit 3' --token hush").await, "'sh': it ended with exit code 3");
    assert_eq!(fails("sh -c 'kill -9 $$' --token hush").await, "'sh': it was killed by signal 9");
    let missing = fails("/no/such/program --token hush").await;
    assert!(missing.starts_with("'/no/such/program' cannot be started: ") && !missing.contains("hush"), "{missing}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_script_that_takes_too_long_is_killed_with_its_children() {
    let file = std::env::temp_dir().join(format!("elasticjob-children-{}", std::process::id()));
    // The script ends in order when it is asked to. The process that it started ignores the signal.
    let asked = "trap \"\" TERM; sleep 60 & echo $! >";
    let line = format!("sh -c '{asked}{}; trap \"exit 0\" TERM; wait'", file.display());
    let context = context("job", "", "", &[(COMMAND_LINE, &line), (TIMEOUT, "2000")]);
    let error = tokio::time::timeout(LONG, Script.process(context)).await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "'sh' was terminated: it ran for more than 2000 ms");
    let child = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    is_gone(child.trim()).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_left_the_group_of_a_script_that_is_cut_off_is_killed_with_it() {
    let file = std::env::temp_dir().join(format!("elasticjob-strays-{}", std::process::id()));
    // Each leads a session of its own, and ignores TERM; the second one has lost its parent.
    let stray = |number| {
        format!("setsid sh -c \"trap : TERM; echo \\$\\$ >>{}; while :; do sleep 1; done\" {number}", file.display())
    };
    let line = format!("sh -c '{} & ({} &) & wait'", stray(1), stray(2));
    let run = tokio::spawn(Script.process_owned(script(&line)));
    let strays = loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        match text.lines().count() {
            2 => break text,
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    std::fs::remove_file(&file).unwrap();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    for pid in strays.lines() {
        is_gone(pid).await;
    }
}

/// Waits until a process is gone, or is dead and not yet waited for.
#[cfg(target_os = "linux")]
async fn is_gone(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    let began = Instant::now();
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(began.elapsed() < LONG);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until a file exists.
#[cfg(unix)]
async fn appears(file: &std::path::Path) {
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < LONG, "{} is not there", file.display());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_script_leaves_in_the_background_is_not_waited_for_and_lives_on_with_its_output() {
    let folder = std::env::temp_dir().join(format!("elasticjob-background-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    // The process waits until the script has ended, and ends by itself whatever happens to this test.
    let waits =
        "for turn in $(seq 1200); do if [ -e go ]; then echo still here && touch alive; exit; fi; sleep 0.05; done";
    let line = format!("sh -c 'cd {}; ({waits}) & exit 0'", folder.display());
    tokio::time::timeout(LONG, Script.process(script(&line))).await.unwrap().unwrap();
    std::fs::write(folder.join("go"), "").unwrap();
    appears(&folder.join("alive")).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_script_that_takes_too_long_may_end_in_order() {
    let file = std::env::temp_dir().join(format!("elasticjob-in-order-{}", std::process::id()));
    let line = format!("sh -c 'trap \"echo tidy >{}; exit 0\" TERM; sleep 60 & wait'", file.display());
    let context = context("job", "", "", &[(COMMAND_LINE, &line), (TIMEOUT, "2000")]);
    let error = tokio::time::timeout(LONG, Script.process(context)).await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "'sh' was terminated: it ran for more than 2000 ms");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "tidy\n");
    std::fs::remove_file(&file).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_script_that_takes_too_long_and_does_not_heed_that_is_killed() {
    let line = "sh -c 'trap \"\" TERM; while :; do sleep 1; done'";
    let context = context("job", "", "", &[(COMMAND_LINE, line), (TIMEOUT, "2000")]);
    let began = Instant::now();
    let error = tokio::time::timeout(LONG, Script.process(context)).await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "'sh' was killed: it ran for more than 2000 ms");
    assert!(began.elapsed() >= GRACE, "{:?}", began.elapsed());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_that_is_cancelled_may_end_in_order_and_one_that_is_dropped_is_gone() {
    let ready = std::env::temp_dir().join(format!("elasticjob-ready-{}", std::process::id()));
    let context = script(&format!("sh -c 'trap \"exit 0\" TERM; echo >{}; sleep 60 & wait'", ready.display()));
    let token = context.cancellation_token().clone();
    let run = tokio::spawn(Script.process_owned(context));
    appears(&ready).await;
    std::fs::remove_file(&ready).unwrap();
    token.cancel();
    let error = tokio::time::timeout(LONG, run).await.unwrap().unwrap().unwrap_err().to_string();
    assert_eq!(error, "'sh' was cut off");

    let file = std::env::temp_dir().join(format!("elasticjob-dropped-{}", std::process::id()));
    let run = tokio::spawn(
        Script.process_owned(script(&format!("sh -c 'echo $$ >{0}.new; mv {0}.new {0}; sleep 60'", file.display()))),
    );
    let pid = loop {
        match std::fs::read_to_string(&file) {
            Ok(pid) => break pid.trim().to_owned(),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    std::fs::remove_file(&file).unwrap();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    is_gone(&pid).await;
}

impl Script {
    /// Runs the item with an executor that the future owns, as a run does.
    async fn process_owned(self, context: ShardingContext) -> JobResult {
        self.process(context).await
    }
}

#[test]
fn what_is_wrong_with_the_properties_is_told_at_start() {
    let problems = |props: &[(&str, &str)]| {
        let configuration = props.iter().fold(JobConfiguration::builder("job", 1), |b, (k, v)| b.prop(*k, *v));
        Script.check(&configuration.build().unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(problems(&[(COMMAND_LINE, "echo")]), Vec::<String>::new());
    assert_eq!(
        problems(&[(COMMAND_LINE, " ")]),
        ["props.script.command.line: is missing: a job of type SCRIPT needs it, for example /opt/backup/run.sh --full"]
    );
    assert_eq!(
        problems(&[(COMMAND_LINE, "echo 'a"), (TIMEOUT, "soon")]),
        [
            "props.script.command.line: '***': the quote ' at character 6 is not closed",
            "props.script.timeout.milliseconds: 'soon': expected milliseconds, 1 or more"
        ]
    );
}

#[tokio::test]
async fn what_a_script_writes_does_not_paint_the_terminal() {
    let logged = crate::test_log::Logged::default();
    let _default = tracing::subscriber::set_default(logged.clone());
    Script.process(script(r"printf 'fine\033[2K\rforged\n'")).await.unwrap();
    let lines = logged.lines();
    assert!(lines.iter().any(|line| line.contains(r"fine\u{1b}[2K\rforged")), "{lines:?}");
}

#[tokio::test]
async fn what_a_script_writes_is_in_the_log_of_its_run() {
    let storage = Kept::default();
    let tracing = Tracing::start(TracingConfiguration::new(storage.clone()), &tokio::runtime::Handle::current());
    let log = RunLog::new(tracing.clone(), RunLogOptions::default(), "run".into(), None, JobName::new("job").unwrap());
    log.scope(async { Script.process(script("sh -c 'echo out; echo err >&2'")).await.unwrap() }).await;
    tracing.close(Duration::from_secs(10)).await;
    let mut lines = storage.0.lock().unwrap().clone();
    lines.sort();
    assert_eq!(lines, ["INFO stdout: out", "WARN stderr: err"]);
}

/// The lines of logs of runs.
#[derive(Clone, Default)]
struct Kept(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl TracingStorage for Kept {
    fn type_name(&self) -> &str {
        "KEPT"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let line = |event: &JobEvent| match event {
            JobEvent::Log(line) => Some(format!("{} {}: {}", line.level, line.target, line.message)),
            _ => None,
        };
        self.0.lock().unwrap().extend(events.iter().filter_map(line));
        Ok(())
    }
}
