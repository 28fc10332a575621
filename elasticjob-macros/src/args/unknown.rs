//! The error for a name that is no option.

use elasticjob_syntax::job_option::{self, JobOption};
use elasticjob_syntax::suggest;

/// Names the option that the user may have meant, or all options.
pub fn unknown(written: &str) -> String {
    match nearest(written) {
        Some(name) => format!("there is no option `{written}`: did you mean `{name}`?"),
        None => {
            let all: Vec<String> = job_option::all().map(|option| format!("`{}`", option.name)).collect();
            format!("there is no option `{written}`; the options are {}", all.join(", "))
        }
    }
}

/// The option that the user may have meant: with nearly the same spelling, with the same name in camel case, with that
/// name in other editions, or with a longer name that contains the written one.
fn nearest(written: &str) -> Option<&'static str> {
    let spelled =
        job_option::all().flat_map(|option| [option.name].into_iter().chain(option.short).chain(elsewhere(option)));
    if let Some(near) = suggest::nearest(written, spelled) {
        let meant = job_option::all().find(|option| elsewhere(option).any(|name| name == near));
        return Some(meant.map_or(near, |option| option.name));
    }
    let wanted = suggest::squash(written);
    let containing =
        job_option::all().find(|option| wanted.len() > 3 && suggest::squash(option.name).contains(&wanted));
    containing.map(|option| option.name)
}

/// The names of an option in other editions and older releases.
fn elsewhere(option: &'static JobOption) -> impl Iterator<Item = &'static str> {
    option.elsewhere.into_iter().chain(option.older.iter().copied())
}

#[cfg(test)]
mod tests {
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
}
