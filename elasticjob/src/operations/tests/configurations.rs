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
