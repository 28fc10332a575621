//! Configurations as `application.yaml` takes them.

use std::collections::BTreeSet;

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use elasticjob::config::{JobConfiguration, JobSettings};
use elasticjob::ident::JobName;
use futures_util::StreamExt;
use serde_json::{Map, Value};

use super::{AT_ONCE, CLASS, Code, CodeSetting, EXTRA, Read, TYPE, read};
use crate::api::Problem;
use crate::here::Here;
use crate::service::configuration::{has_mask, object};
use crate::service::jobs::{JobQuery, matching};
use crate::service::time::Time;

/// The number of jobs after which other work of the console has its turn.
const TURN: usize = 64;

/// The file with the configurations of the jobs that a query names, or leaves as the list of jobs does.
pub(crate) async fn exported(here: &Here, query: &[(String, String)]) -> Result<Response, Problem> {
    let one = |name: &str| query.iter().find(|(one, _)| one == name).map(|(_, it)| it.clone()).unwrap_or_default();
    let (q, status, concern, running) = (one("q"), one("status"), one("concern"), one("running"));
    let filter = JobQuery { q, status, concern, running, ..JobQuery::default() };
    let chosen = query.iter().filter(|(name, _)| name == "job").map(|(_, job)| job.as_str()).collect();
    let text = document(here, &chosen, &filter).await?;
    let name = format!("attachment; filename=\"{}-jobs.yaml\"", here.registry.name());
    let headers = [(CONTENT_TYPE, "application/yaml; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, name)];
    Ok((headers, text).into_response())
}

/// The configurations of the jobs with these names, or without names of those that the query leaves.
async fn document(here: &Here, chosen: &BTreeSet<&str>, query: &JobQuery) -> Result<String, Problem> {
    let (jobs, lost_since) = matching(here, query).await?;
    let mut jobs: Vec<JobName> = jobs.iter().map(|job| job.job.clone()).collect();
    if !chosen.is_empty() {
        let known: BTreeSet<&str> = jobs.iter().map(JobName::as_str).collect();
        if let Some(unknown) = chosen.iter().find(|name| !known.contains(**name)) {
            return Err(Problem::no_such_job_to_see(unknown));
        }
        jobs.retain(|job| chosen.contains(job.as_str()));
    }
    jobs.sort();
    let mut text = head(here.registry.name(), lost_since);
    let plain = plain();
    let of_jobs = jobs.into_iter().map(|job| async move { (read(&here.registry, &job).await, job) });
    let mut read = futures_util::stream::iter(of_jobs).buffered(AT_ONCE).enumerate();
    while let Some((number, (read, job))) = read.next().await {
        // What is known already is read without waiting.
        if number % TURN == TURN - 1 {
            tokio::task::yield_now().await;
        }
        match read? {
            Read::Stored(stored) if stored.is_carried() => {
                text +=
                    &format!("    # {}: a carried job, which is registered at its scheduler\n", quoted(job.as_str()));
            }
            Read::Stored(stored) => {
                let (code, settings) = (Code::of(&stored), stored.masked_settings());
                text += &Entry { job: &job, code, settings, has_extra: stored.has_extra() }.text(&plain)?;
            }
            Read::Unusable(why) => {
                text += &format!("    # {}: {}\n", quoted(job.as_str()), why.as_str().replace(['\r', '\n'], " "));
            }
            Read::Gone => {}
        }
    }
    Ok(text)
}

/// The begin of the file.
fn head(registry: &str, lost_since: Option<i64>) -> String {
    let lost = lost_since.map_or_else(String::new, |since| {
        format!("# The registry center is lost since {}: the configurations are from then.\n", Time(since))
    });
    format!(
        "# The configurations of jobs in the registry center {}, as application.yaml takes them.\n{lost}\
         # A setting with its default is left out: where the attribute of a job function has another value, that one would count.\n\
         # A setting with a secret is a comment, as no secret is exported: set it where the program has its settings.\n\
         elasticjob:\n  jobs:\n",
        quoted(registry)
    )
}

/// The settings of a job for which nothing but its number of items is set, which is none of them.
fn plain() -> Map<String, Value> {
    let plain = JobConfiguration::builder("job", 1).build().map(|plain| object(&plain.settings()));
    let mut plain = plain.expect("a name and a count are enough").unwrap_or_default();
    plain.remove("sharding-total-count");
    plain
}

/// A job of the file.
struct Entry<'a> {
    job: &'a JobName,
    code: Option<Code<'a>>,
    /// Its settings, with secrets masked.
    settings: JobSettings,
    has_extra: bool,
}

impl Entry<'_> {
    /// Its lines, without the settings that are as plain ones. The settings of a program have limits, which thousands of jobs would
    /// reach with all settings.
    fn text(&self, plain: &Map<String, Value>) -> Result<String, Problem> {
        let mut settings = object(&self.settings)?;
        let props = match settings.remove("props") {
            Some(Value::Object(props)) => props,
            _ => Map::new(),
        };
        let mut text = format!("    {}:\n", quoted(self.job.as_str()));
        if let Some(Code { setting, name }) = self.code {
            let (key, other) = match setting {
                CodeSetting::Class => (CLASS, None),
                CodeSetting::Type => (TYPE, None),
                CodeSetting::Either(likely, other) => (likely, Some(other)),
            };
            if let Some(other) = other {
                text += &format!(
                    "      # Or {other}: the registry center has one name for both. A program takes either for the other.\n"
                );
            }
            text += &line("      ", key, &Value::from(name));
        }
        for (key, value) in settings.iter().filter(|(key, value)| plain.get(*key) != Some(*value)) {
            text += &line("      ", key, value);
        }
        if self.has_extra {
            text += &format!("      # {EXTRA} is left out: no settings of a program have it.\n");
        }
        // A section with nothing but comments would be a setting without a value.
        let is_section = props.values().any(|value| !has_mask(value));
        if !props.is_empty() {
            text += if is_section { "      props:\n" } else { "      # props:\n" };
        }
        for (key, value) in &props {
            text += &line("        ", &quoted(key), value);
        }
        Ok(text)
    }
}

fn line(indent: &str, key: &str, value: &Value) -> String {
    let (text, is_masked) = match value {
        Value::String(text) => (quoted(&literal(text)), has_mask(value)),
        Value::Array(values) => {
            let texts = values.iter().filter_map(Value::as_str).map(|text| quoted(&literal(text)));
            (format!("[{}]", texts.collect::<Vec<_>>().join(", ")), values.iter().any(has_mask))
        }
        value => (value.to_string(), false),
    };
    let comment = if is_masked { "# " } else { "" };
    format!("{indent}{comment}{key}: {text}\n")
}

/// A text that the settings do not take for a placeholder.
fn literal(text: &str) -> String {
    text.replace("${", "\\${")
}

/// A text in double quotes, whose escapes are those of JSON. YAML has more characters that cannot stand for themselves.
fn quoted(text: &str) -> String {
    let is_odd = |c: &char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    let mut quoted = String::new();
    for c in Value::from(text).to_string().chars() {
        match Some(c).filter(is_odd) {
            Some(odd) => quoted += &format!("\\u{:04x}", u32::from(odd)),
            None => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use elasticjob::yaml::{self, Limits, Node};

    use super::*;
    use crate::testing::job_settings;

    /// Each text of a document with its path.
    fn texts(node: &Node, path: &str, all: &mut Vec<(String, String)>) {
        match &node.value {
            yaml::Value::Scalar { text, .. } => all.push((path.to_owned(), text.clone())),
            yaml::Value::List(items) => items.iter().for_each(|item| texts(item, path, all)),
            yaml::Value::Map(entries) => {
                for (key, value) in entries {
                    let yaml::Value::Scalar { text, .. } = &key.value else { panic!("a key is a text") };
                    texts(value, &format!("{path}/{text}"), all);
                }
            }
        }
    }

    #[test]
    fn an_entry_is_yaml_with_each_setting_as_it_is_and_without_secrets() {
        let odd = "a: 'b' \"c\" # ${HOME} \u{2028}\u{85}\n\t报表 \\";
        let settings = job_settings(|settings| {
            settings.cron = Some("0 0 0 1 1 ?".to_owned());
            settings.sharding_total_count = Some(2);
            settings.failover = Some(true);
            settings.description = Some(odd.to_owned());
            settings.job_parameter = Some("token=hunter2&all=1".to_owned());
            settings.job_listener_types = Some(vec!["one, two".to_owned(), "yes".to_owned()]);
            let props = [("a.b: c", "off"), ("email.password", "hunter2")];
            settings.props = Some(props.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        });
        let job = JobName::new("my.job: [1]").expect("a name");
        let entry =
            Entry { job: &job, code: Some(Code::named("SCRIPT")), settings: settings.masked(), has_extra: true };
        let text = entry.text(&plain()).expect("it is written");
        assert!(text.contains("      # jobExtraConfigurations is left out"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
        for secret in ["      # job-parameter: \"token=***&all=1\"\n", "        # \"email.password\": \"***\"\n"] {
            assert!(text.contains(secret), "{text}");
        }
        let limits = Limits { bytes: 10_000, nodes: 100 };
        let read = yaml::parse(&text, limits).unwrap_or_else(|wrong| panic!("{}: {text}", wrong.reason));
        let mut found = Vec::new();
        texts(&read.expect("it has something"), "", &mut found);
        found.sort();
        let of = |key: &str, text: &str| (format!("/my.job: [1]/{key}"), text.to_owned());
        let expected = [
            of("cron", "0 0 0 1 1 ?"),
            of("description", &literal(odd)),
            of("elastic-job-type", "SCRIPT"),
            of("failover", "true"),
            of("job-listener-types", "one, two"),
            of("job-listener-types", "yes"),
            of("props/a.b: c", "off"),
            of("sharding-total-count", "2"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_that_may_be_of_a_class_and_of_a_type_says_so() {
        let job = JobName::new("x").expect("a name");
        let text = |name| {
            let settings = job_settings(|settings| settings.sharding_total_count = Some(1)).masked();
            let entry = Entry { job: &job, code: Some(Code::named(name)), settings, has_extra: false };
            entry.text(&plain()).expect("it is written")
        };
        for (name, key, other) in
            [("settle", "elastic-job-class", "elastic-job-type"), ("Peer", "elastic-job-type", "elastic-job-class")]
        {
            let expected = format!(
                "    \"x\":\n      # Or {other}: the registry center has one name for both. A program takes either for the other.\n      \
                 {key}: \"{name}\"\n      sharding-total-count: 1\n"
            );
            assert_eq!(text(name), expected);
        }
        for name in ["com.example.Peer", "SCRIPT"] {
            assert!(!text(name).contains("Or elastic-job"), "{name}");
        }
    }

    #[test]
    fn a_section_of_secrets_alone_is_a_comment() {
        let settings = job_settings(|settings| {
            settings.sharding_total_count = Some(1);
            settings.props = Some([("email.password".to_owned(), "hunter2".to_owned())].into());
        });
        let job = JobName::new("x").expect("a name");
        let entry = Entry { job: &job, code: None, settings: settings.masked(), has_extra: false };
        let text = entry.text(&plain()).expect("it is written");
        let expected =
            "    \"x\":\n      sharding-total-count: 1\n      # props:\n        # \"email.password\": \"***\"\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn thousands_of_jobs_stay_below_the_limit_of_those_who_read_settings() {
        let configuration = JobConfiguration::builder("job", 2).cron("0 0 3 * * ?").build().expect("it is right");
        let (plain, mut text) = (plain(), head("default", Some(0)));
        assert!(text.contains("\n# The registry center is lost since 1970-01-01T00:00:00.000Z"), "{text}");
        for number in 0..5_000 {
            let job = JobName::new(format!("job-{number}")).expect("a name");
            let entry = Entry { job: &job, code: None, settings: configuration.settings().masked(), has_extra: false };
            text += &entry.text(&plain).expect("it is written");
        }
        let limits = Limits { bytes: 16 * 1024 * 1024, nodes: 100_000 };
        let read = yaml::parse(&text, limits).unwrap_or_else(|wrong| panic!("{}", wrong.reason));
        let mut found = Vec::new();
        texts(&read.expect("it has something"), "", &mut found);
        assert_eq!(found.len(), 2 * 5_000, "the schedule and the number of items of each");
    }
}
