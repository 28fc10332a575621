//! The settings of the starter: every source, their order, and everything that can be wrong with them.

mod wrong_files;

use std::fs;
use std::path::{Path, PathBuf};

use elasticjob::secret::Secret;
use elasticjob_starter::settings::{JobEntry, Settings, Sources};

/// A folder of its own with these files in it.
fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("settings").join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn load(sources: &Sources) -> Settings {
    Settings::load(sources, &["syncOrders"]).unwrap_or_else(|errors| panic!("{}", texts(&errors).join("\n")))
}

fn errors(sources: &Sources) -> Vec<String> {
    texts(&Settings::load(sources, &["syncOrders"]).expect_err("an error"))
}

fn texts<T: ToString>(errors: &[T]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn job<'s>(settings: &'s Settings, name: &str) -> &'s JobEntry {
    settings.jobs.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("no job {name}"))
}

#[test]
fn later_sources_win_a_setting_at_a_time() {
    let folder = folder(
        "order",
        &[
            (
                "application.yaml",
                "elasticjob:\n  profiles: {active: [one, two]}\n  jobs:\n    syncOrders:\n      cron: base\n      \
                 job-parameter: base\n      label: base\n      description: base\n      time-zone: base\n      \
                 sharding-item-parameters: base\n",
            ),
            (
                "application-one.toml",
                "[elasticjob.jobs.syncOrders]\njobParameter = \"one\"\nlabel = \"one\"\ndescription = \"one\"\ntime_zone = \"one\"\n",
            ),
            (
                "application-two.properties",
                "elasticjob.jobs.syncOrders.label=two\nelasticjob.jobs.syncOrders.description=two\n\
                 elasticjob.jobs.syncOrders.time-zone=two\n",
            ),
        ],
    );
    let sources = Sources::in_folder(&folder)
        .environment([
            ("ELASTICJOB_JOBS_SYNCORDERS_DESCRIPTION", "env"),
            ("ELASTICJOB_JOBS_SYNC_ORDERS_TIME_ZONE", "env"),
        ])
        .arguments(["--elasticjob.jobs.syncOrders.timeZone=arg"]);
    let settings = load(&sources);
    let entry = job(&settings, "syncOrders");
    let given = &entry.settings;
    let values = [
        &given.sharding_item_parameters,
        &given.cron,
        &given.job_parameter,
        &given.label,
        &given.description,
        &given.time_zone,
    ];
    let values: Vec<&str> = values.iter().map(|value| value.as_deref().unwrap()).collect();
    assert_eq!(values, ["base", "base", "one", "two", "env", "arg"]);
    let origin = |name: &str| entry.origins[name].to_string();
    assert_eq!(origin("cron"), "application.yaml:5");
    assert_eq!(origin("job-parameter"), "application-one.toml:2");
    assert_eq!(origin("label"), "application-two.properties:1");
    assert_eq!(origin("description"), "environment variable ELASTICJOB_JOBS_SYNCORDERS_DESCRIPTION");
    assert_eq!(origin("time-zone"), "argument --elasticjob.jobs.syncOrders.timeZone");
    assert_eq!(settings.profiles, ["one", "two"]);
}

#[test]
fn the_yaml_of_the_manual_means_what_it_means_there() {
    let folder = folder(
        "manual_yaml",
        &[(
            "application.yml",
            "server:\n  port: 8080\nelasticjob:\n  regCenter:\n    serverLists: localhost:6181\n    namespace: \
             elasticjob-lite-springboot\n  jobs:\n    dataflowJob:\n      elasticJobClass: my_app::jobs::dataflow\n      \
             cron: 0/5 * * * * ?\n      shardingTotalCount: 3\n      shardingItemParameters: \
             0=Beijing,1=Shanghai,2=Guangzhou\n    scriptJob:\n      elasticJobType: SCRIPT\n      cron: 0/10 * * * * ?\n      \
             shardingTotalCount: 3\n      props:\n        script.command.line: \"echo SCRIPT Job: \"\n    manual.script.任务:\n      \
             elasticJobType: SCRIPT\n      jobBootstrapBeanName: manualScriptJobBean\n      shardingTotalCount: 9\n      \
             jobExecutorServiceHandlerType: CPU\n      job-listener-types: [a, b]\n      props:\n        script:\n          \
             command:\n            line: nested\n        KeepsCase: yes\n",
        )],
    );
    let settings = load(&Sources::in_folder(folder));
    assert_eq!(settings.reg_center.server_lists, ["localhost:6181"]);
    assert_eq!(settings.reg_center.namespace.as_deref(), Some("elasticjob-lite-springboot"));
    let names: Vec<&str> = settings.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let dataflow = &job(&settings, "dataflowJob").settings;
    assert_eq!(dataflow.elastic_job_class.as_deref(), Some("my_app::jobs::dataflow"));
    assert_eq!(dataflow.sharding_total_count, Some(3));
    assert_eq!(dataflow.sharding_item_parameters.as_deref(), Some("0=Beijing,1=Shanghai,2=Guangzhou"));
    let script = &job(&settings, "scriptJob").settings;
    assert_eq!(script.props.as_ref().unwrap()["script.command.line"], "echo SCRIPT Job: ");
    let manual = &job(&settings, "manual.script.任务").settings;
    assert_eq!(manual.job_bootstrap_bean_name.as_deref(), Some("manualScriptJobBean"));
    assert_eq!(manual.job_executor_thread_pool_size_provider_type.as_deref(), Some("CPU"));
    assert_eq!(manual.job_listener_types.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
    let props = manual.props.as_ref().unwrap();
    assert_eq!((props["script.command.line"].as_str(), props["KeepsCase"].as_str()), ("nested", "yes"));
}

#[test]
fn the_properties_of_the_manual_mean_the_same() {
    let folder = folder(
        "manual_properties",
        &[(
            "application.properties",
            "server.port=8080\nelasticjob.reg-center.namespace=ns\nelasticjob.regCenter.server-lists=a:1,b:2\n\
             elasticjob.jobs.scriptJob.elastic-job-type=SCRIPT\nelasticjob.jobs.scriptJob.cron=0/5 * * * * ?\n\
             elasticjob.jobs.scriptJob.props.script.command.line=echo SCRIPT Job:\n\
             elasticjob.jobs[a.b].sharding-total-count=3\nelasticjob.jobs.a.b.job-listener-types[0]=x\n",
        )],
    );
    let settings = load(&Sources::in_folder(folder));
    assert_eq!(settings.reg_center.server_lists, ["a:1", "b:2"]);
    let script = &job(&settings, "scriptJob").settings;
    assert_eq!(script.cron.as_deref(), Some("0/5 * * * * ?"));
    assert_eq!(script.props.as_ref().unwrap()["script.command.line"], "echo SCRIPT Job:");
    let dotted = &job(&settings, "a.b").settings;
    assert_eq!(dotted.sharding_total_count, Some(3));
    assert_eq!(dotted.job_listener_types.as_deref(), Some(&["x".to_owned()][..]));
}

#[test]
fn nothing_set_gives_the_defaults() {
    let settings = load(&Sources::in_folder(folder("defaults", &[])));
    assert!(settings.enabled);
    assert!(settings.reg_center.server_lists.is_empty() && settings.jobs.is_empty() && settings.files.is_empty());
    assert_eq!(settings.shutdown_grace.as_secs(), 25);
}

#[test]
fn every_setting_beside_the_jobs_is_read() {
    let folder = folder(
        "all",
        &[(
            "application.yaml",
            "elasticjob:\n  enabled: off\n  shutdown.grace: 1500ms\n  preferred:\n    network: {interface: eth1, ip: 10.*}\n  \
             reg-center:\n    server-lists: [a:1, b:2]\n    namespace: x/y\n    base-sleep-time-milliseconds: 1\n    \
             max-sleep-time-milliseconds: 2\n    max-retries: 3\n    session-timeout-milliseconds: 4\n    \
             connection-timeout-milliseconds: 5\n    digest: me:secret\n",
        )],
    );
    let settings = load(&Sources::in_folder(folder));
    assert!(!settings.enabled);
    assert_eq!(settings.shutdown_grace.as_millis(), 1500);
    assert_eq!(settings.preferred_network_interface.as_deref(), Some("eth1"));
    assert_eq!(settings.preferred_network_ip.as_deref(), Some("10.*"));
    let center = &settings.reg_center;
    assert_eq!(center.server_lists, ["a:1", "b:2"]);
    let numbers = [
        center.base_sleep_time_milliseconds,
        center.max_sleep_time_milliseconds,
        center.max_retries,
        center.session_timeout_milliseconds,
        center.connection_timeout_milliseconds,
    ];
    assert_eq!(numbers, [Some(1), Some(2), Some(3), Some(4), Some(5)]);
    assert_eq!(center.digest.as_ref().map(Secret::reveal), Some("me:secret"));
    assert!(!format!("{settings:?}").contains("secret"), "{settings:?}");
}

#[test]
fn the_first_place_that_has_a_file_wins_and_the_others_are_mentioned() {
    let yaml = |namespace: &str| format!("elasticjob:\n  reg-center: {{namespace: {namespace}}}\n");
    let folder = folder(
        "places",
        &[
            ("work/config/application.yaml", &yaml("config")),
            ("package/application.yaml", &yaml("package")),
            ("other/my-settings.yaml", &yaml("file")),
            ("other/my-settings-prod.yaml", &yaml("file-prod")),
            ("other/application.toml", "elasticjob.reg-center.namespace = \"location\""),
        ],
    );
    let package = folder.join("package").display().to_string();
    let work = Sources::in_folder(folder.join("work")).environment([("CARGO_MANIFEST_DIR", package.as_str())]);
    let namespace = |sources: &Sources| load(sources).reg_center.namespace.unwrap();

    assert_eq!(namespace(&work), "config");
    let warnings = load(&work).warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("package/application.yaml is not read"), "{warnings:?}");
    assert_eq!(namespace(&work.clone().arguments(["--elasticjob.config.location=../other/"])), "location");
    assert_eq!(namespace(&work.clone().location("../other/my-settings.yaml")), "file");
    assert_eq!(namespace(&work.clone().location("../other/my-settings.yaml").profile("prod")), "file-prod");
    let by_environment = work.clone().location("../package").environment([("ELASTICJOB_CONFIG_LOCATION", "../other")]);
    assert_eq!(namespace(&by_environment), "location");

    fs::create_dir_all(folder.join("empty")).unwrap();
    let elsewhere = Sources::in_folder(folder.join("empty")).environment([("CARGO_MANIFEST_DIR", package.as_str())]);
    assert_eq!(namespace(&elsewhere), "package");
}

#[test]
fn placeholders_look_into_the_environment_the_settings_and_the_rest_of_the_files() {
    let folder = folder(
        "placeholders",
        &[
            (
                "application.yaml",
                "zk: {host: zk.example, port: '${ZK_PORT:2181}'}\nelasticjob:\n  profiles:\n    active: ${STAGE:dev}\n  reg-center:\n    \
                 server-lists: ${zk.host}:${zk.port}\n    namespace: jobs-${STAGE:dev}\n  jobs:\n    syncOrders:\n      \
                 description: in ${elasticjob.regCenter.namespace}\n      sharding-total-count: ${COUNT:3}\n      \
                 props: {a.b: '\\${kept}'}\n",
            ),
            (
                "application-prod.yaml",
                "elasticjob: {jobs: {syncOrders: {label: '${elasticjob.jobs.syncOrders.job-parameter:none}'}}}",
            ),
        ],
    );
    let sources = Sources::in_folder(folder).environment([("ZK_PORT", "2182"), ("STAGE", "prod"), ("COUNT", "5")]);
    let settings = load(&sources);
    assert_eq!(settings.reg_center.server_lists, ["zk.example:2182"]);
    let given = &job(&settings, "syncOrders").settings;
    assert_eq!(given.description.as_deref(), Some("in jobs-prod"));
    assert_eq!(given.sharding_total_count, Some(5));
    assert_eq!(given.label.as_deref(), Some("none"));
    assert_eq!(given.props.as_ref().unwrap()["a.b"], "${kept}");
}

#[test]
fn a_file_that_is_not_utf_8_is_named_with_the_line() {
    let folder = folder("not_utf_8", &[]);
    fs::write(folder.join("application.properties"), b"a=b\nelasticjob.reg-center.namespace=\xe4\n").unwrap();
    let told = errors(&Sources::in_folder(folder));
    assert_eq!(told, ["application.properties: cannot be read: line 2 is not UTF-8 text; save the file in UTF-8"]);
}

#[test]
fn commas_without_servers_do_not_mean_the_embedded_registry() {
    for text in ["',,'", "' , '", "'   '", "['', ' ']", "'${NOTHING:},${NOTHING:}'"] {
        let file = format!("elasticjob:\n  reg-center:\n    server-lists: {text}\n    namespace: x\n");
        let told = errors(&Sources::in_folder(folder("no_servers", &[("application.yaml", &file)])));
        assert_eq!(told.len(), 1, "{text}: {told:?}");
        for part in ["application.yaml:3", "elasticjob.reg-center.server-lists", "`host:port`", "embedded registry"] {
            assert!(told[0].contains(part), "{text}: no {part:?} in {told:?}");
        }
    }
    for text in ["''", "'${NOTHING:}'", "", "[]"] {
        let file = format!("elasticjob:\n  reg-center:\n    server-lists: {text}\n    namespace: x\n");
        let settings = load(&Sources::in_folder(folder("empty_servers", &[("application.yaml", &file)])));
        assert_eq!(settings.reg_center.zookeeper(), None, "{text}");
    }
}

#[test]
fn all_errors_of_all_sources_are_reported_at_once() {
    let folder = folder(
        "all_at_once",
        &[
            ("application.yaml", "elasticjob:\n  enabeld: true\n  reg-center: {max-retries: many}\n"),
            ("application-x.yaml", "elasticjob: {jobs: {a: {corn: x, failover: perhaps}}}"),
        ],
    );
    let sources = Sources::in_folder(folder)
        .profile("x")
        .environment([("ELASTICJOB_REG_CENTER_BASE_SLEEP_TIME_MILLISECONDS", "soon")])
        .arguments(["--elasticjob.nothing=1"]);
    let errors = errors(&sources);
    let parts = [
        "elasticjob.enabeld",
        "elasticjob.jobs.a.corn",
        "--elasticjob.nothing",
        "environment variable ELASTICJOB_REG_CENTER_BASE_SLEEP_TIME_MILLISECONDS: elasticjob.reg-center.base-sleep-time-milliseconds: 'soon'",
        "'many'",
        "'perhaps'",
    ];
    assert_eq!(errors.len(), parts.len(), "{errors:#?}");
    for part in parts {
        assert!(errors.iter().any(|error| error.contains(part)), "no {part} in {errors:#?}");
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = folder(
        "unusable",
        &[
            ("both/application.yaml", "elasticjob: {}\n"),
            ("both/application.toml", "elasticjob.enabled = true\n"),
            ("foreign/application.yaml", "elasticjob: {enabled: false}\n"),
            ("foreign/application.properties", "server.port=1\n"),
            ("settings.ini", ""),
        ],
    );
    let both = errors(&Sources::in_folder(folder.join("both")));
    assert!(both.len() == 1 && both[0].contains("application.yaml and application.toml both"), "{both:?}");
    assert!(!load(&Sources::in_folder(folder.join("foreign"))).enabled);
    for (location, part) in [
        ("nowhere", "elasticjob.config.location: 'nowhere' has no file"),
        ("settings.ini", "one of the extensions yaml"),
    ] {
        let errors =
            errors(&Sources::in_folder(&folder).arguments([format!("--elasticjob.config.location={location}")]));
        assert!(errors.len() == 1 && errors[0].contains(part), "{errors:?}");
        assert!(errors[0].starts_with("argument --elasticjob.config.location"), "{errors:?}");
    }
    fs::write(folder.join("both/application.toml"), [0xff, 0xfe]).unwrap();
    let binary = errors(&Sources::in_folder(folder.join("both")));
    assert!(
        binary.len() == 1 && binary[0].contains("application.toml: cannot be read: line 1 is not UTF-8"),
        "{binary:?}"
    );
}

#[cfg(unix)]
#[test]
fn what_has_the_name_of_a_file_and_is_none_is_not_taken_for_a_missing_file() {
    use std::os::unix::fs::symlink;

    let folder = folder("no_file", &[("found/application.yaml", "elasticjob: {enabled: false}\n")]);
    let link = |target: &str, name: &str| symlink(target, folder.join(name)).unwrap();
    for place in ["mounted/application.yaml", "linked/config", "device", "found/config/application.toml"] {
        fs::create_dir_all(folder.join(place)).unwrap();
    }
    link("nowhere", "linked/config/application.properties");
    link("application.yml", "device/application.yml");
    fs::write(folder.join("mounted/config"), "").unwrap();
    for (place, parts) in [
        ("mounted", ["application.yaml: cannot be read: it is a folder", "the file that they mount does not exist"]),
        ("linked", ["config/application.properties: cannot be read", "a link to a file that does not exist"]),
        ("device", ["application.yml: cannot be read", "symbolic links"]),
    ] {
        let errors = errors(&Sources::in_folder(folder.join(place)));
        assert!(errors.len() == 1 && parts.iter().all(|part| errors[0].contains(part)), "{place}: {errors:?}");
    }
    // What is hidden by a file does not matter.
    let found = load(&Sources::in_folder(folder.join("found")));
    assert!(!found.enabled && found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn a_profile_activates_no_other_and_is_one_part_of_a_file_name() {
    let folder = folder("profiles", &[("application-a.yaml", "elasticjob: {profiles: {active: b}}\n")]);
    let sources = Sources::in_folder(folder);
    let errors_of_a = errors(&sources.clone().profile("a"));
    assert!(errors_of_a.len() == 1 && errors_of_a[0].contains("a profile cannot activate others"), "{errors_of_a:?}");
    let path = errors(&sources.arguments(["--elasticjob.profiles.active=../x"]));
    assert!(path.len() == 1 && path[0].contains("'../x'"), "{path:?}");
}

#[test]
fn a_secret_is_in_no_error() {
    let folder = folder("secret", &[("application.yaml", "elasticjob:\n  reg-center:\n    digest: 'me:${hidden'\n")]);
    let errors = errors(&Sources::in_folder(&folder).arguments(["--elasticjob.reg-center.digest.x=me:hidden"]));
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(!errors.concat().contains("hidden"), "{errors:?}");
}

#[test]
fn a_file_that_cannot_be_read_hides_nothing_of_others() {
    let folder = folder(
        "beside_unreadable",
        &[
            ("application.yaml", "elasticjob: {corn: x}\n"),
            (
                "application.properties",
                "elasticjob.enabled=\\u12\nelasticjob.jobs.a.failover=perhaps\nelasticjob.b=\\u1\n",
            ),
            ("application-x.toml", "elasticjob = [\n"),
            ("application-y.yaml", "elasticjob: {shutdown: {grace: 25}}\n"),
        ],
    );
    let errors = errors(&Sources::in_folder(folder).profile("x").profile("y"));
    let parts = [
        "application.yaml and application.properties both",
        "application.yaml:1: unknown key 'elasticjob.corn'",
        "application.properties:1: `\\u12`",
        "application.properties:3: `\\u1`",
        "application-x.toml:",
        "application-y.yaml:1: elasticjob.shutdown.grace: '25'",
    ];
    assert_eq!(errors.len(), parts.len(), "{errors:#?}");
    for part in parts {
        assert!(errors.iter().any(|error| error.contains(part)), "no {part} in {errors:#?}");
    }
}

#[test]
fn a_dump_port_that_is_not_said_is_none_and_a_warning() {
    let text = "elasticjob:\n  dump: {address: 0.0.0.0, enabled: true}\n";
    let settings = load(&Sources::in_folder(folder("dump", &[("application.yaml", text)])));
    assert!(settings.dump.is_none());
    let expected =
        "application.yaml:2: no dump port is opened: elasticjob.dump.port is not set; set it, for example to 9888";
    assert_eq!(settings.warnings, [expected]);
    let off = "elasticjob:\n  dump: {address: 0.0.0.0, enabled: false}\n";
    assert!(load(&Sources::in_folder(folder("dump", &[("application.yaml", off)]))).warnings.is_empty());
}

#[test]
fn an_unknown_variable_warns_and_an_entry_without_settings_is_kept() {
    let folder = folder("warn", &[("application.yaml", "elasticjob:\n  jobs:\n    lonely:\n    empty: {}\n")]);
    let settings = load(&Sources::in_folder(folder).environment([("ELASTICJOB_SERVICE_HOST", "10.0.0.1")]));
    assert!(
        settings.warnings.len() == 1 && settings.warnings[0].contains("ELASTICJOB_SERVICE_HOST"),
        "{:?}",
        settings.warnings
    );
    assert!(settings.jobs.iter().map(|job| job.name.as_str()).eq(["empty", "lonely"]));
}
