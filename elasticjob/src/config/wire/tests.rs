use std::path::Path;

use super::*;

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/wire").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A text, and the documents that SnakeYAML 1.33 writes with it: as a property, as value and key of a map, and in a
/// list.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
    property: String,
    prop: String,
    key: String,
    item: String,
}

fn written(text: &str) -> Written {
    let document = |fill: &dyn Fn(&mut Document)| {
        let mut document = Document::default();
        fill(&mut document);
        document.into_string()
    };
    Written {
        text: text.to_owned(),
        property: document(&|document| document.text("jobParameter", text)),
        prop: document(&|document| document.map("props", [("key", text)])),
        key: document(&|document| document.map("props", [(text, "value")])),
        item: document(&|document| document.list("jobListenerTypes", [text])),
    }
}

#[test]
fn texts_are_written_as_snakeyaml_writes_them() {
    let (mut count, mut wrong) = (0, Vec::new());
    for line in golden("snakeyaml.jsonl").lines() {
        let expected: Written = serde_json::from_str(line).unwrap();
        let actual = written(&expected.text);
        count += 1;
        if actual != expected {
            wrong.push(format!("{expected:#?}\n{actual:#?}"));
        }
    }
    assert!(count >= 500, "only {count} texts");
    assert!(wrong.is_empty(), "{} of {count} differ, the first: {}", wrong.len(), wrong[0]);
}

fn name(job: &str) -> JobName {
    JobName::new(job).unwrap()
}

fn parsed(yaml: &str) -> Result<JobConfiguration, String> {
    from_yaml(&name("job"), yaml.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn a_full_configuration_is_written_as_java_writes_it() {
    let full = JobConfiguration::builder("fullJob", 3)
        .cron("0/5 * * * * ?")
        .time_zone("GMT+8:00")
        .sharding_item_parameters("0=Beijing,1=Shanghai,2=Guangzhou")
        .job_parameter("p=1: x")
        .failover(true)
        .job_sharding_strategy_type("AVG_ALLOCATION")
        .job_executor_thread_pool_size_provider_type("CPU")
        .job_error_handler_type("LOG")
        .job_listener_type("l1")
        .job_listener_type("l2")
        .description("desc")
        .prop("streaming.process", "true")
        .prop("k2", "v2")
        .overwrite(true)
        .label("lab")
        .build()
        .unwrap();
    let yaml = golden("config-full.yaml");
    assert_eq!(to_yaml(&full), yaml);
    assert_eq!(read(&name("fullJob"), yaml.as_bytes()).unwrap(), Reading { configuration: full, ignored: vec![] });
}

#[test]
fn a_configuration_of_defaults_is_written_as_java_writes_it() {
    let defaults = JobConfiguration::builder("minJob", 1).build().unwrap();
    let yaml = golden("config-defaults.yaml");
    assert_eq!(to_yaml(&defaults), yaml);
    assert_eq!(from_yaml(&name("minJob"), yaml.as_bytes()).unwrap(), defaults);
}

#[test]
fn foreign_settings_are_carried_on_unchanged() {
    let yaml = golden("config-tracing.yaml");
    let traced = from_yaml(&name("tracedJob"), yaml.as_bytes()).unwrap();
    assert_eq!(to_yaml(&traced), yaml);
    let own = JobConfiguration::builder("tracedJob", 2).cron("0/9 * * * * ?").build().unwrap();
    assert_eq!(to_yaml(&own.with_extra_of(&traced)), yaml.replace("0/5", "0/9"));
}

#[test]
fn only_the_lines_of_foreign_settings_are_carried() {
    let around = |block: &str| format!("description: ''\n{block}shardingTotalCount: 1\n");
    for block in [
        "jobExtraConfigurations:\n  - !!a.B\n    # kept\n\n    c: |\n      jobExtraConfigurations: d\n\n",
        "jobExtraConfigurations: [{a: b},\n  {c: d}]\n",
        "jobExtraConfigurations:\n-\n  a: b\n",
    ] {
        let read = parsed(&around(block)).unwrap();
        assert_eq!(read.extra.as_deref(), Some(block));
        assert_eq!(parsed(&to_yaml(&read)).unwrap().extra.as_deref(), Some(block));
    }
    assert_eq!(
        parsed("shardingTotalCount: 1\njobExtraConfigurations: [a]").unwrap().extra.as_deref(),
        Some("jobExtraConfigurations: [a]\n")
    );
    let next = parsed("jobExtraConfigurations:\n- a\n-b: 1\nshardingTotalCount: 1\n").unwrap();
    assert_eq!(next.extra.as_deref(), Some("jobExtraConfigurations:\n- a\n"));
    for none in ["", "jobExtraConfigurations:\n", "jobExtraConfigurations: []\n"] {
        assert_eq!(parsed(&around(none)).unwrap().extra, None);
    }
    for lost in [
        "{\"shardingTotalCount\": 1, \"jobExtraConfigurations\": [{}]}",
        "shardingTotalCount: 1\njobExtraConfigurations: [a]\nlabel: x\njobExtraConfigurations: [b]\n",
        "label: &l x\nshardingTotalCount: 1\njobExtraConfigurations: [*l]\n",
    ] {
        assert!(parsed(lost).unwrap_err().contains("jobExtraConfigurations: it cannot be told apart"), "{lost}");
    }
}

#[test]
fn every_text_is_read_back_as_it_was() {
    let control = ["\u{7}", "a\0b", "\u{1b}[1m bold", "\u{7f}\u{80}"].map(String::from);
    let table = golden("snakeyaml.jsonl");
    let texts = table.lines().map(|line| serde_json::from_str::<Written>(line).unwrap().text);
    // Java writes U+0085 as a line break too, and reads it as a line feed.
    for text in texts.chain(control).filter(|text| !text.contains('\u{85}')) {
        let job = JobConfiguration::builder("job", 1)
            .job_parameter(&text)
            .prop(&text, "value")
            .prop("key", &text)
            .job_listener_type(&text)
            .build()
            .unwrap();
        let yaml = to_yaml(&job);
        assert_eq!(parsed(&yaml).as_ref(), Ok(&job), "{yaml}");
    }
}

#[test]
fn what_is_missing_has_the_value_that_java_reads() {
    let job = parsed("shardingTotalCount: 2\n").unwrap();
    assert!(!job.monitor_execution && !job.misfire && !job.failover && !job.disabled && !job.overwrite);
    assert_eq!((job.max_time_diff_seconds.stored(), job.reconcile_interval_minutes), (-1, 0));
}

#[test]
fn hand_written_documents_are_read() {
    let json =
        r#"{"jobName": "job", "shardingTotalCount": "3", "misfire": true, "cron": "0 0 1 * * ?", "props": {"a": 1}}"#;
    let job = parsed(json).unwrap();
    assert_eq!((job.sharding_total_count(), job.misfire, job.schedule().is_some()), (3, true, true));
    let yaml = "shardingTotalCount: 0x0_A\nmisfire: yes\nfailover: Off\nlabel: ~\ncron:\nprops:\n  a: 1.10\n  b: 0o17\n  c: yes\n\
                shardingItemParameters: 0=a,0=b,99=c\njobListenerTypes: [a, 1]\nlabel: a\nlabel: b\ntimeZone: GMT\ntimeZone: ~\n";
    let job = parsed(yaml).unwrap();
    assert_eq!((job.sharding_total_count(), job.misfire, job.failover), (10, true, false));
    assert_eq!((job.sharding_parameter(0), job.label.as_deref()), (Some("b"), Some("b")));
    assert_eq!(job.time_zone, None);
    let props: Vec<_> = job.props.iter().map(|(key, value)| (key.as_ref(), value.as_ref())).collect();
    assert_eq!(props, [("a", "1.10"), ("b", "0o17"), ("c", "yes")]);
    assert_eq!(job.job_listener_types, ["a".into(), "1".into()]);
}

#[test]
fn keys_of_other_releases_are_read_and_unknown_ones_told_and_dropped() {
    let yaml =
        b"shardingTotalCount: 1\njobName: other\njobExecutorServiceHandlerType: SINGLE_THREAD\nfoo: {a: [!!x.Y b]}\n";
    let Reading { configuration, ignored } = read(&name("job"), yaml).unwrap();
    assert_eq!(configuration.thread_pool_type(), Some("SINGLE_THREAD"));
    assert_eq!(ignored, [Ignored::JobName("other".into()), Ignored::Key("foo".into())]);
    let written = to_yaml(&configuration);
    assert!(written.contains("jobName: job\n") && !written.contains("foo"), "{written}");
    assert!(written.contains("jobExecutorThreadPoolSizeProviderType: SINGLE_THREAD\n"), "{written}");
}

#[test]
fn an_error_names_the_key() {
    for (yaml, part) in [
        ("- a\n", "a map of settings"),
        ("a: b: c\n", "cannot be read as YAML"),
        ("{}", "sharding-total-count: it is missing"),
        ("shardingTotalCount: 0\n", "sharding-total-count: 0 is not possible"),
        ("shardingTotalCount: -1\n", "shardingTotalCount: '-1' is not a whole number"),
        ("shardingTotalCount: 9999999999\n", "shardingTotalCount: '9999999999' is not a whole number"),
        ("shardingTotalCount: three\n", "shardingTotalCount: 'three' is not a whole number"),
        ("shardingTotalCount: 1\nmisfire: maybe\n", "misfire: 'maybe' is not true or false"),
        ("shardingTotalCount: 1\ncron: 61 * * * * ?\n", "cron: "),
        ("shardingTotalCount: 1\ncron: [a]\n", "cron: there is a list where a single value belongs"),
        ("shardingTotalCount: 1\nprops: a\n", "props: there is a single value where a map"),
        ("shardingTotalCount: 1\nprops:\n  a:\n", "props.a: there is nothing where"),
        ("shardingTotalCount: 1\nprops:\n  a: [b]\n", "props.a: there is a list"),
        ("shardingTotalCount: 1\njobListenerTypes: a\n", "jobListenerTypes: there is a single value"),
        (
            "shardingTotalCount: 1\nshardingItemParameters: 0=\n",
            "sharding-item-parameters: item 0 has a blank parameter",
        ),
        ("shardingTotalCount: 1\njobShardingStrategyType: SINGLE_SHARDING_BALANCE\n", "needs monitor-execution"),
    ] {
        let error = parsed(yaml).unwrap_err();
        assert!(error.contains(part), "{yaml:?}: {error}");
    }
    assert!(matches!(from_yaml(&name("job"), b"cron: \xff"), Err(WireError::Syntax(_))));
}

#[test]
fn how_late_a_fire_may_begin_is_kept_as_a_property_that_java_carries_on() {
    let job = JobConfiguration::builder("job", 1).max_late_begin_seconds(3_600).prop("z", "1").build().unwrap();
    let yaml = to_yaml(&job);
    assert!(yaml.contains("props:\n  elasticjob.max-late-begin-seconds: '3600'\n  z: '1'\n"), "{yaml}");
    let read = from_yaml(job.job_name(), yaml.as_bytes()).unwrap();
    assert_eq!((read.max_late_begin_seconds(), read.prop("elasticjob.max-late-begin-seconds")), (Some(3_600), None));
    assert_eq!(read, job);
    let wrong = yaml.replace("3600", "1 h");
    let error = from_yaml(job.job_name(), wrong.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("elasticjob.max-late-begin-seconds: '1 h' is not a whole number of seconds"), "{error}");
}
