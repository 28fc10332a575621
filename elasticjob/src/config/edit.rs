//! Builds a configuration again from changed settings.

use super::bound::is_permission;
use super::job::{Invalid, JobConfiguration, Origin};
use super::settings::JobSettings;
use crate::secret::stays_with_program;
use crate::texts;

impl JobConfiguration {
    /// This configuration with other settings, for a change of the registry's configuration. Oddities that it had
    /// before and that the reader of the registry accepts, such as parameters of items that do not exist, do not make
    /// the change fail.
    ///
    /// # Errors
    /// All problems of the settings.
    pub(crate) fn with_settings(&self, settings: &JobSettings) -> Result<Self, Vec<Invalid>> {
        let unwanted = self.unwanted(settings);
        let checked = Self::from_settings(self.name.clone(), settings).or_else(|problems| {
            let before = Self::from_settings(self.name.clone(), &self.settings()).err().unwrap_or_default();
            let new: Vec<Invalid> = problems.into_iter().filter(|problem| !before.contains(problem)).collect();
            if new.is_empty() { Self::check(self.name.clone(), settings, Origin::Registry) } else { Err(new) }
        });
        match checked {
            Ok(checked) if unwanted.is_empty() => Ok(checked.with_extra_of(self)),
            Ok(_) => Err(unwanted),
            Err(problems) => Err([problems, unwanted].concat()),
        }
    }

    /// Changes that would be valid but must not be made: a removed schedule, new secrets, permissions.
    fn unwanted(&self, settings: &JobSettings) -> Vec<Invalid> {
        let cron = settings.cron.as_deref().unwrap_or_default();
        let without_schedule =
            (self.cron.is_some() && cron.trim().is_empty()).then(|| Invalid::new("cron", texts::cron_taken_back()));
        let without_parents = (!self.depends_on.is_empty() && settings.depends_on.iter().flatten().next().is_none())
            .then(|| Invalid::new("depends-on", texts::depends_taken_back()));
        let keys = settings.props.iter().flatten().map(|(key, _)| key);
        let secrets = keys
            .filter(|key| stays_with_program(key) && self.prop(key).is_none())
            .map(|key| Invalid::prop(key, texts::property_secret()));
        let keys = settings.props.iter().flatten().map(|(key, _)| key);
        let permissions =
            keys.filter(|key| is_permission(key)).map(|key| Invalid::prop(key, texts::property_permission()));
        without_schedule.into_iter().chain(without_parents).chain(secrets).chain(permissions).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::wire;
    use crate::ident::JobName;

    use super::*;

    fn full() -> JobConfiguration {
        JobConfiguration::builder("job", 3)
            .cron("0/5 * * * * ?")
            .time_zone("Europe/Berlin")
            .sharding_item_parameters("0=a,1=b")
            .job_parameter("p")
            .failover(true)
            .misfire(false)
            .max_late_begin_seconds(60)
            .max_time_diff_seconds(7)
            .reconcile_interval_minutes(1)
            .job_sharding_strategy_type("ODEVITY")
            .job_executor_thread_pool_size_provider_type("SINGLE_THREAD")
            .job_error_handler_type("LOG")
            .job_listener_type("l")
            .description("d")
            .prop("k", "v")
            .disabled(true)
            .overwrite(true)
            .label("x")
            .static_sharding(true)
            .elastic_job_class("C")
            .build()
            .unwrap()
    }

    #[test]
    fn a_configuration_is_made_again_of_its_settings() {
        let settings = full().settings();
        let plain = JobConfiguration::builder("job", 1).build().unwrap();
        for ((setting, set), (_, unset)) in settings.texts().into_iter().zip(plain.settings().texts()) {
            // They cannot be set beside `cron`, `failover` and `elastic-job-class`.
            let clashes = ["depends-on", "monitor-execution", "elastic-job-type"].contains(&setting);
            let is_of_program = ["job-bootstrap-bean-name", "registry-center-ref", "tracing-ref"].contains(&setting);
            assert!(set != unset || clashes || is_of_program, "{setting} is not tried");
        }
        assert_eq!(full().with_settings(&settings).unwrap(), full());
        assert_eq!(plain.with_settings(&plain.settings()).unwrap(), plain);
    }

    #[test]
    fn jobs_that_a_job_runs_after_are_changed_and_not_taken_back() {
        let after = JobConfiguration::builder("load", 1).depends_on(["extract"]).build().unwrap();
        let change = |texts: &[&str]| {
            let depends_on = Some(texts.iter().map(|text| (*text).to_owned()).collect());
            after.with_settings(&JobSettings { depends_on, ..after.settings() })
        };
        let changed = change(&["extract when ended", "clean"]).unwrap();
        assert_eq!(changed.depends_on().len(), 2);
        assert_eq!(change(&[]).unwrap_err()[0].setting, "depends-on");
        let cron = JobSettings { cron: Some("0 0 3 * * ?".into()), ..after.settings() };
        assert_eq!(after.with_settings(&cron).unwrap_err()[0].setting, "depends-on");
        let yaml = wire::to_yaml(&after);
        assert!(yaml.contains("props:\n  elasticjob.depends-on: extract\n"), "{yaml}");
        assert_eq!(wire::from_yaml(after.job_name(), yaml.as_bytes()).unwrap(), after);
    }

    #[test]
    fn all_that_is_wrong_with_a_change_is_told() {
        let change = JobSettings {
            cron: Some("0 0 0 30 2 ?".into()),
            sharding_total_count: Some(1),
            monitor_execution: Some(false),
            ..JobSettings::default()
        };
        let problems = full().with_settings(&change.over(full().settings())).unwrap_err();
        let settings: Vec<&str> = problems.iter().map(|problem| problem.setting.as_ref()).collect();
        assert_eq!(settings, ["sharding-item-parameters", "cron", "failover"]);
    }

    #[test]
    fn what_the_registry_had_before_is_not_held_against_a_change() {
        let job = JobName::new("job").unwrap();
        let odd = "shardingTotalCount: 1\nshardingItemParameters: 0=a,7=b\nfailover: true\n";
        let odd = wire::from_yaml(&job, odd.as_bytes()).unwrap();
        let change = JobSettings { description: Some("new".into()), ..JobSettings::default() };
        assert_eq!(odd.with_settings(&change.over(odd.settings())).unwrap().settings().description.unwrap(), "new");
        let worse = JobSettings { cron: Some("x".into()), ..JobSettings::default() };
        let problems = odd.with_settings(&worse.over(odd.settings())).unwrap_err();
        assert_eq!(problems.iter().map(|problem| problem.setting.as_ref()).collect::<Vec<_>>(), ["cron"]);
    }

    #[test]
    fn a_schedule_is_not_taken_back_and_a_secret_goes_there_only_where_one_was() {
        let refused = |configuration: &JobConfiguration, change: JobSettings| -> Vec<String> {
            let problems =
                configuration.with_settings(&change.over(configuration.settings())).err().unwrap_or_default();
            problems.into_iter().map(|problem| problem.setting.into_owned()).collect()
        };
        let no_cron = || JobSettings { cron: Some(" ".into()), ..JobSettings::default() };
        assert_eq!(refused(&full(), no_cron()), ["cron"]);
        let plain = JobConfiguration::builder("job", 1).build().unwrap();
        assert_eq!(refused(&plain, no_cron()), [""; 0], "it had none");
        let password = || {
            let props = Some([("email.password".to_owned(), "hunter2".to_owned())].into());
            JobSettings { props, ..JobSettings::default() }
        };
        assert_eq!(refused(&full(), password()), ["props.email.password"]);
        let of_java = JobConfiguration::builder("job", 1).prop("email.password", "old").build().unwrap();
        assert_eq!(refused(&of_java, password()), [""; 0], "Java keeps it there");
    }

    #[test]
    fn what_nobody_knows_stays_when_a_text_is_rewritten() {
        let job = JobName::new("job").unwrap();
        let before =
            "jobName: job\nnewKey:\n  deep: 1\nshardingTotalCount: 1\njobExtraConfigurations:\n- !!a.B\n  c: d\n";
        let changed = wire::from_yaml(&job, before.as_bytes()).unwrap();
        let changed = changed.with_settings(&JobSettings { failover: Some(false), ..changed.settings() }).unwrap();
        let after = wire::rewrite(&changed, before.as_bytes()).unwrap();
        for kept in ["newKey:\n  deep: 1\n", "jobExtraConfigurations:\n- !!a.B\n  c: d\n"] {
            assert!(after.contains(kept), "{after}");
        }
        assert_eq!(wire::from_yaml(&job, after.as_bytes()).unwrap(), changed);
    }
}
