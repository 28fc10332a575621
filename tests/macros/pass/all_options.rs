//! Each option fills the setting of its name, and nothing else is filled.

#![deny(warnings)]

use elasticjob::api::ShardingContext;
use elasticjob::config::JobSettings;
use elasticjob::elastic_job;
use elasticjob::spi::JOBS;

#[elastic_job(
    name = "all",
    cron = "0/5 * * * * ?",
    time_zone = "Asia/Shanghai",
    sharding_total_count = 3,
    sharding_item_parameters = "0=Beijing,1=Shanghai,2=Guangzhou",
    job_parameter = "p",
    monitor_execution = true,
    failover = true,
    misfire = false,
    max_time_diff_seconds = -1,
    reconcile_interval_minutes = 0,
    job_sharding_strategy_type = "ODEVITY",
    job_executor_thread_pool_size_provider_type = "SINGLE_THREAD",
    job_error_handler_type = "IGNORE",
    job_listener_types = ["A", "B"],
    description = "everything",
    props = { "script.command.line" = "echo", "empty" = "" },
    disabled = true,
    overwrite = true,
    label = "l",
    static_sharding = true,
    elastic_job_class = "org.acme.All",
    job_bootstrap_bean_name = "allBean",
    registry_center = "main",
    tracing = "audit",
    crate = ::elasticjob,
)]
async fn all(_context: ShardingContext) {}

#[elastic_job(
    elastic_job_type = "SIMPLE",
    params = "0=x",
    listeners = ["A"],
    depends_on = ["all when ended", "bare items same"]
)]
async fn others() {}

#[elastic_job]
async fn bare() {}

fn settings(name: &str) -> JobSettings {
    let job = JOBS.iter().find(|job| job.name == name).expect("the job is registered");
    (job.settings)()
}

#[test]
fn each_option_fills_the_setting_of_its_name() {
    let all = settings("all");
    assert_eq!(all.cron.as_deref(), Some("0/5 * * * * ?"));
    assert_eq!(all.time_zone.as_deref(), Some("Asia/Shanghai"));
    assert_eq!(all.sharding_total_count, Some(3));
    assert_eq!(all.sharding_item_parameters.as_deref(), Some("0=Beijing,1=Shanghai,2=Guangzhou"));
    assert_eq!(all.job_parameter.as_deref(), Some("p"));
    assert_eq!(all.monitor_execution, Some(true));
    assert_eq!(all.failover, Some(true));
    assert_eq!(all.misfire, Some(false));
    assert_eq!(all.max_time_diff_seconds, Some(-1));
    assert_eq!(all.reconcile_interval_minutes, Some(0));
    assert_eq!(all.job_sharding_strategy_type.as_deref(), Some("ODEVITY"));
    assert_eq!(all.job_executor_thread_pool_size_provider_type.as_deref(), Some("SINGLE_THREAD"));
    assert_eq!(all.job_error_handler_type.as_deref(), Some("IGNORE"));
    assert_eq!(all.job_listener_types, Some(vec!["A".to_owned(), "B".to_owned()]));
    assert_eq!(all.description.as_deref(), Some("everything"));
    let props = all.props.expect("there are properties");
    assert_eq!(props.len(), 2);
    assert_eq!(props["script.command.line"], "echo");
    assert_eq!(props["empty"], "");
    assert_eq!(all.disabled, Some(true));
    assert_eq!(all.overwrite, Some(true));
    assert_eq!(all.label.as_deref(), Some("l"));
    assert_eq!(all.static_sharding, Some(true));
    assert_eq!(all.elastic_job_class.as_deref(), Some("org.acme.All"));
    assert_eq!(all.job_bootstrap_bean_name.as_deref(), Some("allBean"));
    assert_eq!(all.registry_center_ref.as_deref(), Some("main"));
    assert_eq!(all.tracing_ref.as_deref(), Some("audit"));
    assert_eq!(all.elastic_job_type, None);

    let others = settings("others");
    assert_eq!(others.elastic_job_type.as_deref(), Some("SIMPLE"));
    assert_eq!(others.sharding_item_parameters.as_deref(), Some("0=x"));
    assert_eq!(others.job_listener_types, Some(vec!["A".to_owned()]));
    assert_eq!(others.cron, None);
    assert_eq!(others.depends_on, Some(vec!["all when ended".to_owned(), "bare items same".to_owned()]));

    assert_eq!(format!("{:?}", settings("bare")), format!("{:?}", JobSettings::default()));
}
