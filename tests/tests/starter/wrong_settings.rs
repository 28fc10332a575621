//! A wrong value of every setting there is: the start fails, and says where the setting stands, its key and what would
//! be right.

use std::collections::BTreeSet;
use std::path::Path;

use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::{Sources, reference};

#[elastic_job(sharding_total_count = 3)]
async fn settle(_: ShardingContext) {}

/// What stands beside the wrong setting.
const SERVERS: &str = "elasticjob.reg-center: {server-lists: '127.0.0.1:1', namespace: x}\n";
const TRACING: &str = "elasticjob.tracing.type: RDB\n";
const BACKUP: &str = "elasticjob.jobs.backup.sharding-total-count: 1\n";
const SCRIPT: &str = "elasticjob.jobs.backup: {sharding-total-count: 1, elastic-job-type: SCRIPT}\n";
const URL: &str = "elasticjob.tracing: {type: RDB, data-source.url: 'sqlite:trace.db'}\n";
const NOTHING: &str = "";
const CONSOLE: &str = "elasticjob.console.port: 0\n";
const REACHED: &str = "elasticjob.console: {port: 0, address: 0.0.0.0}\n";
const USER: &str = "elasticjob.console.port: 0\nelasticjob.console-users.ops.role: viewer\n";
const HASH: &str = "elasticjob.console.port: 0\nelasticjob.console-users.ops.password-hash: hunter2\n";
const TOKEN: &str = "elasticjob.console.port: 0\nelasticjob.console-tokens.scraper.role: viewer\n";
const TOKEN_HASH: &str = "elasticjob.console.port: 0\nelasticjob.console-tokens.scraper.token-hash: hunter2\n";
const WHOLE_TOKEN: &str = "elasticjob.console.port: 0\nelasticjob.console-tokens.scraper: {role: viewer, token-hash: \
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}\n";

const OIDC: &str = "elasticjob.console.port: 0\nelasticjob.console-groups.ops.role: viewer\nelasticjob.console-oidc: \
    {issuer: 'https://id.example', client-id: jobs, public-url: 'https://jobs.example'}\n";
const NO_ISSUER: &str = "elasticjob.console.port: 0\nelasticjob.console-groups.ops.role: viewer\nelasticjob.console-oidc: \
    {client-id: jobs, public-url: 'https://jobs.example'}\n";
const NO_CLIENT: &str = "elasticjob.console.port: 0\nelasticjob.console-groups.ops.role: viewer\nelasticjob.console-oidc: \
    {issuer: 'https://id.example', public-url: 'https://jobs.example'}\n";
const NO_ADDRESS: &str = "elasticjob.console.port: 0\nelasticjob.console-groups.ops.role: viewer\nelasticjob.console-oidc: \
    {issuer: 'https://id.example', client-id: jobs}\n";
const GROUP: &str = "elasticjob.console.port: 0\nelasticjob.console-groups.ops.role: viewer\n";

/// No single value is wrong for a text that is not looked into.
const MAP: &str = "{a: b}";

/// The key of a setting, what stands beside it, a wrong value, and parts of what is said.
struct Wrong(&'static str, &'static str, &'static str, &'static [&'static str]);

const WRONG: &[Wrong] = &[
    Wrong("enabled", NOTHING, "maybe", &["'maybe'", "true or false"]),
    Wrong("config.location", NOTHING, "elsewhere", &["set it in the environment or an argument"]),
    Wrong("profiles.active", NOTHING, "prod", &["'prod'", "application-prod.{yaml,yml,toml,properties}"]),
    Wrong("reg-center.server-lists", "elasticjob.reg-center.namespace: x\n", "zk:port", &["'zk:port'", "port"]),
    Wrong("reg-center.namespace", "elasticjob.reg-center.server-lists: a:1\n", "/x/", &["'/x/'"]),
    Wrong("reg-center.base-sleep-time-milliseconds", SERVERS, "0", &["'0'", "from 1"]),
    Wrong("reg-center.max-sleep-time-milliseconds", SERVERS, "10", &["'10'", "at least base-sleep-time-milliseconds"]),
    Wrong("reg-center.max-retries", SERVERS, "30", &["'30'", "from 1 to 29"]),
    Wrong("reg-center.session-timeout-milliseconds", SERVERS, "20s", &["'20s'", "whole number", "(milliseconds)"]),
    Wrong("reg-center.connection-timeout-milliseconds", SERVERS, "-1", &["'-1'", "from 0"]),
    Wrong("reg-center.digest", SERVERS, "hunter2", &["'***'", "user:password"]),
    Wrong("reg-center.tls.enabled", SERVERS, "maybe", &["'maybe'", "true or false"]),
    Wrong("reg-center.tls.trust-store", SERVERS, MAP, &["a map", "expected text"]),
    Wrong("reg-center.tls.client-certificate", SERVERS, MAP, &["a map", "expected text"]),
    Wrong("reg-center.tls.client-key", SERVERS, MAP, &["a map", "expected text"]),
    Wrong("preferred.network.interface", NOTHING, "nowhere0", &["nowhere0", "there are"]),
    Wrong("preferred.network.ip", NOTHING, "'('", &["'('", "192.168."]),
    Wrong("shutdown.grace", NOTHING, "25", &["'25'", "25s"]),
    Wrong("tracing.type", NOTHING, "RBD", &["'RBD'", "RDB (built in)"]),
    Wrong("tracing.data-source.url", TRACING, "oracle://hunter2@db/x", &["'***'", "postgres://"]),
    Wrong(
        "tracing.data-source.url",
        TRACING,
        "'postgres://db/jobs?sslrootcert=/no/such.pem'",
        &["sslrootcert '/no/such.pem' cannot be read", "'***'"],
    ),
    Wrong("tracing.data-source.username", URL, MAP, &["a map", "expected text"]),
    Wrong("tracing.data-source.password", URL, MAP, &["a map", "expected text"]),
    Wrong("tracing.data-source.driver-class-name", URL, MAP, &["a map", "expected text"]),
    Wrong("tracing.include-job-names", TRACING, MAP, &["a map", "a list, or one text with commas"]),
    Wrong(
        "tracing.exclude-job-names",
        "elasticjob.tracing: {type: RDB, include-job-names: a}\n",
        "b",
        &["`include-job-names`", "keep one"],
    ),
    Wrong("tracing.time-zone", TRACING, "Asia/Shangai", &["'Asia/Shangai'", "Asia/Shanghai"]),
    Wrong("tracing.queue-size", TRACING, "0", &["'0'", "from 1 to 10000000"]),
    Wrong("tracing.retention.days", TRACING, "1 year", &["'1 year'", "(days)"]),
    Wrong("tracing.retention.rows", TRACING, "0", &["'0'", "from 1"]),
    Wrong("tracing.run-log.enabled", TRACING, "2", &["'2'", "true or false"]),
    Wrong("tracing.run-log.level", TRACING, "LOUD", &["'LOUD'", "ERROR, WARN, INFO, DEBUG or TRACE"]),
    Wrong("tracing.run-log.max-lines", TRACING, "1", &["'1'", "from 10 to 100000"]),
    Wrong("tracing.run-log.max-line-bytes", TRACING, "1", &["'1'", "from 100 to 32768"]),
    Wrong("tracing.run-log.max-bytes", TRACING, "1", &["'1'", "from 1024 to 67108864"]),
    Wrong("tracing.run-log.days", TRACING, "1 week", &["'1 week'", "(days)"]),
    Wrong("tracing.run-log.rows", TRACING, "0", &["'0'", "from 1"]),
    Wrong("dump.enabled", NOTHING, "1", &["'1'", "true or false"]),
    Wrong("dump.port", NOTHING, "98888", &["'98888'", "from 0 to 65535"]),
    Wrong("dump.address", "elasticjob.dump.port: 0\n", "everywhere", &["'everywhere'", "0.0.0.0"]),
    Wrong("console.port", NOTHING, "88999", &["'88999'", "from 0 to 65535"]),
    Wrong("console.address", CONSOLE, "0.0.0.0", &["'0.0.0.0'", "elasticjob.console-users", "127.0.0.1"]),
    Wrong("console.base-path", CONSOLE, "jobs/", &["'jobs/'", "begins with `/`"]),
    Wrong("console.read-only", CONSOLE, "x", &["'x'", "true or false"]),
    Wrong("console.require-reason", CONSOLE, "x", &["'x'", "true or false"]),
    Wrong("console.language", CONSOLE, "fr", &["'fr'", "en and zh-CN"]),
    Wrong("console.secure-cookies", CONSOLE, "x", &["'x'", "true or false"]),
    Wrong("console.anonymous", CONSOLE, "guest", &["'guest'", "viewer, operator, editor and admin"]),
    Wrong("console.anonymous", REACHED, "admin", &["'admin'", "viewer", "127.0.0.1"]),
    Wrong("console.max-streams", CONSOLE, "0", &["'0'", "from 1"]),
    Wrong("console.max-streams-of-caller", CONSOLE, "many", &["'many'", "from 1"]),
    Wrong("console.data", CONSOLE, MAP, &["a map"]),
    Wrong("console.trusted-proxies", CONSOLE, "proxy", &["'proxy'", "10.0.0.0/8"]),
    Wrong("console.allowed-hosts", CONSOLE, "jobs:80", &["'jobs:80'", "without port"]),
    Wrong("console.proxy-user-header", CONSOLE, "X User", &["'X User'", "no name of a header"]),
    Wrong(
        "console.proxy-groups-header",
        "elasticjob.console: {port: 0, trusted-proxies: 10.0.0.1, proxy-user-header: X-User}\n",
        "X Groups",
        &["'X Groups'", "no name of a header"],
    ),
    Wrong("console-oidc.issuer", NO_ISSUER, "id.example", &["'id.example'", "https://"]),
    Wrong("console-oidc.client-id", NO_CLIENT, MAP, &["a map"]),
    Wrong("console-oidc.client-secret", OIDC, MAP, &["a map"]),
    Wrong("console-oidc.public-url", NO_ADDRESS, "jobs.example", &["'jobs.example'", "https://"]),
    Wrong("console-oidc.scopes", OIDC, MAP, &["a map"]),
    Wrong("console-oidc.groups-claim", OIDC, MAP, &["a map"]),
    Wrong("console-groups.ops.group", GROUP, MAP, &["a map"]),
    Wrong("console-groups.ops.role", CONSOLE, "root", &["'root'", "viewer, operator, editor and admin"]),
    Wrong("console-groups.ops.registries", GROUP, MAP, &["a map"]),
    Wrong("console-groups.ops.jobs", GROUP, MAP, &["a map"]),
    Wrong("console-users.ops.password-hash", USER, "hunter2", &["'***'", "elasticjob console hash-password"]),
    Wrong("console-users.ops.role", HASH, "root", &["'root'", "viewer, operator, editor and admin"]),
    Wrong("console-users.ops.registries", USER, MAP, &["a map"]),
    Wrong("console-users.ops.jobs", USER, MAP, &["a map"]),
    Wrong("console-tokens.scraper.token-hash", TOKEN, "hunter2", &["'***'", "elasticjob console new-token"]),
    Wrong("console-tokens.scraper.role", TOKEN_HASH, "root", &["'root'", "viewer, operator, editor and admin"]),
    Wrong("console-tokens.scraper.registries", TOKEN, MAP, &["a map"]),
    Wrong("console-tokens.scraper.jobs", TOKEN, MAP, &["a map"]),
    Wrong("console-tokens.scraper.expires", WHOLE_TOKEN, "soon", &["'soon'", "2027-06-30"]),
    Wrong("metrics.port", NOTHING, "98888", &["'98888'", "from 0 to 65535"]),
    Wrong("metrics.address", "elasticjob.metrics.port: 0\n", "everywhere", &["'everywhere'", "0.0.0.0"]),
    Wrong("metrics.max-jobs", "elasticjob.metrics.port: 0\n", "0", &["'0'", "from 1"]),
    Wrong("jobs.backup.elastic-job-class", BACKUP, "setle", &["'setle'", "did you mean 'settle'?"]),
    Wrong("jobs.backup.elastic-job-type", BACKUP, "SCRPT", &["'SCRPT'", "SCRIPT (built in)"]),
    Wrong("jobs.settle.cron", NOTHING, "0 0 25 * * ?", &["hour: 25 is out of range", "0 to 23"]),
    Wrong("jobs.settle.time-zone", NOTHING, "Mars/Base", &["'Mars/Base'", "Asia/Shanghai"]),
    Wrong("jobs.settle.depends-on", NOTHING, "extract when done", &["'extract when done'", "known: 'succeeded'"]),
    Wrong("jobs.settle.depends-on", NOTHING, "extract items some", &["'extract items some'", "known: 'all', 'same'"]),
    Wrong("jobs.settle.job-bootstrap-bean-name", NOTHING, MAP, &["a map", "expected text"]),
    Wrong("jobs.settle.sharding-total-count", NOTHING, "0", &["'0'", "from 1", "(items)"]),
    Wrong("jobs.settle.sharding-item-parameters", NOTHING, "7=x", &["7", "0 to 2"]),
    Wrong("jobs.settle.job-parameter", NOTHING, MAP, &["a map", "expected text"]),
    Wrong("jobs.settle.monitor-execution", NOTHING, "2", &["'2'", "true or false"]),
    Wrong(
        "jobs.settle.failover",
        "elasticjob.jobs.settle.monitor-execution: false\n",
        "true",
        &["it needs monitor-execution"],
    ),
    Wrong("jobs.settle.misfire", NOTHING, "once", &["'once'", "true or false"]),
    Wrong("jobs.settle.max-time-diff-seconds", NOTHING, "1m", &["'1m'", "(seconds)"]),
    Wrong("jobs.settle.max-late-begin-seconds", NOTHING, "1m", &["'1m'", "(seconds)"]),
    Wrong("jobs.settle.reconcile-interval-minutes", NOTHING, "never", &["'never'", "(minutes)"]),
    Wrong("jobs.settle.job-sharding-strategy-type", NOTHING, "RANDOM", &["'RANDOM'", "AVG_ALLOCATION (built in)"]),
    Wrong(
        "jobs.settle.job-executor-thread-pool-size-provider-type",
        NOTHING,
        "GPU",
        &["'GPU'", "SINGLE_THREAD (built in)"],
    ),
    Wrong("jobs.settle.job-error-handler-type", NOTHING, "SMS", &["'SMS'", "WECHAT (built in)"]),
    Wrong("jobs.settle.job-listener-types", NOTHING, "nobody", &["'nobody'", "there are linked (linked, "]),
    Wrong("jobs.settle.description", NOTHING, MAP, &["a map", "expected text"]),
    Wrong("jobs.backup.props.script.command.line", SCRIPT, "\"echo 'a\"", &["the quote '", "is not closed"]),
    Wrong("jobs.settle.disabled", NOTHING, "later", &["'later'", "true or false"]),
    Wrong("jobs.settle.overwrite", NOTHING, "x", &["'x'", "true or false"]),
    Wrong("jobs.settle.label", NOTHING, MAP, &["a map", "expected text"]),
    Wrong("jobs.settle.static-sharding", NOTHING, "x", &["'x'", "true or false"]),
    Wrong("jobs.settle.registry-center-ref", NOTHING, "nowhere", &["'nowhere'", "reg-centers", "known: default"]),
    Wrong("jobs.settle.tracing-ref", NOTHING, "nowhere", &["'nowhere'", "tracings", "known: default"]),
];

/// What needs a driver, which only tests with databases have.
const WITH_DRIVER: [&str; 1] = ["tracing.data-source.url"];

async fn error(number: usize, beside: &str, line: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("wrong_settings").join(number.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), format!("{beside}{line}\n")).unwrap();
    let started =
        ElasticJobApp::builder().only_jobs_of(module_path!()).sources(Sources::in_folder(folder)).start().await;
    started.map(|_| line).expect_err("it is refused").to_string()
}

#[tokio::test]
async fn a_wrong_value_of_every_setting_is_told_with_its_place_its_key_and_what_would_be_right() {
    let mut missing = Vec::new();
    for (number, Wrong(key, beside, value, parts)) in WRONG.iter().enumerate() {
        let is_of_console = key.starts_with("console");
        if (WITH_DRIVER.contains(key) && !cfg!(feature = "databases")) || (is_of_console && !cfg!(feature = "console"))
        {
            continue;
        }
        let said = error(number, beside, &format!("elasticjob.{key}: {value}")).await;
        let place = format!("application.yaml:{}", beside.lines().count() + 1);
        // Of a job, the setting is named below the name of the job; a property below `props`.
        let name = key.split_once(".props.").map_or_else(|| key.rsplit('.').next().unwrap(), |(_, name)| name);
        for part in [place.as_str(), name].iter().chain(*parts) {
            if !said.contains(part) {
                missing.push(format!("{key}: no {part:?} in: {said}"));
            }
        }
        assert!(!said.contains("hunter2"), "{key}: {said}");
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn no_setting_is_left_out() {
    let tried: BTreeSet<String> = WRONG
        .iter()
        .map(|Wrong(key, ..)| format!("elasticjob.{}", key.replace("jobs.backup.", "jobs.settle.")))
        .collect();
    let all: BTreeSet<String> = reference().iter().map(|setting| setting.key()).collect();
    assert_eq!(tried, all);
}
