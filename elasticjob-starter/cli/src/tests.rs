//! Commands that reach no registry center.

#[cfg(feature = "tracing-sqlite")]
mod alarms;
mod embedded;
#[cfg(feature = "tracing-sqlite")]
mod log;
#[cfg(feature = "tracing-sqlite")]
mod past;
#[cfg(feature = "tracing-sqlite")]
mod records;
mod shown_commands;
#[cfg(feature = "tracing-sqlite")]
mod trace_database;

use super::*;

/// Runs `elasticjob` with these arguments in an empty folder and environment: exit code, stdout, stderr.
async fn elasticjob(arguments: &[&str], environment: &[(&str, &str)]) -> (u8, String, String) {
    let folder = std::env::temp_dir().join("elasticjob-cli-without-files");
    let sources = Sources::in_folder(folder).environment(environment.iter().copied());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let arguments = ["elasticjob"].iter().chain(arguments);
    let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let code = run(arguments, sources, console).await;
    (code, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[tokio::test]
async fn the_coming_fires_are_told_with_what_clocks_do_to_them() {
    let new_york = ["--zone", "America/New_York", "--count", "2"];
    let next = |expression: &'static str, from: &'static str, json: &'static [&'static str]| {
        let arguments = ["next", expression, "--from", from].into_iter().chain(new_york).chain(json.iter().copied());
        arguments.collect::<Vec<_>>()
    };
    let (code, json, stderr) = elasticjob(&next("0 30 1 * * ?", "2024-11-02T12:00:00Z", &["--json"]), &[]).await;
    let expected = r#"{"fires":[{"at":"2024-11-03T01:30:00-05:00","epoch":1730615400,"dst":"repeated"},{"at":"2024-11-04T01:30:00-05:00","epoch":1730701800,"dst":null}]}"#;
    assert_eq!((code, json.as_str(), stderr.as_str()), (0, format!("{expected}\n").as_str(), ""));
    let (_, text, _) = elasticjob(&next("0 30 2 * * ?", "2024-03-09T12:00:00Z", &[]), &[]).await;
    let expected =
        "2024-03-11T02:30:00-04:00  the fire before it is skipped: clocks go forward then\n2024-03-12T02:30:00-04:00\n";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn from_is_exclusive_and_no_fire_is_no_error() {
    let at = "2024-11-03T01:00:00Z";
    let (code, json, _) =
        elasticjob(&["next", "0 0 1 * * ?", "--zone", "UTC", "--from", at, "--count", "1", "--json"], &[]).await;
    assert!(code == 0 && json.contains("2024-11-04T01:00:00+00:00"), "{json}");
    let (code, json, stderr) = elasticjob(&["next", "0 0 0 30 2 ?", "--json"], &[]).await;
    assert_eq!((code, json.as_str()), (0, "{\"fires\":[]}\n"));
    assert!(stderr.starts_with("note: '0 0 0 30 2 ?' never fires after "), "{stderr}");
    let once = ["next", "0 0 0 1 1 ? 2025", "--zone", "UTC", "--from", "2024-01-01T00:00:00Z"];
    let (_, text, stderr) = elasticjob(&once, &[]).await;
    let note = "note: '0 0 0 1 1 ? 2025' never fires after 2025-01-01T00:00:00+00:00\n";
    assert_eq!((text.as_str(), stderr.as_str()), ("2025-01-01T00:00:00+00:00\n", note));
}

#[tokio::test]
async fn wrong_usage_and_settings_are_told_on_the_standard_error_alone() {
    let cases: [(&[&str], &[&str]); 24] = [
        (&["next", "0 0 25 * * ?"], &["hour", "25", "0 to 23"]),
        (&["next", "0 0 1 * * ?", "--zone", "Europe/Berln"], &["time zone 'Europe/Berln'", "Europe/Berlin"]),
        (&["next", "0 0 1 * * ?", "--from", "yesterday"], &["--from 'yesterday'", "RFC 3339"]),
        (&["frobnicate"], &["frobnicate"]),
        (&["dump", "a", "--from", "localhost"], &["--from", "HOST:PORT", "localhost:9888"]),
        (&["disable"], &["--job", "--server"]),
        (&["trigger"], &["JOB", "--server"]),
        (&["disable", "--item", "1", "--server", "a"], &["--item"]),
        (&["why", "a/b"], &["a/b", "'/'"]),
        (&["history", "tick"], &["elasticjob.tracing.type", "ELASTICJOB_TRACING_DATA_SOURCE_URL"]),
        (&["why", "tick", "--at", "03:00"], &["--at", "2026-11-21T03:00+08:00"]),
        (&["why", "tick", "--at", "2026-11-21T03:00+08:00"], &["elasticjob.tracing.type"]),
        (&["decisions"], &["elasticjob.tracing.type", "ELASTICJOB_TRACING_DATA_SOURCE_URL"]),
        (&["decisions", "--kind", "LUNCH"], &["--kind", "LUNCH"]),
        (&["states", "tick", "--state", "asleep"], &["--state", "staging, running, finished, error"]),
        (&["audit", "--limit", "1001"], &["--limit", "1..=1000"]),
        (&["nodes", "settle"], &["no path of a node", "/settle/config"]),
        (&["history", "tick", "--limit", "0"], &["--limit", "1..=1000"]),
        (&["history", "tick", "--after", "yesterday"], &["'yesterday' is no cursor"]),
        (&["history", "tick", "--from", "yesterday"], &["--from", "yesterday"]),
        (&["jobs"], &["--server-lists", "ELASTICJOB_REG_CENTER_SERVER_LISTS", "embedded"]),
        (&["jobs", "--server-lists", "a:1"], &["namespace"]),
        (&["jobs", "--registry", "billing"], &["elasticjob.reg-centers has no 'billing'; known: default"]),
        (&["jobs", "--registry", "billing", "--namespace", "x"], &["--registry", "--namespace"]),
    ];
    for (arguments, parts) in cases {
        let (code, stdout, stderr) = elasticjob(arguments, &[]).await;
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}");
        for part in parts {
            assert!(stderr.starts_with("error: ") && stderr.contains(part), "{arguments:?}: {stderr}");
        }
    }
}

#[tokio::test]
async fn a_registry_center_that_is_not_reached_has_a_code_of_its_own_and_the_digest_is_not_shown() {
    let soon = [
        ("ELASTICJOB_REG_CENTER_BASE_SLEEP_TIME_MILLISECONDS", "50"),
        ("ELASTICJOB_REG_CENTER_MAX_SLEEP_TIME_MILLISECONDS", "50"),
        ("ELASTICJOB_REG_CENTER_NAMESPACE", "ns"),
    ];
    let reach = ["--server-lists", "127.0.0.1:1"];
    let (code, stdout, stderr) = elasticjob(&[&["jobs", "--digest", "me:hunter2"], &reach[..]].concat(), &soon).await;
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("127.0.0.1:1") && !stderr.contains("hunter2"), "{stderr}");
    let (code, _, stderr) = elasticjob(&[&["jobs", "--digest", "hunter2"], &reach[..]].concat(), &soon).await;
    assert!(stderr.starts_with("error: --digest: "), "{stderr}");
    assert!(code == 2 && stderr.contains("user:password") && !stderr.contains("hunter2"), "{stderr}");
}

#[tokio::test]
async fn a_registry_center_with_a_name_is_asked_for_by_it() {
    let soon = |center: &str| {
        let of = |key: &str| format!("ELASTICJOB_{center}_{key}");
        let values =
            [("NAMESPACE", "ns"), ("BASE_SLEEP_TIME_MILLISECONDS", "50"), ("MAX_SLEEP_TIME_MILLISECONDS", "50")];
        values.map(|(key, value)| (of(key), value))
    };
    let all = [soon("REG_CENTER"), soon("REG_CENTERS_BILLING")].concat();
    let mut variables: Vec<(&str, &str)> = all.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    variables.push(("ELASTICJOB_REG_CENTER_SERVER_LISTS", "127.0.0.1:1"));
    variables.push(("ELASTICJOB_REG_CENTERS_BILLING_SERVER_LISTS", "127.0.0.1:2"));
    for (of, address) in [(&["--registry", "billing"][..], "127.0.0.1:2"), (&["--registry", "default"], "127.0.0.1:1")]
    {
        let (code, _, stderr) = elasticjob(&[&["jobs"], of].concat(), &variables).await;
        assert!(code == 3 && stderr.contains(address), "{of:?}: {stderr}");
    }
    let (code, _, stderr) = elasticjob(&["trigger", "x", "--registry", "biling"], &variables).await;
    assert!(code == 2 && stderr.contains("'biling'; known: default, billing"), "{stderr}");
}

#[tokio::test]
async fn of_the_settings_only_those_that_say_where_the_registry_center_is_have_to_be_right() {
    let folder = std::env::temp_dir().join(format!("elasticjob-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let jobs = "jobs: {mail: {corn: x, props: {email.password: '${MAIL_PASSWORD}'}}, two: 2}";
    let center = "reg-center: {server-lists: '127.0.0.1:1', namespace: ns, max-sleep-time-milliseconds: 50}";
    let write = |text: String| std::fs::write(folder.join("application.yaml"), text).unwrap();
    let jobs_of = async |variables: &[(&str, &str)]| {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let sources = Sources::in_folder(&folder).environment(variables.iter().copied());
        let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
        (run(["elasticjob", "jobs"], sources, console).await, String::from_utf8(stderr).unwrap())
    };
    let soon = ("ELASTICJOB_REG_CENTER_BASE_SLEEP_TIME_MILLISECONDS", "50");
    write(format!("elasticjob:\n  {center}\n  dump: {{port: many}}\n  {jobs}\n"));
    let (code, stderr) = jobs_of(&[soon, ("ELASTICJOB_REG_CENTRE_NAMESPACE", "x")]).await;
    assert!(code == 3 && stderr.contains("127.0.0.1:1"), "it is not reached, which is all that is wrong: {stderr}");
    let warning = "warning: environment variable ELASTICJOB_REG_CENTRE_NAMESPACE is not a setting: did you mean";
    assert!(stderr.starts_with(warning), "{stderr}");
    write("elasticjob:\n  reg-center: {server-lists: '127.0.0.1:1', namespace: '${NAMESPACE_OF_JOBS}'}\n".to_owned());
    let (code, stderr) = jobs_of(&[soon]).await;
    assert!(code == 2 && stderr.contains("NAMESPACE_OF_JOBS"), "{stderr}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn help_and_completions_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["completions", "bash"], &["config", "set", "--help"]] {
        let (code, stdout, stderr) = elasticjob(arguments, &[]).await;
        assert!(code == 0 && stdout.contains("elasticjob") && stderr.is_empty(), "{arguments:?}: {stdout}{stderr}");
    }
}

#[test]
fn what_the_registry_center_has_does_not_paint_the_terminal() {
    assert_eq!(shown("a\tb\nc\u{1b}[2K\r\u{9b}d 第三项"), "a\tb\nc\\u{1b}[2K\\r\\u{9b}d 第三项");
}

/// An output that fails.
struct Broken(std::io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_result_that_a_full_disk_does_not_take_is_a_failure_and_one_that_nobody_reads_is_none() {
    for (kind, expected) in [(ErrorKind::StorageFull, 1), (ErrorKind::BrokenPipe, 0)] {
        let mut stderr = Vec::new();
        let console = Console { stdout: &mut Broken(kind), stderr: &mut stderr, is_terminal: false };
        let arguments = ["elasticjob", "next", "0 0 1 * * ?", "--count", "1"];
        let sources = Sources::in_folder(std::env::temp_dir().join("elasticjob-cli-without-files"));
        assert_eq!(run(arguments, sources, console).await, expected, "{kind}");
        let stderr = String::from_utf8(stderr).unwrap();
        let is_told = stderr.starts_with("error: ") && stderr.contains("cannot be written to the standard output");
        assert_eq!(is_told, expected != 0, "{stderr}");
    }
}

#[cfg(feature = "console")]
#[test]
fn registry_centers_and_tracings_that_have_names_are_read_whatever_else_is_set() {
    use elasticjob_starter::settings::{RegCenterSettings, TracingSettings};

    let folder = std::env::temp_dir().join(format!("elasticjob-cli-named-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let yaml = "elasticjob:
  reg-center: {server-lists: 'one:2181', namespace: one, nothing: 1}
  reg-centers:
    archive: {server-lists: 'two:2181', namespace: two}
    books: {server-lists: 'three:2181', namespace: three}
  tracings:
    archive: {type: RDB, data-source: {url: 'sqlite:archive.db'}}
    empty: {type: ''}
";
    std::fs::write(folder.join("application.yaml"), yaml).unwrap();
    let sources = Sources::in_folder(&folder);
    let (centers, _) = RegCenterSettings::load_named(&sources).unwrap();
    let (tracings, _) = TracingSettings::load_named(&sources).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let namespaces: Vec<_> = centers.iter().map(|(name, one)| (name.as_str(), one.namespace.as_deref())).collect();
    assert_eq!(namespaces, [("archive", Some("two")), ("books", Some("three"))]);
    assert_eq!(tracings.keys().collect::<Vec<_>>(), ["archive"]);
}
