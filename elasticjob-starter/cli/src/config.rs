//! `elasticjob config`: the configuration of a job.

use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::Operations;
use elasticjob_starter::settings::{SettingError, Settings, Sources};

use crate::args::Set;
use crate::failure::Failure;
use crate::table::json;

pub(crate) async fn get(operations: &Operations, job: &JobName, as_json: bool) -> Result<String, Failure> {
    let stored = operations.configuration(job).await?;
    if as_json {
        return Ok(json(&serde_json::json!({ "job": job, "settings": stored.masked_settings() })));
    }
    Ok(stored.masked_text())
}

pub(crate) async fn set(operations: &Operations, set: Set, as_json: bool) -> Result<String, Failure> {
    let stored = operations.configuration(&set.job).await?;
    let change = parse(&set)?;
    let mut settings = change.over(stored.configuration.settings());
    for key in &set.remove_prop {
        if settings.props.as_mut().and_then(|props| props.remove(key)).is_none() {
            let known: Vec<String> = settings.props.unwrap_or_default().into_keys().collect();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return Err(Failure::Usage(format!("--remove-prop: job '{}' has no property '{key}'; {known}", set.job)));
        }
    }
    let change = match set.dry_run {
        true => operations.try_configuration(&stored, &settings).await?.1,
        false => operations.update_configuration(&stored, &settings).await?,
    };
    let notes = change.notes();
    if as_json {
        let written = !set.dry_run && !change.changes.is_empty();
        let told = serde_json::json!({ "job": set.job, "changes": change.changes, "notes": notes, "written": written });
        return Ok(json(&told));
    }
    if change.changes.is_empty() {
        return Ok(format!("job '{}' has these settings already\n", set.job));
    }
    let not_written = set.dry_run.then(|| "nothing was written, because of --dry-run".to_owned());
    Ok(change.changes.iter().chain(&notes).chain(&not_written).map(|line| format!("{line}\n")).collect())
}

/// Reads the settings like arguments of the starter: with the same names, types and errors.
fn parse(set: &Set) -> Result<JobSettings, Failure> {
    /// They belong to the program, not to the registry center.
    const NOT_KEPT: [&str; 5] =
        ["elastic-job-class", "elastic-job-type", "job-bootstrap-bean-name", "registry-center-ref", "tracing-ref"];
    let mut arguments = Vec::new();
    for setting in &set.settings {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(Failure::Usage(format!(
                "'{setting}' is not of the form SETTING=VALUE, for example failover=true"
            )));
        };
        arguments.push(format!("--elasticjob.jobs[{}].{name}={value}", set.job));
    }
    let settings = Settings::load(&Sources::of_arguments(arguments), &[]).map_err(|wrong| {
        let told: Vec<String> = wrong.iter().map(|error| as_written(error, &set.job)).collect();
        Failure::Usage(told.join("\n  "))
    })?;
    let Some(entry) = settings.jobs.into_iter().next() else { return Ok(JobSettings::default()) };
    match NOT_KEPT.iter().find(|name| entry.origins.contains_key(**name)) {
        Some(name) => {
            Err(Failure::Usage(format!("{name}: it is a setting of the program, and not kept in the registry center")))
        }
        None => Ok(entry.settings),
    }
}

/// The problem of a setting in the form of this command line: without the place and the path that it has in other
/// sources.
fn as_written(error: &SettingError, job: &JobName) -> String {
    let short = |key: &str| {
        let prefixes = [format!("elasticjob.jobs.{job}."), format!("elasticjob.jobs[{job}].")];
        let short = prefixes.iter().find_map(|prefix| key.strip_prefix(prefix));
        short.unwrap_or(key).to_owned()
    };
    match error {
        SettingError::UnknownKey { key, hint, .. } => format!("unknown setting '{}'; {hint}", short(key)),
        SettingError::WrongValue { key, value, expected, .. } => {
            format!("{}: {value} is not valid: expected {expected}", short(key))
        }
        SettingError::Repeated { key, .. } => {
            format!("{} is given twice (kebab-case, camelCase and snake_case are the same setting)", short(key))
        }
        SettingError::Placeholder { key, reason, .. } => format!("{}: {reason}", short(key)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_as_it_was_written() {
        for (job, settings, told) in [
            (
                "tick",
                &["sharding-total-count=many"][..],
                "sharding-total-count: 'many' is not valid: expected a whole number",
            ),
            ("a.tick", &["shardingTotalCount=many"], "sharding-total-count: 'many' is not valid"),
            ("a.tick", &["corn=x"], "unknown setting 'corn'; did you mean 'cron'?"),
            ("tick", &["cron=x", "Cron=y"], "cron is given twice"),
            ("tick", &["label=${X}"], "label: the placeholder `${X}` has no value"),
            ("tick", &["props..a=1"], "unknown setting 'props..a'; "),
        ] {
            let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
            let set = Set { job: JobName::new(job).unwrap(), settings, remove_prop: Vec::new(), dry_run: false };
            let error = parse(&set).unwrap_err();
            assert!(error.to_string().starts_with(told) && error.exit_code() == 2, "{error}");
        }
    }
}
