//! The options there are.

use strsim::damerau_levenshtein;

/// An option of the attribute.
#[derive(Debug)]
pub struct JobOption {
    /// Its name, which is also the name of the field of the settings it fills.
    pub name: &'static str,
    /// What it may be set to.
    pub kind: Kind,
}

/// What an option may be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A text that says something; where nothing is to be said the option is left out.
    Name,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1.
    Count,
    /// A whole number, negative ones too.
    Number,
    /// Names in brackets.
    Names,
    /// Pairs of texts in braces.
    Props,
    /// A path to a crate or module.
    Path,
}

/// All options, in the order of the documentation.
pub const OPTIONS: &[JobOption] = &[
    JobOption::new("name", Kind::Text),
    JobOption::new("cron", Kind::Name),
    JobOption::new("time_zone", Kind::Name),
    JobOption::new("sharding_total_count", Kind::Count),
    JobOption::new("sharding_item_parameters", Kind::Text),
    JobOption::new("job_parameter", Kind::Text),
    JobOption::new("monitor_execution", Kind::Flag),
    JobOption::new("failover", Kind::Flag),
    JobOption::new("misfire", Kind::Flag),
    JobOption::new("max_late_begin_seconds", Kind::Number),
    JobOption::new("max_time_diff_seconds", Kind::Number),
    JobOption::new("reconcile_interval_minutes", Kind::Number),
    JobOption::new("job_sharding_strategy_type", Kind::Name),
    JobOption::new("job_executor_thread_pool_size_provider_type", Kind::Name),
    JobOption::new("job_error_handler_type", Kind::Name),
    JobOption::new("job_listener_types", Kind::Names),
    JobOption::new("description", Kind::Text),
    JobOption::new("props", Kind::Props),
    JobOption::new("disabled", Kind::Flag),
    JobOption::new("overwrite", Kind::Flag),
    JobOption::new("label", Kind::Text),
    JobOption::new("static_sharding", Kind::Flag),
    JobOption::new("elastic_job_class", Kind::Name),
    JobOption::new("elastic_job_type", Kind::Name),
    JobOption::new("job_bootstrap_bean_name", Kind::Name),
    JobOption::new("registry_center_ref", Kind::Name),
    JobOption::new("tracing_ref", Kind::Name),
    JobOption::new("crate", Kind::Path),
];

/// Other names for options: the second is short for the first.
const SHORT: &[(&str, &str)] = &[
    ("sharding_item_parameters", "params"),
    ("job_listener_types", "listeners"),
    ("registry_center_ref", "registry_center"),
    ("tracing_ref", "tracing"),
];

/// Names that other editions of ElasticJob use for an option, for suggestions only.
const ELSEWHERE: &[(&str, &str)] =
    &[("name", "job_name"), ("job_executor_thread_pool_size_provider_type", "job_executor_service_handler_type")];

impl JobOption {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }

    /// Whether the option is meant by `written`.
    pub fn answers_to(&self, written: &str) -> bool {
        self.name == written || SHORT.contains(&(self.name, written))
    }

    /// How the option is written, for a message.
    pub fn example(&self, written: &str) -> String {
        let value = match self.name {
            "cron" => "\"0/5 * * * * ?\"",
            "time_zone" => "\"Asia/Shanghai\"",
            "sharding_item_parameters" => "\"0=Beijing,1=Shanghai\"",
            _ => match self.kind {
                Kind::Text | Kind::Name => "\"...\"",
                Kind::Flag => "true",
                Kind::Count => "3",
                Kind::Number => "10",
                Kind::Names => "[\"...\"]",
                Kind::Props => "{ \"key\" = \"value\" }",
                Kind::Path => "::path::to::elasticjob",
            },
        };
        format!("`{written} = {value}`")
    }

    /// What the option takes, for a message.
    pub fn expected(&self) -> &'static str {
        match self.kind {
            Kind::Text | Kind::Name => "a string literal",
            Kind::Flag => "`true` or `false`",
            Kind::Count => "a whole number from 1 to 2147483647",
            Kind::Number => "a whole number from -2147483648 to 2147483647",
            Kind::Names => "string literals in brackets",
            Kind::Props => "pairs of string literals in braces",
            Kind::Path => "a path",
        }
    }
}

/// The message for a name that is no option.
pub fn unknown(written: &str) -> String {
    match nearest(written) {
        Some(name) => format!("there is no option `{written}`: did you mean `{name}`?"),
        None => {
            let all: Vec<String> = OPTIONS.iter().map(|option| format!("`{}`", option.name)).collect();
            format!("there is no option `{written}`; the options are {}", all.join(", "))
        }
    }
}

/// The option that was meant: spelled nearly so, spelled in camel case, known elsewhere by that name, or with a longer
/// name that contains what is written.
fn nearest(written: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let wanted = plain(written);
    let known = OPTIONS.iter().map(|option| (option.name, option.name));
    let others = ELSEWHERE.iter().copied().chain(SHORT.iter().map(|&(_, short)| (short, short)));
    let best = known
        .chain(others)
        .map(|(name, spelled)| (damerau_levenshtein(&wanted, &plain(spelled)), name))
        .min_by_key(|(distance, _)| *distance)?;
    if best.0 <= wanted.chars().count() / 3 {
        return Some(best.1);
    }
    let containing = OPTIONS.iter().find(|option| wanted.len() > 3 && plain(option.name).contains(&wanted));
    containing.map(|option| option.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use elasticjob::config::JobSettings;

    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_recognised() {
        for (written, meant) in [
            ("crom", Some("cron")),
            ("sharding_totalcount", Some("sharding_total_count")),
            ("shardingTotalCount", Some("sharding_total_count")),
            ("time_zome", Some("time_zone")),
            ("error_handler", Some("job_error_handler_type")),
            ("param", Some("params")),
            ("jobName", Some("name")),
            ("jobExecutorServiceHandlerType", Some("job_executor_thread_pool_size_provider_type")),
            ("retries", None),
            ("x", None),
        ] {
            assert_eq!(nearest(written), meant, "{written}");
        }
    }

    #[test]
    fn every_option_stands_in_the_table_of_the_documentation() {
        let documentation = include_str!("../lib.rs");
        for option in OPTIONS {
            assert!(documentation.contains(&format!("/// | `{}` |", option.name)), "{} is not documented", option.name);
        }
    }

    #[test]
    fn the_options_are_the_settings_of_a_job_and_two_about_the_attribute() {
        let options: BTreeSet<&str> = OPTIONS.iter().map(|option| option.name).collect();
        let settings = JobSettings::NAMES.iter().copied().chain(["name", "crate"]);
        assert_eq!(options, settings.collect());
    }
}
