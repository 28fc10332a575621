//! The settings that exist: names, kinds and where each stands.

use std::fmt;

/// What may stand at a place.
pub(super) enum Schema {
    /// Settings with fixed names.
    Section(&'static [Setting]),
    /// Names of jobs, each with these settings.
    Jobs(&'static [Setting]),
    /// Keys of the user's choice with text values; nested maps are dotted keys.
    Props,
    /// One value.
    Value(Kind),
    /// A section of a feature that does not exist yet: why, and the keys it will have.
    Later { reason: &'static str, keys: &'static [&'static str] },
}

/// One name in a section.
pub(super) struct Setting {
    /// In kebab-case, which is how messages show it.
    pub name: &'static str,
    /// Names of older releases and of their manual.
    pub aliases: &'static [&'static str],
    pub schema: Schema,
}

impl Setting {
    const fn new(name: &'static str, schema: Schema) -> Self {
        Self { name, aliases: &[], schema }
    }

    const fn value(name: &'static str, kind: Kind) -> Self {
        Self::new(name, Schema::Value(kind))
    }

    /// Whether a key in any spelling names this setting.
    pub fn is_named(&self, key: &str) -> bool {
        let key = squash(key);
        self.names().any(|name| squash(name) == key)
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Never shown.
    Secret,
    Flag,
    Whole {
        from: i64,
        to: i64,
    },
    /// A list, or one text with commas.
    List,
    /// A number with a unit.
    Duration,
}

impl Kind {
    pub fn is_secret(self) -> bool {
        self == Kind::Secret
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Text | Kind::Secret => f.write_str("text"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Whole { from, to } => write!(f, "a whole number from {from} to {to}"),
            Kind::List => f.write_str("a list, or one text with commas"),
            Kind::Duration => f.write_str("a time with its unit, for example 25s, 1500ms or 2m"),
        }
    }
}

const MILLISECONDS: Kind = Kind::Whole { from: 0, to: i32::MAX as i64 };

/// Everything below `elasticjob`.
pub(super) static ROOT: Schema = Schema::Section(&[
    Setting::value("enabled", Kind::Flag),
    Setting::new("config", Schema::Section(&[Setting::value("location", Kind::Text)])),
    Setting::new("profiles", Schema::Section(&[Setting::value("active", Kind::List)])),
    Setting::new(
        "reg-center",
        Schema::Section(&[
            Setting::value("server-lists", Kind::List),
            Setting::value("namespace", Kind::Text),
            Setting::value("base-sleep-time-milliseconds", MILLISECONDS),
            Setting::value("max-sleep-time-milliseconds", MILLISECONDS),
            Setting::value("max-retries", Kind::Whole { from: 0, to: i32::MAX as i64 }),
            Setting::value("session-timeout-milliseconds", MILLISECONDS),
            Setting::value("connection-timeout-milliseconds", MILLISECONDS),
            Setting::value("digest", Kind::Secret),
        ]),
    ),
    Setting::new("jobs", Schema::Jobs(JOB)),
    Setting::new(
        "preferred",
        Schema::Section(&[Setting::new(
            "network",
            Schema::Section(&[Setting::value("interface", Kind::Text), Setting::value("ip", Kind::Text)]),
        )]),
    ),
    Setting::new("shutdown", Schema::Section(&[Setting::value("grace", Kind::Duration)])),
    Setting::new(
        "tracing",
        Schema::Section(&[
            Setting::value("type", Kind::Text),
            Setting::new(
                "data-source",
                Schema::Section(&[
                    // It may have a password in it.
                    Setting::value("url", Kind::Secret),
                    Setting::value("username", Kind::Text),
                    Setting::value("password", Kind::Secret),
                    Setting::value("driver-class-name", Kind::Text),
                ]),
            ),
            Setting::value("include-job-names", Kind::List),
            Setting::value("exclude-job-names", Kind::List),
            Setting::value("time-zone", Kind::Text),
            Setting::value("queue-size", Kind::Whole { from: 1, to: 10_000_000 }),
            Setting::new(
                "retention",
                Schema::Section(&[
                    Setting::value("days", Kind::Whole { from: 1, to: 36_500 }),
                    Setting::value("rows", Kind::Whole { from: 1, to: i64::MAX }),
                ]),
            ),
        ]),
    ),
    Setting::new(
        "dump",
        Schema::Later {
            reason: "the dump port comes in a later release; remove the section",
            keys: &["enabled", "port"],
        },
    ),
]);

/// The settings of one job.
pub(super) const JOB: &[Setting] = &[
    Setting::value("elastic-job-class", Kind::Text),
    Setting::value("elastic-job-type", Kind::Text),
    Setting::value("cron", Kind::Text),
    Setting::value("time-zone", Kind::Text),
    Setting::value("job-bootstrap-bean-name", Kind::Text),
    Setting::value("sharding-total-count", Kind::Whole { from: 1, to: i32::MAX as i64 }),
    Setting::value("sharding-item-parameters", Kind::Text),
    Setting::value("job-parameter", Kind::Text),
    Setting::value("monitor-execution", Kind::Flag),
    Setting::value("failover", Kind::Flag),
    Setting::value("misfire", Kind::Flag),
    Setting::value("max-time-diff-seconds", Kind::Whole { from: i32::MIN as i64, to: i32::MAX as i64 }),
    Setting::value("reconcile-interval-minutes", Kind::Whole { from: i32::MIN as i64, to: i32::MAX as i64 }),
    Setting::value("job-sharding-strategy-type", Kind::Text),
    Setting {
        name: "job-executor-thread-pool-size-provider-type",
        aliases: &["job-executor-service-handler-type"],
        schema: Schema::Value(Kind::Text),
    },
    Setting::value("job-error-handler-type", Kind::Text),
    Setting::value("job-listener-types", Kind::List),
    Setting::value("description", Kind::Text),
    Setting::new("props", Schema::Props),
    Setting::value("disabled", Kind::Flag),
    Setting::value("overwrite", Kind::Flag),
    Setting::value("label", Kind::Text),
    Setting::value("static-sharding", Kind::Flag),
];

/// The kind of value at a canonical key, `None` for sections and properties.
pub(super) fn kind_at(key: &Key) -> Option<Kind> {
    let mut schema = &ROOT;
    let mut segments = key.segments().iter();
    loop {
        let settings = match schema {
            Schema::Section(settings) => settings,
            Schema::Jobs(settings) => {
                segments.next()?;
                settings
            }
            Schema::Value(kind) => return Some(*kind),
            Schema::Props | Schema::Later { .. } => return None,
        };
        let name = segments.next()?;
        schema = &settings.iter().find(|setting| setting.name == name)?.schema;
    }
}

/// What kebab-case, camelCase and snake_case of one name have in common.
pub(super) fn squash(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// A setting by its canonical names below `elasticjob`; names of jobs and keys of properties as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Vec<String>);

impl Key {
    pub fn of<const N: usize>(segments: [&str; N]) -> Self {
        Self(segments.map(str::to_owned).to_vec())
    }

    pub fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }

    pub fn segments(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elasticjob")?;
        for (depth, segment) in self.0.iter().enumerate() {
            let is_job_name = depth == 1 && self.0[0] == "jobs";
            if is_job_name && segment.contains(['.', '[', ']']) {
                write!(f, "[{segment}]")?;
            } else {
                write!(f, ".{segment}")?;
            }
        }
        Ok(())
    }
}

/// A hint for a key that is unknown: the nearest known name, else all of them.
pub(super) fn hint<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(key, known.iter().copied()) {
        Some(name) => format!("did you mean '{name}'?"),
        None if known.is_empty() => "nothing is known here".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The known name that a mistyped one is nearest to, if any is near.
pub(crate) fn nearest<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let key = squash(key);
    let limit = (key.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&key, &squash(name)), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use elasticjob::config::JobSettings;

    use super::*;

    #[test]
    fn a_mistyped_name_finds_the_nearest_known_one() {
        let known = ["cron", "time-zone", "sharding-total-count", "failover"];
        assert_eq!(nearest("shardingTotalCoutn", known), Some("sharding-total-count"));
        assert_eq!(nearest("timezone", known), Some("time-zone"));
        assert_eq!(nearest("corn", known), Some("cron"));
        assert_eq!(nearest("crn", known), Some("cron"));
        assert_eq!(nearest("schedule", known), None);
        assert_eq!(hint("schedule", ["a", "b"]), "known here: a, b");
    }

    #[test]
    fn a_key_shows_job_names_with_dots_in_brackets() {
        assert_eq!(Key::of(["reg-center", "namespace"]).to_string(), "elasticjob.reg-center.namespace");
        assert_eq!(Key::of(["jobs", "a.b", "cron"]).to_string(), "elasticjob.jobs[a.b].cron");
        assert_eq!(Key::of(["jobs", "a", "props", "x.y"]).to_string(), "elasticjob.jobs.a.props.x.y");
    }

    #[test]
    fn the_kind_of_a_setting_is_found_by_its_key() {
        assert_eq!(kind_at(&Key::of(["reg-center", "digest"])), Some(Kind::Secret));
        assert_eq!(kind_at(&Key::of(["jobs", "any", "failover"])), Some(Kind::Flag));
        assert_eq!(kind_at(&Key::of(["jobs", "any", "props", "x"])), None);
        assert_eq!(kind_at(&Key::of(["reg-center"])), None);
    }

    #[test]
    fn every_setting_of_a_job_can_be_set_in_a_file_but_the_registry_center() {
        let known: BTreeSet<String> = JOB.iter().map(|setting| setting.name.replace('-', "_")).collect();
        let fields = JobSettings::NAMES.iter().filter(|name| **name != "registry_center");
        assert_eq!(known, fields.map(|name| (*name).to_owned()).collect());
    }
}
