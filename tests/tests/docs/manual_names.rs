//! Every name of a setting, a type and a property that the manual of ElasticJob 3.0 lists is understood, also where later
//! releases have another one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::path::Path;

use elasticjob::config::{JobConfiguration, JobConfigurationBuilder};
use elasticjob::spi::Catalog;
use elasticjob_starter::settings::{Settings, Sources};

/// Sections and the names in them, in the spelling of the manual; a value, and today's name where it is another one.
type Section = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

const SETTINGS: &[Section] = &[
    (
        "regCenter",
        &[
            ("serverLists", "host1:2181,host2:2181", ""),
            ("namespace", "elasticjob-lite-springboot", ""),
            ("baseSleepTimeMilliseconds", "500", ""),
            ("maxSleepTimeMilliseconds", "5000", ""),
            ("maxRetries", "5", ""),
            ("sessionTimeoutMilliseconds", "20000", ""),
            ("connectionTimeoutMilliseconds", "5000", ""),
            ("digest", "user:password", ""),
        ],
    ),
    (
        "jobs.myJob",
        &[
            ("elasticJobClass", "org.example.MyJob", ""),
            ("elasticJobType", "SCRIPT", ""),
            ("cron", "0/5 * * * * ?", ""),
            ("jobBootstrapBeanName", "manualScriptJobBean", ""),
            ("shardingTotalCount", "3", ""),
            ("shardingItemParameters", "0=Beijing,1=Shanghai,2=Guangzhou", ""),
            ("jobParameter", "x", ""),
            ("monitorExecution", "false", ""),
            ("failover", "true", ""),
            ("misfire", "false", ""),
            ("maxTimeDiffSeconds", "30", ""),
            ("reconcileIntervalMinutes", "5", ""),
            ("jobShardingStrategyType", "ROUND_ROBIN", ""),
            ("jobExecutorServiceHandlerType", "SINGLE_THREAD", "job-executor-thread-pool-size-provider-type"),
            ("jobErrorHandlerType", "IGNORE", ""),
            ("jobListenerTypes", "a,b", ""),
            ("description", "x", ""),
            ("props.script.command.line", "echo SCRIPT Job: ", ""),
            ("disabled", "true", ""),
            ("overwrite", "true", ""),
            ("registryCenterRef", "archive", ""),
            ("tracingRef", "audit", ""),
        ],
    ),
    ("tracing", &[("type", "RDB", "")]),
    ("dump", &[("enabled", "false", ""), ("port", "9888", "")]),
    ("preferred.network", &[("interface", "eth0", "")]),
];

/// What stands beside a setting that needs another one.
fn beside(key: &str) -> &'static [&'static str] {
    match key {
        "serverLists" => &["--elasticjob.regCenter.namespace=x"],
        "enabled" => &["--elasticjob.dump.port=1"],
        _ => &[],
    }
}

/// What was read, without the places it was read from.
fn read(arguments: &[String]) -> String {
    let settings = Settings::load(&Sources::of_arguments(arguments), &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let text = format!("{settings:?}");
    let mut parts = text.split("Origin(\"");
    let first = parts.next().unwrap().to_owned();
    parts.map(|part| part.split_once("\")").unwrap().1).fold(first, |text, part| text + part)
}

#[test]
fn every_setting_is_understood_in_both_spellings_and_under_its_older_name() {
    let mut tried = 0;
    for (section, names) in SETTINGS {
        for (name, value, today) in *names {
            let needed: Vec<String> = beside(name).iter().map(|&argument| argument.to_owned()).collect();
            let given = |name: &str| [needed.clone(), vec![format!("--elasticjob.{section}.{name}={value}")]].concat();
            let kebab: String = name
                .chars()
                .map(|c| if c.is_ascii_uppercase() { format!("-{}", c.to_ascii_lowercase()) } else { c.to_string() })
                .collect();
            let read_as_written = read(&given(name));
            assert_eq!(read(&given(&kebab)), read_as_written, "{section}.{name}");
            if !today.is_empty() {
                assert_eq!(read(&given(today)), read_as_written, "{section}.{name}");
            }
            assert_ne!(read(&needed), read_as_written, "{section}.{name}: it says something");
            tried += 1;
        }
    }
    assert_eq!(tried, 34, "settings of the manual");
}

/// Settings, and the types that the manual has for each.
const TYPES: [(&str, &[&str]); 4] = [
    ("job-sharding-strategy-type", &["AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN"]),
    ("job-executor-thread-pool-size-provider-type", &["CPU", "SINGLE_THREAD"]),
    (OF_JOB, &[SCRIPT, HTTP]),
    (OF_HANDLER, &["LOG", "THROW", "IGNORE", "EMAIL", "WECHAT", "DINGTALK"]),
];

/// The properties that a handler or type cannot do without.
const REQUIRED: [(&str, &[(&str, &str)]); 5] = [
    (HTTP, &[("http.uri", "http://shop.example/settle"), ("http.method", "POST")]),
    (SCRIPT, &[("script.command.line", "echo")]),
    (
        "EMAIL",
        &[
            ("email.host", "smtp.example.com"),
            ("email.port", "465"),
            ("email.username", "robot"),
            ("email.password", "x"),
            ("email.from", "robot@example.com"),
            ("email.to", "duty@example.com,lead@example.com"),
        ],
    ),
    ("WECHAT", &[("wechat.webhook", "https://example.com/send?key=x")]),
    ("DINGTALK", &[("dingtalk.webhook", "https://example.com/send?access_token=x")]),
];

/// Properties of a handler or type that have a form, each with a value of another one.
const FORMED: [(&str, &str, &str); 22] = [
    (HTTP, "http.connect.timeout.milliseconds", "3s"),
    (HTTP, "http.read.timeout.milliseconds", "3s"),
    (HTTP, "http.total.timeout.milliseconds", "3s"),
    (HTTP, "http.uri.from-registry", "1"),
    ("EMAIL", "email.useSsl", "1"),
    ("EMAIL", "email.useStartTls", "1"),
    ("EMAIL", "email.debug", "1"),
    ("EMAIL", "email.cc", "nobody"),
    ("EMAIL", "email.bcc", "nobody"),
    ("WECHAT", "wechat.connectTimeoutMilliseconds", "3s"),
    ("WECHAT", "wechat.connectTimeoutMillisecond", "3s"),
    ("WECHAT", "wechat.readTimeoutMilliseconds", "3s"),
    ("WECHAT", "wechat.readTimeoutMillisecond", "3s"),
    ("DINGTALK", "dingtalk.connectTimeoutMilliseconds", "3s"),
    ("DINGTALK", "dingtalk.connectTimeoutMillisecond", "3s"),
    ("DINGTALK", "dingtalk.readTimeoutMilliseconds", "3s"),
    ("DINGTALK", "dingtalk.readTimeoutMillisecond", "3s"),
    (SCRIPT, "script.timeout.milliseconds", "3s"),
    (SCRIPT, "script.command.line.from-registry", "1"),
    ("EMAIL", "email.host.from-registry", "1"),
    ("WECHAT", "wechat.webhook.from-registry", "1"),
    ("DINGTALK", "dingtalk.webhook.from-registry", "1"),
];

/// Properties that may be any text.
const FREE: [(&str, &str); 7] = [
    (HTTP, "http.data"),
    (HTTP, "http.content.type"),
    ("EMAIL", "email.subject"),
    ("EMAIL", "email.ssl.trusted.certificates"),
    ("EMAIL", "email.ssl.trust"),
    ("DINGTALK", "dingtalk.keyword"),
    ("DINGTALK", "dingtalk.secret"),
];

/// The address under the name that the manual has for it.
const HTTP_URL: (&str, &str) = ("http.url", "http.uri");

/// The tests of jobs with code try it.
const STREAMING: &str = "streaming.process";

/// Types of jobs; the others are handlers.
const SCRIPT: &str = "SCRIPT";
const HTTP: &str = "HTTP";

const OF_JOB: &str = "elastic-job-type";
const OF_HANDLER: &str = "job-error-handler-type";

fn required_by(handler: &str) -> &'static [(&'static str, &'static str)] {
    REQUIRED.iter().find(|(name, _)| *name == handler).map_or(&[], |(_, props)| props)
}

/// A job with such a handler or of such a type.
fn job_with(name: &str, without: &str) -> JobConfigurationBuilder {
    job(if [SCRIPT, HTTP].contains(&name) { OF_JOB } else { OF_HANDLER }, name, without)
}

/// A job with what its handler or type needs but for one property.
fn job(setting: &str, name: &str, without: &str) -> JobConfigurationBuilder {
    let builder = JobConfiguration::builder("job", 1);
    let builder = match setting {
        "job-sharding-strategy-type" => builder.job_sharding_strategy_type(name),
        "job-executor-thread-pool-size-provider-type" => builder.job_executor_thread_pool_size_provider_type(name),
        OF_JOB => builder.elastic_job_type(name),
        _ => builder.job_error_handler_type(name),
    };
    let props = required_by(name).iter().filter(|(key, _)| *key != without);
    props.fold(builder, |builder, (key, value)| builder.prop(*key, *value))
}

fn problems(job: JobConfigurationBuilder) -> String {
    let (catalog, job) = (Catalog::builder().build().unwrap(), job.build().unwrap());
    let mut problems = catalog.problems(&job);
    match job.job_type().map(|kind| catalog.job_types().get(kind)) {
        Some(Ok(kind)) => problems.extend(kind.handler().check().problems(&job)),
        Some(Err(unknown)) => return unknown.to_string(),
        None => {}
    }
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

#[test]
fn every_type_is_there() {
    // What these two run is a function.
    let catalog = Catalog::builder().build().unwrap();
    assert!(["SIMPLE", "DATAFLOW"].iter().all(|kind| catalog.job_types().get(kind).is_ok()));
    for (setting, names) in TYPES {
        for name in names {
            assert_eq!(problems(job(setting, name, "")), "", "{setting} {name}");
            assert_ne!(problems(job(setting, &format!("{name}S"), "")), "", "{setting} {name}");
        }
    }
}

#[test]
fn every_property_is_read_and_a_wrong_one_is_named() {
    for (name, props) in REQUIRED {
        for (key, _) in props {
            let problems = problems(job_with(name, key));
            assert!(problems.starts_with(&format!("props.{key}: is missing")), "{problems}");
        }
    }
    for (name, key, wrong) in FORMED {
        let problems = problems(job_with(name, "").prop(key, wrong));
        assert!(problems.starts_with(&format!("props.{key}: '{wrong}'")), "{key}: {problems}");
    }
    for (name, key) in FREE {
        assert_eq!(problems(job_with(name, "").prop(key, "any text")), "", "{key}");
    }
    let (older, today) = HTTP_URL;
    assert_eq!(problems(job_with(HTTP, today).prop(older, "http://shop.example")), "");
}

#[test]
fn every_property_can_be_given_in_the_environment_whose_letters_are_capitals() {
    let required = REQUIRED.iter().flat_map(|(_, props)| props.iter().map(|(key, _)| *key));
    let formed = FORMED.iter().map(|(_, key, _)| *key).chain(FREE.iter().map(|(_, key)| *key));
    for key in required.chain(formed).chain([HTTP_URL.0, STREAMING]) {
        let words: String = key
            .chars()
            .flat_map(|c| match c {
                '.' => vec!['_'],
                c if c.is_ascii_uppercase() => vec!['_', c],
                c => vec![c.to_ascii_uppercase()],
            })
            .collect();
        for words in [words.clone(), key.replace('.', "_").to_uppercase()] {
            let sources = Sources::of_arguments(["--elasticjob.jobs.myJob.label=x"])
                .environment([(format!("ELASTICJOB_JOBS_MYJOB_PROPS_{words}"), "x")]);
            let settings = Settings::load(&sources, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
            let props = settings.jobs[0].settings.props.as_ref().unwrap();
            let props: Vec<&str> = props.keys().map(String::as_str).collect();
            assert_eq!((props, settings.warnings), (vec![key], Vec::new()), "{words}");
        }
    }
}

#[test]
fn the_page_of_settings_has_these_properties_and_no_others() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/settings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("### Properties").unwrap();
    let rows = table.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    let named = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|name| name.contains('.'));
    let required = REQUIRED.iter().flat_map(|(_, props)| props.iter().map(|(key, _)| *key));
    let formed = FORMED.iter().map(|(_, key, _)| *key).chain(FREE.iter().map(|(_, key)| *key));
    let tried: BTreeSet<&str> = required.chain(formed).chain([HTTP_URL.0, STREAMING]).collect();
    assert_eq!(named.collect::<BTreeSet<&str>>(), tried);
}
