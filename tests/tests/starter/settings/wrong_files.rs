//! Wrong files, one mistake each: the error names file, line, key and value, and says what would be right.

use elasticjob_starter::settings::Sources;

use super::{errors, folder};

/// A wrong file, and what its one error has to say.
struct Wrong(&'static str, &'static str, &'static str, &'static [&'static str]);

#[test]
fn what_is_wrong_in_a_file_is_named_with_file_line_key_value_and_what_would_be_right() {
    let yaml = "application.yaml";
    let cases = [
        Wrong(
            "unknown section",
            yaml,
            "elasticjob:\n  regCentre: {}\n",
            &["application.yaml:2", "elasticjob.regCentre", "did you mean 'reg-center'?"],
        ),
        Wrong(
            "unknown setting of the registry center",
            yaml,
            "elasticjob:\n  reg-center:\n    servers: a:1\n",
            &["application.yaml:3", "elasticjob.reg-center.servers", "server-lists"],
        ),
        Wrong(
            "unknown setting of a job",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      shardingTotalCoutn: 3\n",
            &["application.yaml:4", "elasticjob.jobs.a.shardingTotalCoutn", "did you mean 'sharding-total-count'?"],
        ),
        Wrong(
            "text for a number",
            yaml,
            "elasticjob:\n  jobs:\n    a.b:\n      sharding-total-count: three\n",
            &[
                "application.yaml:4",
                "elasticjob.jobs[a.b].sharding-total-count",
                "'three'",
                "whole number from 1 to 2147483647",
            ],
        ),
        Wrong(
            "number out of range",
            yaml,
            "elasticjob:\n  jobs: {a: {sharding-total-count: 0}}\n",
            &["application.yaml:2", "'0'", "from 1"],
        ),
        Wrong(
            "fraction for a whole number",
            yaml,
            "elasticjob:\n  reg-center: {max-retries: 1.5}\n",
            &["application.yaml:2", "max-retries", "'1.5'", "whole number"],
        ),
        Wrong(
            "nothing for a number",
            yaml,
            "elasticjob:\n  reg-center:\n    max-retries:\n",
            &["application.yaml:3", "max-retries", "''"],
        ),
        Wrong(
            "text for a truth value",
            yaml,
            "elasticjob:\n  jobs:\n    a: {failover: maybe}\n",
            &["application.yaml:3", "elasticjob.jobs.a.failover", "'maybe'", "true or false"],
        ),
        Wrong(
            "a map for a value",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      cron: {every: day}\n",
            &["application.yaml:4", "elasticjob.jobs.a.cron", "a map", "expected text"],
        ),
        Wrong(
            "a list for a value",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      cron: [x]\n",
            &["application.yaml:4", "elasticjob.jobs.a.cron", "a list", "expected text"],
        ),
        Wrong(
            "a map in a list",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      job-listener-types:\n      - x: y\n",
            &["application.yaml:5", "job-listener-types", "a map", "text as an item"],
        ),
        Wrong(
            "servers without a namespace",
            yaml,
            "elasticjob:\n  reg-center:\n    server-lists: a:1\n",
            &["application.yaml:3", "elasticjob.reg-center.namespace is missing", "'team/my-app'"],
        ),
        Wrong(
            "a value for a section",
            yaml,
            "elasticjob:\n  reg-center: localhost:2181\n",
            &["application.yaml:2", "elasticjob.reg-center", "a single value", "server-lists"],
        ),
        Wrong(
            "a list of jobs",
            yaml,
            "elasticjob:\n  jobs:\n  - name: a\n",
            &["application.yaml:2", "elasticjob.jobs", "a list", "a map in which each job has its name"],
        ),
        Wrong(
            "a value for a job",
            yaml,
            "elasticjob:\n  jobs:\n    a: 0/5 * * * * ?\n",
            &["application.yaml:3", "elasticjob.jobs.a", "a single value", "settings of the job"],
        ),
        Wrong(
            "a list of properties",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      props: [x]\n",
            &["application.yaml:4", "elasticjob.jobs.a.props", "a list", "map of properties"],
        ),
        Wrong(
            "time without unit",
            yaml,
            "elasticjob:\n  shutdown: {grace: 25}\n",
            &["application.yaml:2", "elasticjob.shutdown.grace", "'25'", "25s"],
        ),
        Wrong(
            "the same key twice",
            yaml,
            "elasticjob:\n  enabled: true\n  enabled: false\n",
            &["application.yaml:3", "'enabled'", "twice", "application.yaml:2"],
        ),
        Wrong(
            "two spellings of a value",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      jobParameter: x\n      job-parameter: y\n",
            &["application.yaml:5", "elasticjob.jobs.a.job-parameter", "twice", "application.yaml:4"],
        ),
        Wrong(
            "two spellings of a section",
            yaml,
            "elasticjob:\n  regCenter: {namespace: x}\n  reg-center: {digest: y}\n",
            &["application.yaml:3", "elasticjob.reg-center", "twice", "application.yaml:2"],
        ),
        Wrong(
            "an alias beside its name",
            yaml,
            "elasticjob:\n  jobs:\n    a:\n      job-executor-service-handler-type: CPU\n      job-executor-thread-pool-size-provider-type: CPU\n",
            &["application.yaml:5", "twice"],
        ),
        Wrong(
            "placeholder without value",
            yaml,
            "elasticjob:\n  jobs:\n    a: {cron: '${NO_CRON}'}\n",
            &["application.yaml:3", "elasticjob.jobs.a.cron", "${NO_CRON}", "${NO_CRON:default}"],
        ),
        Wrong(
            "placeholder that names itself",
            yaml,
            "elasticjob:\n  reg-center:\n    namespace: ${elasticjob.reg-center.namespace}\n",
            &["application.yaml:3", "namespace", "names itself"],
        ),
        Wrong(
            "tracing without type",
            yaml,
            "elasticjob:\n  tracing:\n    include-job-names: [a]\n",
            &["application.yaml:3", "elasticjob.tracing.type is missing", "type: RDB"],
        ),
        Wrong(
            "tracing: user without url",
            yaml,
            "elasticjob:\n  tracing:\n    type: RDB\n    data-source: {username: root}\n",
            &["application.yaml:4", "elasticjob.tracing.data-source.url is missing", "sqlite:trace.db", "pool"],
        ),
        Wrong(
            "tracing: include and exclude",
            yaml,
            "elasticjob:\n  tracing:\n    type: RDB\n    include-job-names: a\n    exclude-job-names: [b]\n",
            &["application.yaml:5", "exclude-job-names", "`include-job-names`", "keep one"],
        ),
        Wrong(
            "tracing: zone",
            yaml,
            "elasticjob:\n  tracing:\n    type: RDB\n    time-zone: Asia/Shangai\n",
            &["application.yaml:4", "elasticjob.tracing.time-zone", "'Asia/Shangai'", "Asia/Shanghai"],
        ),
        Wrong(
            "tracing: retention",
            yaml,
            "elasticjob:\n  tracing:\n    type: RDB\n    retention: {days: 0}\n",
            &["application.yaml:4", "elasticjob.tracing.retention.days", "'0'", "from 1 to 36500"],
        ),
        Wrong(
            "tracing: data source of an own type",
            yaml,
            "elasticjob:\n  tracing:\n    type: OWN\n    data-source: {url: 'sqlite:a.db'}\n",
            &["application.yaml:4", "elasticjob.tracing.data-source", "only the type RDB", "'OWN'"],
        ),
        Wrong(
            "tracing: unknown key",
            yaml,
            "elasticjob:\n  tracing:\n    type: RDB\n    data-source: {pasword: 'open sesame'}\n",
            &["application.yaml:4", "elasticjob.tracing.data-source.pasword", "'password'"],
        ),
        Wrong(
            "dump: a port that is none",
            yaml,
            "elasticjob:\n  dump: {port: 98888}\n",
            &["application.yaml:2", "elasticjob.dump.port", "'98888'", "from 0 to 65535"],
        ),
        Wrong(
            "dump: an address that is none",
            yaml,
            "elasticjob:\n  dump: {port: 9888, address: localhost}\n",
            &["application.yaml:2", "elasticjob.dump.address", "'localhost'", "127.0.0.1"],
        ),
        Wrong(
            "location in a file",
            yaml,
            "elasticjob:\n  config: {location: x}\n",
            &["application.yaml:2", "elasticjob.config.location", "environment"],
        ),
        Wrong(
            "profile without file",
            yaml,
            "elasticjob:\n  profiles: {active: prod}\n",
            &["application.yaml:2", "'prod'", "application-prod.{yaml,yml,toml,properties}", "./"],
        ),
        Wrong(
            "a port that is none",
            yaml,
            "elasticjob:\n  reg-center: {namespace: x, server-lists: 'a:1,b:port'}\n",
            &["application.yaml:2", "elasticjob.reg-center.server-lists", "a:1,b:port"],
        ),
        Wrong(
            "a namespace that is no path",
            yaml,
            "elasticjob:\n  reg-center:\n    server-lists: a:1\n    namespace: /x/\n",
            &["application.yaml:4", "elasticjob.reg-center.namespace", "'/x/'"],
        ),
        Wrong(
            "a digest without user",
            yaml,
            "elasticjob:\n  reg-center: {server-lists: a, namespace: x, digest: hush}\n",
            &["application.yaml:2", "elasticjob.reg-center.digest", "'***'", "user:password"],
        ),
        Wrong("broken yaml", yaml, "elasticjob:\n\tenabled: true\n", &["application.yaml:2", "not valid YAML"]),
        Wrong(
            "two documents",
            yaml,
            "elasticjob: {}\n---\nelasticjob: {}\n",
            &["application.yaml:", "second document"],
        ),
        Wrong("broken toml", "application.toml", "[elasticjob\n", &["application.toml:1", "not valid TOML"]),
        Wrong(
            "unknown key in toml",
            "application.toml",
            "[elasticjob.jobs.a.b]\ncron = \"x\"\n",
            &["application.toml:1", "elasticjob.jobs.a.b"],
        ),
        Wrong(
            "wrong type in toml",
            "application.toml",
            "[elasticjob]\nenabled = 3\n",
            &["application.toml:2", "elasticjob.enabled", "'3'"],
        ),
        Wrong(
            "unknown key in properties",
            "application.properties",
            "a=b\nelasticjob.jobs.a.crno=x\n",
            &["application.properties:2", "elasticjob.jobs.a.crno", "did you mean 'cron'?"],
        ),
        Wrong(
            "the same property twice",
            "application.properties",
            "elasticjob.enabled=true\nelasticjob.enabled=true\n",
            &["application.properties:2", "elasticjob.enabled", "twice", "application.properties:1"],
        ),
        Wrong(
            "a gap in a list",
            "application.properties",
            "elasticjob.jobs.a.job-listener-types[1]=x\n",
            &["application.properties:1", "job-listener-types[0]"],
        ),
        Wrong(
            "a job alone",
            "application.properties",
            "elasticjob.jobs.a=x\n",
            &["application.properties:1", "elasticjob.jobs.a", "elasticjob.jobs.a.cron"],
        ),
    ];
    for Wrong(what, file, text, parts) in cases {
        let folder = folder(&format!("wrong/{}", what.replace(' ', "_")), &[(file, text)]);
        let errors = errors(&Sources::in_folder(folder));
        assert_eq!(errors.len(), 1, "{what}: {errors:#?}");
        for part in parts {
            assert!(errors[0].contains(part), "{what}: no {part:?} in: {}", errors[0]);
        }
    }
}
