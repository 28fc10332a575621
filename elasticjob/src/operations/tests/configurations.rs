use super::*;

use crate::config::JobSettings;

const JAVA: &str = "cron: 0 0 3 * * ?\nfuture:\n- 1\njobExtraConfigurations:\n- !!org.a.B\n  type: RDB\njobName: job\nprops:\n  a.secret: s\nshardingTotalCount: 2\n";

#[tokio::test]
async fn a_change_is_followed_by_running_instances_and_told_setting_by_setting() {
    let desk = Desk::new();
    let (handler, mut runs) = reporter();
    let job = desk.start(once_a_year("job", 1), handler).await;
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let change = JobSettings { cron: Some("* * * * * ?".into()), ..JobSettings::default() };
    let change = change.over(stored.configuration.settings());
    let told = desk.operations.update_configuration(&stored, &change).await.unwrap();
    assert_eq!(told.changes, ["cron: '0 0 0 1 1 ?' -> '* * * * * ?'"]);
    soon(runs.recv()).await.unwrap();
    assert_eq!(job.handle().status().borrow().refused_configuration, None);

    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let before = desk.operations.registry.requests().writes;
    let nothing = ConfigurationChange::default();
    assert_eq!(desk.operations.update_configuration(&stored, &change).await.unwrap(), nothing);
    assert_eq!(desk.operations.registry.requests().writes, before, "no difference, no write");
}

#[tokio::test]
async fn secrets_are_shown_in_no_form_of_a_configuration() {
    const SECRETS: &str = "jobParameter: token=hunter2\nprops:\n  email.password: hunter2\n  http.uri: http://sa:hunter2@h/x\n  script.command.line: run --password=hunter2\nshardingTotalCount: 1\n";
    let desk = Desk::new();
    desk.write(&[("/job/config", SECRETS)]).await;
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    let change = JobSettings { job_parameter: Some("token=hunter22".into()), ..stored.configuration.settings() };
    let change = desk.operations.update_configuration(&stored, &change).await.unwrap();
    assert_eq!(change.changes, ["job-parameter: 'token=***' -> 'token=***'"]);
    let json = serde_json::to_string(&stored.masked_settings()).unwrap();
    for shown in [stored.masked_text(), json, format!("{stored:?}"), format!("{snapshot:?}")] {
        assert!(shown.contains("http://***@h/x") && !shown.contains("hunter2"), "{shown}");
    }
    let written = desk.text("/job/config").await.unwrap();
    assert!(written.contains("token=hunter22") && written.contains("email.password: hunter2"), "{written}");
}

#[tokio::test]
async fn what_nobody_here_knows_stays_in_a_changed_configuration() {
    let desk = Desk::new();
    desk.write(&[("/job/config", JAVA)]).await;
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    assert_eq!(stored.ignored.len(), 1);
    let (parameter, zone) = (Some("p".into()), Some("Europe/Berlin".into()));
    let change = JobSettings { job_parameter: parameter, time_zone: zone, ..stored.configuration.settings() };
    let change = desk.operations.update_configuration(&stored, &change).await.unwrap();
    assert_eq!(change.foreign_to_java.iter().map(|value| value.setting).collect::<Vec<_>>(), ["time-zone"]);
    let text = desk.text("/job/config").await.unwrap();
    for kept in [
        "future:\n- 1\n",
        "jobExtraConfigurations:\n- !!org.a.B\n  type: RDB\n",
        "  a.secret: s\n",
        "jobParameter: p\n",
    ] {
        assert!(text.contains(kept), "{text}");
    }
}

#[tokio::test]
async fn a_change_that_cannot_be_used_is_refused_with_every_reason() {
    let desk = Desk::new();
    desk.write(&[("/job/config", JAVA)]).await;
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let change = JobSettings {
        cron: Some("0 0 0 30 2 ?".into()),
        sharding_total_count: Some(0),
        time_zone: Some("Mars".into()),
        ..stored.configuration.settings()
    };
    let error = desk.operations.update_configuration(&stored, &change).await.unwrap_err().to_string();
    for part in [
        "job 'job' was not changed",
        "sharding-total-count: 0",
        "time-zone",
        "Mars",
        "cron: '0 0 0 30 2 ?' never fires",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(desk.text("/job/config").await.as_deref(), Some(JAVA));
}

#[tokio::test]
async fn a_change_that_somebody_else_made_meanwhile_is_not_lost() {
    let desk = Desk::new();
    desk.write(&[("/job/config", JAVA)]).await;
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let others = JAVA.replace("shardingTotalCount: 2", "shardingTotalCount: 3");
    desk.write(&[("/job/config", &others)]).await;
    let change = JobSettings { job_parameter: Some("p".into()), ..stored.configuration.settings() };
    let error = desk.operations.update_configuration(&stored, &change).await.unwrap_err();
    assert_eq!(error, OperationError::ChangedMeanwhile { job: name("job") });
    assert_eq!(desk.text("/job/config").await, Some(others));
}

#[tokio::test]
async fn a_configuration_that_is_missing_or_cannot_be_read_is_an_error_that_says_so() {
    let desk = Desk::new();
    desk.write(&[("/bare", ""), ("/odd/config", "shardingTotalCount: many\n")]).await;
    let error = |job: &'static str| async { desk.operations.configuration(&name(job)).await.unwrap_err().to_string() };
    assert!(error("bare").await.contains("'bare' has no configuration"));
    assert!(error("odd").await.contains("shardingTotalCount: 'many'"));
    assert!(error("none").await.contains("known: bare, odd"));
}

/// A job of a type without code, which its root node names.
async fn of_type(kind: &str, props: &str) -> Desk {
    let desk = Desk::new();
    let config = format!("cron: 0 0 3 * * ?\nprops:\n{props}shardingTotalCount: 1\n");
    desk.write(&[("/job", kind), ("/job/config", &config)]).await;
    desk
}

/// The report of a change, or why it is refused.
async fn changed(desk: &Desk, handler: Option<&str>, props: &[(&str, &str)]) -> Result<ConfigurationChange, String> {
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let mut settings = stored.configuration.settings();
    settings.job_error_handler_type = handler.map(str::to_owned);
    settings.props.get_or_insert_default().extend(props.iter().map(|(key, value)| ((*key).into(), (*value).into())));
    desk.operations.update_configuration(&stored, &settings).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn built_in_types_check_a_change_as_programs_do_at_start() {
    const SCRIPT: &str = "  script.command.line: run.sh\n";
    for (kind, has, handler, change, reason) in [
        ("SCRIPT", SCRIPT, None, ("script.timeout.milliseconds", "10s"), "props.script.timeout.milliseconds: '10s'"),
        ("SCRIPT", SCRIPT, None, ("script.command.line", ""), "props.script.command.line: is missing"),
        ("", "  k: v\n", None, ("streaming.process", "maybe"), "props.streaming.process: 'maybe'"),
        ("org.a.Flow", "  k: v\n", None, ("streaming.process", "maybe"), "props.streaming.process: 'maybe'"),
        #[cfg(feature = "http")]
        ("HTTP", "  http.uri: http://a\n  http.method: GET\n", None, ("http.uri", "x"), "props.http.uri: "),
        #[cfg(feature = "email")]
        ("", "  k: v\n", Some("EMAIL"), ("email.port", "abc"), "props.email.host: is missing"),
        #[cfg(feature = "email")]
        ("", "  k: v\n", Some("EMAIL"), ("email.port", "abc"), "props.email.port: 'abc'"),
    ] {
        let desk = of_type(kind, has).await;
        let before = desk.text("/job/config").await;
        let refused = changed(&desk, handler, &[change]).await.unwrap_err();
        assert!(refused.contains(reason), "{change:?}: {refused}");
        assert_eq!(desk.text("/job/config").await, before);
    }
}

#[tokio::test]
async fn what_a_program_has_of_its_own_is_taken_and_its_types_are_named() {
    let desk = of_type("TRUNCATE", "  k: v\n").await;
    assert_eq!(changed(&desk, None, &[("script.timeout.milliseconds", "10s")]).await.unwrap().own_types, [""; 0]);
    let told = changed(&desk, Some("PAGER"), &[]).await.unwrap();
    assert_eq!(told.own_types, ["job-error-handler-type 'PAGER'"]);
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    let reason = Reason::OwnTypes(told.own_types);
    assert!(reasons(&snapshot).contains(&reason), "{:?}", snapshot.findings(0));
    assert_eq!(changed(&desk, Some("PAGER"), &[("k", "w")]).await.unwrap().own_types, [""; 0], "it had it before");
    let told = changed(&desk, Some("DINGTALC"), &[]).await.unwrap();
    assert_eq!(told.own_types, ["job-error-handler-type 'DINGTALC' (did you mean 'DINGTALK'?)"]);
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_secret_that_only_programs_have_is_not_missed() {
    let desk = of_type("", "  k: v\n").await;
    changed(&desk, Some("DINGTALK"), &[("dingtalk.keyword", "jobs")]).await.unwrap();
    assert!(desk.operations.snapshot(&name("job")).await.unwrap().usable().is_some());
    let refused = changed(&desk, Some("DINGTALK"), &[("dingtalk.webhook", "https://x")]).await.unwrap_err();
    assert!(
        refused.contains("props.dingtalk.webhook: it is a secret") && refused.contains("application.yaml"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_stored_configuration_that_programs_refuse_is_named_wherever_a_job_is_told() {
    let desk = of_type("SCRIPT", "  script.timeout.milliseconds: 10s\n").await;
    desk.write(&[
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", ""),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
    ])
    .await;
    let brief = desk.operations.job(&name("job")).await.unwrap();
    let problem = brief.problem.unwrap();
    assert!(problem.contains("props.script.command.line: is missing") && problem.contains("'10s'"), "{problem}");
    assert_eq!(brief.status, JobState::ConfigurationRefused);
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    assert_eq!(snapshot.state(), JobState::ConfigurationRefused);
    let is_told = |reason: &Reason| matches!(reason, Reason::ConfigurationRefused(why) if why.as_str() == problem);
    assert!(reasons(&snapshot).iter().any(is_told), "{:?}", snapshot.findings(0));
    // The operator can read it, so that the operator can correct it.
    let mended = [("script.command.line", "run.sh"), ("script.timeout.milliseconds", "10000")];
    changed(&desk, None, &mended).await.unwrap();
    assert_eq!(desk.operations.job(&name("job")).await.unwrap().status, JobState::Ok);
}

#[tokio::test]
async fn a_change_of_a_command_says_what_programs_do_with_it() {
    let desk = of_type("SCRIPT", "  script.command.line: run.sh\n").await;
    let told = changed(&desk, None, &[("script.command.line", "other.sh")]).await.unwrap();
    assert_eq!(told.changes, ["props.script.command.line: changed"]);
    let [note] = &told.bound_to_programs[..] else { panic!("{told:?}") };
    assert!(note.contains("refuse it") && note.contains("`props.script.command.line.from-registry: true`"), "{note}");
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    assert!(reasons(&snapshot).contains(&Reason::BoundToPrograms(vec![note.clone()])), "{:?}", snapshot.findings(0));
    let told = changed(&desk, None, &[("script.timeout.milliseconds", "5")]).await.unwrap();
    assert_eq!(told.bound_to_programs, Vec::<String>::new());
    let refused = changed(&desk, None, &[("script.command.line.from-registry", "true")]).await.unwrap_err();
    assert!(refused.contains("only the program can allow that"), "{refused}");
}

#[tokio::test]
async fn the_configuration_of_a_carried_job_is_changed_by_its_registration_alone() {
    let desk = Desk::new();
    desk.write(&[("/job/config", JAVA), ("/other/config", JAVA), ("/config/job/job", "{\"jobName\": \"job\"}")]).await;
    let stored = desk.operations.configuration(&name("job")).await.unwrap();
    let settings = stored.configuration.settings();
    let change = JobSettings { description: Some("night".into()), ..settings.clone() };
    let refused = OperationError::CarriedJob { job: name("job") };
    assert_eq!(desk.operations.check_configuration(&stored, &change).unwrap_err(), refused);
    let error = desk.operations.update_configuration(&stored, &change).await.unwrap_err();
    assert_eq!(error, refused);
    for part in ["'job'", "carried job", "registration", "`PUT /api/job/update`"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(desk.text("/job/config").await.unwrap(), JAVA, "nothing is written");
    assert_eq!(
        desk.operations.update_configuration(&stored, &settings).await.unwrap(),
        ConfigurationChange::default(),
        "what changes nothing contradicts nothing"
    );
    let other = desk.operations.configuration(&name("other")).await.unwrap();
    assert!(stored.is_carried() && !other.is_carried());
    let change = JobSettings { description: Some("night".into()), ..other.configuration.settings() };
    assert_eq!(desk.operations.update_configuration(&other, &change).await.unwrap().changes.len(), 1);
}
