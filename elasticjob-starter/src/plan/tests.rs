use elasticjob::api::{ArgumentSite, ElasticJobListener, Inject, JobArgument, MissingBean, item_handler};

use super::*;
use crate::settings::Sources;

fn handler(_: &Beans) -> Result<ItemHandler, Vec<MissingBean>> {
    Ok(item_handler(|_| async {}))
}

fn needs_text(beans: &Beans) -> Result<ItemHandler, Vec<MissingBean>> {
    <Inject<String> as JobArgument>::bind(beans, ArgumentSite { name: "text", bean: None })
        .map_err(|missing| vec![missing])?;
    handler(beans)
}

fn complete() -> JobSettings {
    JobSettings {
        cron: Some("0/5 * * * * ?".to_owned()),
        sharding_total_count: Some(3),
        job_parameter: Some("attribute".to_owned()),
        ..JobSettings::default()
    }
}

fn one_off() -> JobSettings {
    JobSettings { sharding_total_count: Some(1), ..JobSettings::default() }
}

fn peer() -> JobSettings {
    JobSettings { elastic_job_class: Some("com.example.Peer".to_owned()), ..complete() }
}

fn elsewhere() -> JobSettings {
    JobSettings { registry_center: Some("reports".to_owned()), ..complete() }
}

const fn function(name: &'static str, path: &'static str, settings: fn() -> JobSettings) -> JobDescriptor {
    JobDescriptor { name, function: path, place: "src/jobs.rs:7", kind: JobKind::Simple, settings, bind: handler }
}

static SYNC: [JobDescriptor; 1] = [function("syncOrders", "shop::jobs::sync_orders", complete)];
static BARE: [JobDescriptor; 1] = [function("bare", "shop::jobs::bare", JobSettings::default)];
static SEVERAL: [JobDescriptor; 4] = [
    function("one", "shop::a::run", complete),
    function("two", "shop::b::run", one_off),
    function("three", "shop::peer", peer),
    function("bare", "shop::jobs::bare", JobSettings::default),
];

fn settings(yaml: &str) -> Settings {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace(':', "_");
    let folder = std::env::temp_dir().join(format!("elasticjob-plan-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), yaml).unwrap();
    let settings = Settings::load(&Sources::in_folder(&folder), &[]);
    std::fs::remove_dir_all(&folder).unwrap();
    settings.unwrap_or_else(|errors| panic!("{errors:?}"))
}

struct Audit;

impl ElasticJobListener for Audit {
    fn type_name(&self) -> &str {
        "audit"
    }
}

fn made(functions: &'static [JobDescriptor], yaml: &str) -> Result<Plan, Vec<String>> {
    let catalog = Catalog::builder().listener(Audit).build().unwrap();
    let around = Surroundings {
        registry_centers: &BTreeSet::new(),
        provided: &BTreeSet::from(["taken".to_owned()]),
        catalog: Some(&catalog),
    };
    let texts = |errors: Vec<PlanError>| errors.iter().map(ToString::to_string).collect();
    Plan::make(&Linked::new(functions), &settings(yaml), &around).map_err(texts)
}

fn jobs(functions: &'static [JobDescriptor], yaml: &str) -> Vec<String> {
    let plan = made(functions, yaml).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let show = |job: &PlannedJob| {
        format!(
            "{} {} {} {} {}",
            job.configuration.job_name(),
            match job.code {
                JobCode::Function(function) => function.function,
                JobCode::Type => job.configuration.job_type().unwrap(),
            },
            job.configuration.schedule().map_or("-".to_owned(), |schedule| schedule.cron().to_string()),
            job.configuration.job_parameter(),
            job.bean_name
        )
    };
    plan.jobs.iter().map(show).collect()
}

fn only_error(functions: &'static [JobDescriptor], yaml: &str, parts: &[&str]) {
    let errors = made(functions, yaml).err().unwrap_or_else(|| panic!("no error for {yaml}"));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    for part in parts {
        assert!(errors[0].contains(part), "no {part:?} in: {}", errors[0]);
    }
}

#[test]
fn a_setting_wins_over_the_attribute_and_the_attribute_over_the_default() {
    assert_eq!(
        jobs(&SYNC, ""),
        ["syncOrders shop::jobs::sync_orders 0/5 * * * * ? attribute syncOrdersScheduleJobBootstrap"]
    );
    let yaml = "elasticjob: {jobs: {syncOrders: {cron: 0 0 * * * ?}}}";
    assert_eq!(
        jobs(&SYNC, yaml),
        ["syncOrders shop::jobs::sync_orders 0 0 * * * ? attribute syncOrdersScheduleJobBootstrap"]
    );
    let yaml = "elasticjob: {jobs: {syncOrders: {jobParameter: file, job-bootstrap-bean-name: mine}}}";
    assert_eq!(jobs(&SYNC, yaml), ["syncOrders shop::jobs::sync_orders 0/5 * * * * ? file mine"]);
}

#[test]
fn an_empty_schedule_makes_a_one_off_job() {
    let yaml = "elasticjob: {jobs: {syncOrders: {cron: ''}}}";
    assert_eq!(jobs(&SYNC, yaml), ["syncOrders shop::jobs::sync_orders - attribute syncOrdersOneOffJobBootstrap"]);
}

#[test]
fn several_entries_can_name_one_function_in_each_way() {
    let yaml = "elasticjob:\n  jobs:\n    east: {elastic-job-class: 'shop::jobs::bare', sharding-total-count: 1}\n    \
                west: {elasticJobClass: bare, sharding-total-count: 1, cron: 0 0 1 * * ?}\n    copy: {elastic-job-class: two}\n    \
                java: {elastic-job-class: com.example.Peer}\n    one: {elastic-job-class: com.example.Other}\n";
    assert_eq!(
        jobs(&SEVERAL, yaml),
        [
            "copy shop::b::run -  copyOneOffJobBootstrap",
            "east shop::jobs::bare -  eastOneOffJobBootstrap",
            "java shop::peer 0/5 * * * * ? attribute javaScheduleJobBootstrap",
            "one shop::a::run 0/5 * * * * ? attribute oneScheduleJobBootstrap",
            "west shop::jobs::bare 0 0 1 * * ?  westScheduleJobBootstrap",
            "two shop::b::run -  twoOneOffJobBootstrap",
            "three shop::peer 0/5 * * * * ? attribute threeScheduleJobBootstrap",
        ]
    );
}

#[test]
fn a_configured_job_without_code_lists_the_linked_ones() {
    let yaml = "elasticjob:\n  jobs:\n    syncOrder: {cron: 0 0 1 * * ?}\n";
    let parts = [
        "application.yaml:3",
        "elasticjob.jobs.syncOrder",
        "did you mean 'syncOrders'?",
        "shop::jobs::sync_orders",
        "use the_crate as _;",
    ];
    only_error(&SYNC, yaml, &parts);
    let yaml = "elasticjob:\n  jobs:\n    x:\n      elastic-job-class: shop::none\n";
    only_error(&SYNC, yaml, &["application.yaml:4", "'shop::none'", "'syncOrders' (shop::jobs::sync_orders)"]);
    only_error(&[], "elasticjob: {jobs: {x: {cron: 0 0 1 * * ?}}}", &["none is linked at all"]);
}

#[test]
fn a_function_without_any_settings_says_which_are_missing() {
    only_error(&BARE, "", &["'bare'", "src/jobs.rs:7", "`sharding-total-count`", "`cron`", "elasticjob.jobs.bare"]);
    only_error(&BARE, "elasticjob:\n  jobs:\n    bare: {cron: 0 0 1 * * ?}\n", &["'bare'", "sharding-total-count"]);
}

#[test]
fn two_functions_of_one_name_are_both_named() {
    static TWICE: [JobDescriptor; 2] = [function("same", "a::same", complete), function("same", "b::same", complete)];
    let errors = made(&TWICE, "").err().unwrap();
    assert!(
        errors.iter().any(|error| error.contains("a::same at src/jobs.rs:7 and b::same at src/jobs.rs:7")),
        "{errors:#?}"
    );
}

#[test]
fn a_reference_to_several_functions_lists_them() {
    let yaml = "elasticjob: {jobs: {x: {elastic-job-class: run}, bare: {sharding-total-count: 1}}}";
    only_error(&SEVERAL, yaml, &["'run'", "shop::a::run, shop::b::run", "whole path"]);
}

#[test]
fn a_job_of_a_type_needs_no_function_but_what_the_type_asks_for() {
    let script =
        "{cron: 0 0 1 * * ?, sharding-total-count: 1, elastic-job-type: SCRIPT, props: {script.command.line: ls}}";
    let yaml = format!("elasticjob: {{jobs: {{listing: {script}}}}}");
    assert_eq!(jobs(&SYNC, &yaml)[0], "listing SCRIPT 0 0 1 * * ?  listingScheduleJobBootstrap");
    let without = "elasticjob:\n  jobs:\n    listing:\n      {sharding-total-count: 1, elastic-job-type: SCRIPT}\n";
    only_error(&SYNC, without, &["application.yaml:4", "job 'listing'", "props.script.command.line: is missing"]);
}

#[test]
fn the_kind_of_a_job_may_be_named_and_has_to_be_that_of_its_code() {
    static FLOW: [JobDescriptor; 1] =
        [JobDescriptor { kind: JobKind::Dataflow, ..function("Orders", "shop::Orders", complete) }];
    let yaml = |kind: &str| format!("elasticjob: {{jobs: {{Orders: {{elastic-job-type: {kind}}}}}}}");
    let plan = made(&FLOW, &yaml("DATAFLOW")).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(plan.jobs[0].configuration.job_type(), Some("DATAFLOW"));
    only_error(&FLOW, &yaml("SIMPLE"), &["application.yaml:1", "Orders.elastic-job-type", "SIMPLE", "is DATAFLOW"]);
    only_error(&FLOW, &yaml("HTTP"), &["two things to run", "'HTTP'", "shop::Orders"]);
    let other = "elasticjob: {jobs: {other: {elastic-job-type: DATAFLOW, sharding-total-count: 1}}}";
    only_error(&FLOW, other, &["application.yaml:1", "'other'", "`fetch` and `process`", "`elastic-job-class`"]);
    let streaming = "elasticjob: {jobs: {Orders: {props: {streaming.process: sometimes}}}}";
    only_error(&FLOW, streaming, &["props.streaming.process", "'sometimes'", "true or false"]);
}

#[test]
fn class_and_type_exclude_each_other_and_so_do_type_and_function() {
    let yaml = "elasticjob: {jobs: {syncOrders: {elastic-job-class: x, elastic-job-type: SCRIPT}}}";
    only_error(&SYNC, yaml, &["syncOrders", "exclude each other"]);
    let yaml = "elasticjob: {jobs: {syncOrders: {elastic-job-type: SCRIPT}}}";
    only_error(&SYNC, yaml, &["syncOrders", "two things to run", "'SCRIPT'", "shop::"]);
    let yaml = "elasticjob: {jobs: {s: {elastic-job-type: SCRIPTS}}}";
    only_error(&SYNC, yaml, &["elasticjob.jobs.s.elastic-job-type", "'SCRIPTS'", "SCRIPT (built in)"]);
}

#[test]
fn a_wrong_setting_names_its_place() {
    let yaml = "elasticjob:\n  jobs:\n    syncOrders:\n      cron: bad\n";
    only_error(&SYNC, yaml, &["application.yaml:4", "syncOrders", "cron", "'bad'"]);
    only_error(&SYNC, "elasticjob: {jobs: {'a/b': {elastic-job-class: syncOrders}}}", &["application.yaml:1", "'a/b'"]);
}

#[test]
fn a_strategy_that_there_is_not_names_its_place_and_those_there_are() {
    let yaml = "elasticjob:\n  jobs:\n    syncOrders:\n      job-sharding-strategy-type: RANDOM\n";
    only_error(
        &SYNC,
        yaml,
        &["application.yaml:4", "'syncOrders'", "job-sharding-strategy-type", "'RANDOM'", "ODEVITY (built in)"],
    );
}

#[test]
fn an_error_handler_without_its_options_is_refused_at_its_place() {
    let yaml = "elasticjob:\n  jobs:\n    syncOrders:\n      job-error-handler-type: WECHAT\n";
    only_error(&SYNC, yaml, &["application.yaml:4", "'syncOrders'", "props.wechat.webhook: is missing"]);
    let yaml = "elasticjob: {jobs: {syncOrders: {job-error-handler-type: FAX}}}";
    only_error(&SYNC, yaml, &["job-error-handler-type: there is no error handler 'FAX'", "LOG (built in)"]);
}

#[test]
fn a_bean_name_belongs_to_one() {
    let yaml = "elasticjob: {jobs: {syncOrders: {job-bootstrap-bean-name: taken}}}";
    only_error(&SYNC, yaml, &["'taken'", "a provided value", "job 'syncOrders'"]);
    let yaml = "elasticjob: {jobs: {a: {elastic-job-class: syncOrders, job-bootstrap-bean-name: syncOrdersScheduleJobBootstrap}}}";
    only_error(&SYNC, yaml, &["'syncOrdersScheduleJobBootstrap'", "job 'a'", "job 'syncOrders'"]);
}

#[test]
fn a_registry_center_has_to_be_there() {
    static ELSEWHERE: [JobDescriptor; 1] = [function("r", "shop::r", elsewhere)];
    only_error(&ELSEWHERE, "", &["'r'", "'reports'", ".registry_center(\"reports\", ...)", "known: none"]);
    let centers = BTreeSet::from(["reports".to_owned()]);
    let around = Surroundings { registry_centers: &centers, provided: &BTreeSet::new(), catalog: None };
    let plan =
        Plan::make(&Linked::new(&ELSEWHERE), &settings(""), &around).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(plan.jobs[0].registry_center.as_deref(), Some("reports"));
}

#[test]
fn a_listener_has_to_be_there() {
    let yaml = |types: &str| format!("elasticjob: {{jobs: {{syncOrders: {{job-listener-types: {types}}}}}}}");
    let plan = made(&SYNC, &yaml("[audit]")).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(plan.jobs[0].configuration.listener_types().collect::<Vec<_>>(), ["audit"]);
    let parts = ["application.yaml:1", "job 'syncOrders': job-listener-types: there is no listener 'adit'", "audit"];
    only_error(&SYNC, &yaml("[audit, adit]"), &parts);
}

#[test]
fn an_argument_that_nothing_fills_names_job_function_and_what_there_is() {
    static NEEDY: [JobDescriptor; 1] =
        [JobDescriptor { bind: needs_text, ..function("needy", "shop::needy", complete) }];
    let plan = made(&NEEDY, "").unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut beans = Beans::default();
    beans.provide(7_u32);
    let error = bind(&plan.jobs[0], &NEEDY[0], &beans).err().unwrap()[0].to_string();
    for part in ["job 'needy' (shop::needy at src/jobs.rs:7)", "`text: Inject<", "available: `u32`"] {
        assert!(error.contains(part), "no {part:?} in: {error}");
    }
    beans.provide(String::new());
    assert!(bind(&plan.jobs[0], &NEEDY[0], &beans).is_ok());
}
