use super::*;
use crate::config::JobConfigurationBuilder;

fn problems(builder: JobConfigurationBuilder) -> Vec<String> {
    match builder.build() {
        Err(ConfigError::Settings { problems, .. }) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_set_has_the_documented_default() {
    let job = JobConfiguration::builder("job", 1).build().unwrap();
    assert!(job.monitor_execution && job.misfire && !job.failover && !job.disabled && !job.overwrite);
    assert_eq!((job.max_time_diff_seconds.stored(), job.reconcile_interval_minutes), (-1, 10));
    assert_eq!(job.sharding_strategy_type(), "AVG_ALLOCATION");
    assert!(job.schedule().is_none() && job.class_name().is_none());
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let wrong = problems(
        JobConfiguration::builder("job", 2)
            .cron("61 * * * * ?")
            .sharding_item_parameters("2=x")
            .failover(true)
            .monitor_execution(false),
    );
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    for (part, problem) in
        ["sharding-item-parameters: there is no item 2", "cron: ", "failover: it needs"].iter().zip(&wrong)
    {
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn items_that_move_on_with_each_fire_need_records_and_may_not_be_static() {
    let builder = || JobConfiguration::builder("job", 1).job_sharding_strategy_type("SINGLE_SHARDING_BALANCE");
    assert!(builder().build().is_ok());
    assert!(problems(builder().monitor_execution(false))[0].contains("needs monitor-execution"));
    assert!(problems(builder().static_sharding(true))[0].contains("exclude each other"));
}

#[test]
fn a_job_needs_an_item_a_name_and_a_schedule_that_fires() {
    assert!(problems(JobConfiguration::builder("job", 0))[0].contains("at least 1 item"));
    assert!(problems(JobConfiguration::builder("job", 1).cron("0 0 0 30 2 ?"))[0].contains("never fires"));
    assert!(matches!(JobConfiguration::builder("a/b", 1).build(), Err(ConfigError::Name(_))));
    let zone = problems(JobConfiguration::builder("job", 1).cron("0 0 0 1 * ?").time_zone("Asia/Shanghia"));
    assert!(zone[0].starts_with("time-zone: "), "{zone:?}");
    let zone_alone = problems(JobConfiguration::builder("job", 1).time_zone("Asia/Shanghia"));
    assert!(zone_alone[0].starts_with("time-zone: "), "{zone_alone:?}");
    assert!(JobConfiguration::builder("job", 1).time_zone(" ").build().unwrap().time_zone.is_none());
}

#[test]
fn differences_name_both_values() {
    let here = JobConfiguration::builder("job", 3).cron("0/5 * * * * ?").overwrite(true).build().unwrap();
    let there = JobConfiguration::builder("job", 2).cron("0/5 * * * * ?").build().unwrap();
    assert_eq!(here.differences(&there), ["sharding-total-count: '3' here, '2' in the registry"]);
}

#[test]
fn differences_name_properties_without_their_values() {
    let builder = || JobConfiguration::builder("job", 1);
    let here = builder().prop("a", "same").prop("b", "secret").prop("c", "secret").build().unwrap();
    let there = builder().prop("a", "same").prop("b", "hidden").prop("d", "hidden").build().unwrap();
    let expected =
        ["props.b: another value here than in the registry", "props.c: only here", "props.d: only in the registry"];
    assert_eq!(here.differences(&there), expected);
}

#[test]
fn differences_name_no_secrets_inside_of_values() {
    let with = |parameter| JobConfiguration::builder("job", 1).job_parameter(parameter).build().unwrap();
    let differences = with("token=hunter2&all=1").differences(&with("token=hunter2"));
    assert_eq!(differences, ["job-parameter: 'token=***&all=1' here, 'token=***' in the registry"]);
}

#[test]
fn changes_name_what_was_and_what_is() {
    let builder = |total| JobConfiguration::builder("job", total).prop("a", "same");
    let before = builder(3).job_parameter("token=hunter2").prop("b", "x").prop("c", "secret").build().unwrap();
    let after = builder(6).job_parameter("token=hunter3&all=1").prop("b", "y").prop("d", "z");
    let expected = [
        "sharding-total-count: '3' -> '6'",
        "job-parameter: 'token=***' -> 'token=***&all=1'",
        "props.b: another value",
        "props.c: removed",
        "props.d: added",
    ];
    assert_eq!(before.changes(&after.build().unwrap()), expected);
    assert_eq!(before.changes(&before), Vec::<String>::new());
}

#[test]
fn a_listener_is_named_once() {
    let builder = JobConfiguration::builder("job", 1).job_listener_type("a").job_listener_type("b");
    assert_eq!(builder.clone().build().unwrap().listener_types().collect::<Vec<_>>(), ["a", "b"]);
    assert!(problems(builder.job_listener_type("a"))[0].contains("'a' is given twice"));
}

#[test]
fn secrets_stay_with_the_program_and_come_back_to_what_the_registry_has() {
    let builder = JobConfiguration::builder("job", 1).job_error_handler_type("EMAIL").prop("email.host", "mail");
    let local = ["email.password", "db.pwd", "aws.credential", "api.accesskey", "my.secret-key"]
        .into_iter()
        .fold(builder.clone(), |builder, key| builder.prop(key, "hush"))
        .build()
        .unwrap();
    let yaml = crate::config::wire::to_yaml(&local.for_registry(None));
    assert!(yaml.contains("props:\n  email.host: mail\nreconcile") && !yaml.contains("hush"), "{yaml}");
    let registry = crate::config::wire::from_yaml(local.job_name(), yaml.as_bytes()).unwrap();
    assert_eq!(local.differences(&registry), Vec::<String>::new());
    assert_eq!(registry.clone().under(&local, &[]).configuration, local);
    // Java keeps secrets in the registry center.
    let of_java = builder.prop("email.password", "other").build().unwrap();
    assert_eq!(of_java.clone().under(&local, &[]).configuration.prop("email.password"), Some("hush"));
    assert_eq!(local.for_registry(Some(&of_java)), of_java);
    assert_eq!(local.differences(&of_java), ["props.email.password: another value here than in the registry"]);
}

#[test]
fn how_late_a_fire_may_begin_is_a_setting_of_its_own() {
    let refused = |builder: crate::config::JobConfigurationBuilder| builder.build().unwrap_err().to_string();
    let zero = refused(JobConfiguration::builder("job", 1).max_late_begin_seconds(0));
    assert!(zero.contains("max-late-begin-seconds: 0 leaves no time"), "{zero}");
    let prop = refused(JobConfiguration::builder("job", 1).prop("elasticjob.max-late-begin-seconds", "5"));
    assert!(prop.contains("set that instead"), "{prop}");
    let unlimited = JobConfiguration::builder("job", 1).max_late_begin_seconds(-7).build().unwrap();
    assert_eq!(unlimited, JobConfiguration::builder("job", 1).build().unwrap());
}
