use elasticjob::api::{ArgumentSite, Inject, JobArgument, JobKind, JobListener, MissingBean, item_handler};
use elasticjob::config::JobSettings;
use elasticjob::runtime::{OneOffJob, ScheduleJob};

use super::*;
use crate::settings::{Read, Sources};

fn handler(_: &Beans) -> Result<ItemHandler, Vec<MissingBean>> {
    Ok(item_handler(|_| async {}))
}

fn needs_text(beans: &Beans) -> Result<ItemHandler, Vec<MissingBean>> {
    <Inject<String> as JobArgument>::bind(beans, ArgumentSite { name: "text", bean: None })
        .map_err(|missing| vec![missing])?;
    handler(beans)
}

fn complete() -> JobSettings {
    let mut settings = JobSettings::default();
    settings.cron = Some("0/5 * * * * ?".to_owned());
    settings.sharding_total_count = Some(3);
    settings.job_parameter = Some("attribute".to_owned());
    settings
}

fn one_off() -> JobSettings {
    let mut settings = JobSettings::default();
    settings.sharding_total_count = Some(1);
    settings
}

fn peer() -> JobSettings {
    let mut settings = complete();
    settings.elastic_job_class = Some("com.example.Peer".to_owned());
    settings
}

fn elsewhere() -> JobSettings {
    let mut settings = complete();
    settings.registry_center_ref = Some("reports".to_owned());
    settings
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

fn read(yaml: &str) -> Read<Settings> {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace(':', "_");
    let folder = std::env::temp_dir().join(format!("elasticjob-plan-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), yaml).unwrap();
    let read = Settings::read(&Sources::in_folder(&folder), &[], Vec::new());
    std::fs::remove_dir_all(&folder).unwrap();
    read
}

struct Audit;

impl JobListener for Audit {
    fn type_name(&self) -> &str {
        "audit"
    }
}

/// The plan, or all problems of settings and jobs.
fn made_with(
    functions: &'static [JobDescriptor],
    given: &[&str],
    yaml: &str,
    registry_centers: &[&str],
) -> Result<Plan, Vec<String>> {
    let catalog = Catalog::builder().listener(Audit).build().unwrap();
    let Read { settings, errors, doubt } = read(yaml);
    let mut beans = Beans::default();
    beans.provide(7_u32);
    let around = Surroundings {
        registry_centers: &registry_centers.iter().map(|name| (*name).to_owned()).collect(),
        tracings: &settings.tracings.keys().cloned().collect(),
        provided: &BTreeSet::from(["taken".to_owned()]),
        beans: &beans,
        catalog: Some(&catalog),
        doubt: &doubt,
    };
    let given = given.iter().map(|name| ((*name).to_owned(), item_handler(|_| async {}))).collect();
    let plan = Plan::make(&Linked::new(functions, &given), &settings, &around);
    let of_plan = plan.as_ref().err().into_iter().flatten().map(ToString::to_string);
    let all: Vec<String> = errors.iter().map(ToString::to_string).chain(of_plan).collect();
    if all.is_empty() { plan.map_err(|_| all) } else { Err(all) }
}

fn made(functions: &'static [JobDescriptor], yaml: &str) -> Result<Plan, Vec<String>> {
    made_with(functions, &[], yaml, &[])
}

fn jobs(functions: &'static [JobDescriptor], yaml: &str) -> Vec<String> {
    let plan = made(functions, yaml).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let show = |job: &PlannedJob| {
        format!(
            "{} {} {} {} {}",
            job.configuration.job_name(),
            match &job.code {
                JobCode::Function(function) => function.function,
                JobCode::Given(_) => "given",
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
fn jobs_that_follow_each_other_item_by_item_have_as_many_items() {
    let of = |total: u32, items: &str| {
        format!(
            "elasticjob: {{jobs: {{load: {{elasticJobType: SCRIPT, props: {{script.command.line: 'true'}}, shardingTotalCount: \
             {total}, dependsOn: [{{job: syncOrders, items: {items}}}]}}}}}}"
        )
    };
    assert_eq!(jobs(&SYNC, &of(3, "same")).len(), 2);
    assert_eq!(jobs(&SYNC, &of(2, "all")).len(), 2);
    let parts = ["application.yaml", "job 'load'", "depends-on", "'syncOrders' has: that has 3 and this one 2"];
    only_error(&SYNC, &of(2, "same"), &parts);
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
fn more_items_than_a_registry_center_lists_are_told_before_that_is_reached() {
    let yaml = "elasticjob:\n  jobs:\n    bare:\n      sharding-total-count: 100001\n";
    only_error(&BARE, yaml, &["application.yaml:4", "100001 items are more than a registry center lists"]);
}

#[test]
fn only_functions_of_the_modules_that_are_asked_for_are_left() {
    static ALL: [JobDescriptor; 4] = [
        function("one", "shop::orders::one", complete),
        function("two", "shop::orders::late::two", complete),
        function("three", "shop::orders_of_others::three", complete),
        function("four", "shop::reports::four", complete),
    ];
    let given = BTreeMap::new();
    let left = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Linked::new(&ALL, &given).within(&paths).iter().map(|job| job.name).collect::<Vec<_>>()
    };
    assert_eq!(left(&["shop::orders"]), ["one", "two"]);
    assert_eq!(left(&["shop::reports::four", "shop::orders::late"]), ["two", "four"]);
    assert_eq!(left(&[]).len(), 4);
    assert_eq!(left(&["shop::ord"]), [""; 0]);
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
    let yaml = "elasticjob: {jobs: {s: {elastic-job-type: SCRIPTS, sharding-total-count: 1}}}";
    only_error(&SYNC, yaml, &["elasticjob.jobs.s.elastic-job-type", "'SCRIPTS'", "SCRIPT (built in)"]);
}

#[test]
fn a_class_may_name_a_type_and_a_type_a_class_as_the_registry_center_keeps_one_name_for_both() {
    static BOTH: [JobDescriptor; 2] = [function("two", "shop::b::run", one_off), function("three", "shop::peer", peer)];
    let script = "props: {script.command.line: ls}";
    for setting in ["elastic-job-class", "elastic-job-type"] {
        let plan_of = |functions, given: &[&str], code: &str, more: &str| {
            let entry = format!("{{cron: 0 0 1 * * ?, sharding-total-count: 1, {setting}: {code}, {more}}}");
            made_with(functions, given, &format!("elasticjob: {{jobs: {{settle: {entry}}}}}"), &[])
        };
        let plan = plan_of(&[], &[], "SCRIPT", script).expect("a type needs no code");
        let job = &plan.jobs[0];
        assert!(matches!(job.code, JobCode::Type) && job.configuration.job_type() == Some("SCRIPT"), "{setting}");
        for (code, path) in [("run", "shop::b::run"), ("com.example.Peer", "shop::peer"), ("three", "shop::peer")] {
            let plan = plan_of(&BOTH, &[], code, "").unwrap_or_else(|errors| panic!("{setting} {code}: {errors:?}"));
            let job = plan.jobs.iter().find(|job| job.configuration.job_name().as_str() == "settle");
            let of_path = |job: &PlannedJob| matches!(job.code, JobCode::Function(found) if found.function == path);
            assert!(job.is_some_and(of_path), "{setting} {code}");
        }
        let plan = plan_of(&[], &["Pager"], "Pager", "").expect("the builder was given the code");
        assert!(matches!(plan.jobs[0].code, JobCode::Given(_)), "{setting}");
        let first = |errors: Result<Plan, Vec<String>>, part: &str| {
            let errors = errors.err().unwrap_or_else(|| panic!("{setting}: no error"));
            assert!(errors[0].contains(part), "{setting}: {errors:?}");
        };
        first(plan_of(&[], &["settle"], "SCRIPT", script), "two things to run, the type 'SCRIPT'");
        first(plan_of(&[], &[], "Pager", ""), setting);
        first(plan_of(&SYNC, &[], "Pager", ""), "'Pager'");
    }
    let several =
        "elasticjob: {jobs: {x: {elastic-job-type: run, sharding-total-count: 1}, bare: {sharding-total-count: 1}}}";
    only_error(&SEVERAL, several, &["'run'"]);
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
    only_error(&ELSEWHERE, "", &["'r'", "'reports'", ".registry_center(\"...\", ...)", "known: default"]);
    let plan = made_with(&ELSEWHERE, &[], "", &["reports"]).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(plan.jobs[0].registry_center.as_deref(), Some("reports"));
    let of =
        |setting: &str| format!("elasticjob:\n  tracings: {{audit: {{type: ''}}}}\n  jobs:\n    r: {{{setting}}}\n");
    let plan =
        made(&ELSEWHERE, &of("registry-center-ref: default, tracing-ref: audit")).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!((plan.jobs[0].registry_center.as_deref(), plan.jobs[0].tracing.as_deref()), (None, Some("audit")));
    let parts = [
        "application.yaml:4: job 'r': tracing-ref: there is no tracing 'audti'; did you mean 'audit'?",
        "known: audit, default",
    ];
    only_error(&ELSEWHERE, &of("registry-center-ref: default, tracing-ref: audti"), &parts);
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
    let parts = ["job 'needy' (shop::needy at src/jobs.rs:7)", "`text: Inject<", "available: `u32`"];
    only_error(&NEEDY, "", &parts);
}

static NEEDY_HANDLES: [JobDescriptor; 3] = [
    JobDescriptor { bind: needs_handles, ..function("needy", "shop::needy", complete) },
    function("bare", "shop::jobs::bare", JobSettings::default),
    function("two", "shop::b::run", one_off),
];

fn needs_handles(beans: &Beans) -> Result<ItemHandler, Vec<MissingBean>> {
    let site = |bean| ArgumentSite { name: "job", bean: Some(bean) };
    let bare = <ScheduleJob as JobArgument>::bind(beans, site("bareScheduleJobBootstrap")).err();
    let two = <OneOffJob as JobArgument>::bind(beans, site("twoOneOffJobBootstrap")).err();
    let missing: Vec<MissingBean> = bare.into_iter().chain(two).collect();
    if missing.is_empty() { handler(beans) } else { Err(missing) }
}

/// Asserts that exactly these errors are reported, in any order.
fn only_errors(functions: &'static [JobDescriptor], yaml: &str, expected: &[&str]) {
    let errors = made(functions, yaml).err().unwrap_or_else(|| panic!("no error for {yaml}"));
    assert_eq!(errors.len(), expected.len(), "{errors:#?}");
    for part in expected {
        assert!(errors.iter().any(|error| error.contains(part)), "no {part:?} in: {errors:#?}");
    }
}

#[test]
fn settings_types_and_arguments_are_told_in_one_round() {
    let yaml = "elasticjob:\n  reg-center: {server-lists: '${ZK}', digest: nobody}\n  jobs:\n    bare: {sharding-total-count: many, \
                cron: bad, job-sharding-strategy-type: RANDOM, job-listener-types: [audit, audit, adit]}\n    \
                nowhere: {cron: 0 0 25 * * ?, job-error-handler-type: WECHAT}\n    other: {elastic-job-type: BATCH}\n    \
                two: {job-bootstrap-bean-name: other, label: [x]}\n";
    let expected = [
        "elasticjob.reg-center.server-lists: the placeholder `${ZK}` has no value",
        "elasticjob.reg-center.namespace is missing",
        "elasticjob.reg-center.digest: '***' is not valid",
        "elasticjob.jobs.bare.sharding-total-count: 'many'",
        "job 'bare': cron: ",
        "job 'bare': job-sharding-strategy-type: ",
        "job 'bare': job-listener-types: 'audit' is given twice",
        "job 'bare': job-listener-types: there is no listener 'adit'",
        "elasticjob.jobs.nowhere: no job function 'nowhere'",
        "job 'nowhere': cron: ",
        "job 'other': sharding-total-count: it is missing",
        "elasticjob.jobs.other.elastic-job-type: there is no type of jobs 'BATCH'",
        "elasticjob.jobs.two.label: a list",
        "job 'needy' (shop::needy at src/jobs.rs:7): argument `job: elasticjob::runtime::handle::OneOffJob`",
    ];
    only_errors(&NEEDY_HANDLES, yaml, &expected);
}

#[test]
fn what_only_follows_from_a_setting_that_cannot_be_read_is_not_told() {
    let one = |yaml: &str, expected: &str| only_errors(&NEEDY_HANDLES, yaml, &[expected]);
    let job = |settings: &str| format!("elasticjob: {{jobs: {{bare: {{{settings}}}}}}}");
    one(&job("sharding-total-cout: 3, cron: 0 0 1 * * ?"), "did you mean 'sharding-total-count'?");
    one(&job("sharding-total-count: many, cron: 0 0 1 * * ?"), "'many'");
    one(&job("sharding-total-count: 1, corn: 0 0 1 * * ?"), "did you mean 'cron'?");
    one(&job("sharding-total-count: 1, cron: '${CRON}'"), "`${CRON}`");
    one("elasticjob: {jobs: {bare: 3}}", "a map with the settings of the job");
    one("elasticjob: {jbos: {bare: {}}}", "did you mean 'jobs'?");
    one(
        "elasticjob: {jobs: {x: {elastic-job-class: bar, sharding-total-count: 1}, two: {}, bare: {sharding-total-count: 1, cron: 0 0 1 * * ?}}}",
        "did you mean 'bare'?",
    );
    let bare = "bare: {sharding-total-count: 1, cron: 0 0 1 * * ?}";
    let beside =
        |settings: &str| format!("elasticjob: {{jobs: {{{bare}, x: {{sharding-total-count: 1, {settings}}}}}}}");
    one(&beside("elastic-job-type: '${TYPE}'"), "`${TYPE}`");
    one(&beside("elastic-job-clas: two"), "did you mean 'elastic-job-class'?");
    one(&beside("elastic-job-type: SCRIPT, props: {script.command.line: '${COMMAND}'}"), "`${COMMAND}`");
    one(&beside("elastic-job-type: SCRIPT, props: [a]"), "a map of properties");
    let of = |sections: &str| format!("elasticjob: {{jobs: {{{bare}}}, {sections}}}");
    one(&of("reg-center: {server-lists: a, namespace: '${NS}'}"), "`${NS}`");
    one(
        &of(
            "reg-center: {server-lists: a, namespace: n, base-sleep-time-milliseconds: x, max-sleep-time-milliseconds: 500}",
        ),
        "'x'",
    );
    one(&of("tracing: {type: '${T}'}"), "`${T}`");
    one(&of("tracing: {type: RDB, data-source: {url: '${U}'}}"), "`${U}`");
    one(&of("dump: {port: '${P}'}"), "`${P}`");
}

#[test]
fn a_file_that_cannot_be_read_may_have_anything() {
    only_errors(&NEEDY_HANDLES, "elasticjob: [", &["application.yaml:"]);
}

#[test]
fn code_that_the_builder_is_given_is_configured_by_settings() {
    let with_rows = |yaml: &str| made_with(&SYNC, &["rows"], yaml, &[]);
    let yaml = "elasticjob: {jobs: {rows: {sharding-total-count: 1}, more: {elastic-job-class: rows, sharding-total-count: 1}, \
                java: {elastic-job-class: rows, sharding-total-count: 2}}}";
    let plan = with_rows(yaml).unwrap_or_else(|errors| panic!("{errors:?}"));
    let given = plan.jobs.iter().filter(|job| matches!(job.code, JobCode::Given(_)));
    assert_eq!(given.map(|job| job.configuration.job_name().as_str()).collect::<Vec<_>>(), ["java", "more", "rows"]);
    for (yaml, part) in [
        ("", "job 'rows' (given to the application's builder) is configured nowhere"),
        (
            "elasticjob: {jobs: {rows: {elastic-job-type: SCRIPT, sharding-total-count: 1, props: {script.command.line: x}}}}",
            "two things to run, the type 'SCRIPT' and the code that was given to the application's builder",
        ),
        ("elasticjob: {jobs: {row: {sharding-total-count: 1}}}", "did you mean 'rows'?"),
    ] {
        let errors = with_rows(yaml).err().unwrap_or_default();
        assert!(errors.iter().any(|error| error.contains(part)), "no {part:?} in {errors:#?}");
    }
    let twice = made_with(&SYNC, &["syncOrders"], "", &[]).err().unwrap_or_default();
    assert!(
        twice[0].contains("shop::jobs::sync_orders at src/jobs.rs:7 and given to the application's builder"),
        "{twice:?}"
    );
}
