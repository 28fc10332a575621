//! The checks of the settings of a job, which find all problems at once.

use std::collections::BTreeSet;

use super::{FIRST_YEAR, Invalid, Origin};
use crate::config::dependency::{self, Dependency, DependencyItems};
use crate::config::items::ItemParameters;
use crate::config::settings::{DEPENDS_ON_PROP, JobSettings, MAX_LATE_BEGIN_PROP};
use crate::config::strategy_names::SINGLE_SHARDING_BALANCE;
use crate::config::{Message, defaults, size_limits};
use crate::ident::JobName;
use crate::schedule::{CronExpression, Schedule, TimeZone};
use crate::texts;

/// Settings, and what is wrong with them so far.
pub(super) struct Checks<'a> {
    settings: &'a JobSettings,
    origin: Origin,
    problems: Vec<Invalid>,
}

/// Whether the registry keeps what runs.
pub(super) fn monitors(settings: &JobSettings) -> bool {
    settings.monitor_execution.unwrap_or(defaults::monitor_execution())
}

/// Whether lost runs are run again.
pub(super) fn fails_over(settings: &JobSettings) -> bool {
    settings.failover.unwrap_or(defaults::failover())
}

impl<'a> Checks<'a> {
    pub(super) fn new(settings: &'a JobSettings, origin: Origin) -> Self {
        Self { settings, origin, problems: Vec::new() }
    }

    /// The end of the checks.
    ///
    /// # Errors
    /// All problems.
    pub(super) fn finish(self) -> Result<(), Vec<Invalid>> {
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems) }
    }

    fn wrong(&mut self, setting: &'static str, reason: Message) {
        self.problems.push(Invalid::new(setting, reason));
    }

    /// The total count, 0 where it cannot be used.
    pub(super) fn total_count(&mut self) -> u32 {
        match self.settings.sharding_total_count {
            None => self.wrong("sharding-total-count", texts::count_missing()),
            Some(0) => self.wrong("sharding-total-count", texts::count_zero()),
            Some(total) => self.problems.extend(size_limits::too_many(total)),
        }
        self.settings.sharding_total_count.unwrap_or(0)
    }

    pub(super) fn item_parameters(&mut self, total: u32) -> ItemParameters {
        let text = self.settings.sharding_item_parameters.as_deref().unwrap_or_default();
        let items = match self.origin {
            Origin::Program if total > 0 => ItemParameters::parse(text, total),
            _ => ItemParameters::parse_leniently(text),
        };
        items.unwrap_or_else(|error| {
            self.wrong("sharding-item-parameters", error.message());
            ItemParameters::default()
        })
    }

    /// The time zone, and the schedule in it.
    pub(super) fn schedule(&mut self) -> (Option<&'a str>, Option<Schedule>) {
        let time_zone = self.settings.time_zone.as_deref().filter(|zone| !zone.trim().is_empty());
        let zone_problem = time_zone.and_then(|zone| zone.parse::<TimeZone>().err());
        let is_zone_usable = zone_problem.is_none();
        if let Some(error) = zone_problem {
            self.wrong("time-zone", error.message());
        }
        let Some(cron) = self.cron() else { return (time_zone, None) };
        match cron.parse::<CronExpression>() {
            Err(error) => self.wrong("cron", error.message()),
            Ok(expression) if expression.never_fires(FIRST_YEAR) => self.wrong("cron", texts::cron_never_fires(cron)),
            Ok(_) if !is_zone_usable => {}
            Ok(_) => match Schedule::parse(cron, time_zone) {
                Ok(schedule) => return (time_zone, Some(schedule)),
                // The zone of this process cannot be used.
                Err(error) => self.wrong(error.setting(), error.message()),
            },
        }
        (time_zone, None)
    }

    fn cron(&self) -> Option<&'a str> {
        self.settings.cron.as_deref().filter(|cron| !cron.trim().is_empty())
    }

    /// The jobs that this one follows.
    pub(super) fn dependencies(&mut self, name: &JobName, total: u32) -> Vec<Dependency> {
        let text = self.settings.depends_on.as_deref().unwrap_or_default();
        let (depends_on, wrong) = dependency::parse(name, text);
        wrong.into_iter().for_each(|why| self.wrong("depends-on", why));
        if depends_on.is_empty() {
            return depends_on;
        }
        if self.cron().is_some() {
            self.wrong("depends-on", texts::depends_or_cron());
        }
        let has_items = depends_on.iter().any(|dependency| dependency.items == DependencyItems::Same);
        if has_items && total > dependency::MOST_ITEMS {
            self.wrong("depends-on", texts::depends_too_many_items(dependency::MOST_ITEMS, total));
        }
        if !monitors(self.settings) {
            self.wrong("depends-on", texts::depends_not_monitored());
        }
        depends_on
    }

    pub(super) fn failover(&mut self) {
        if fails_over(self.settings) && !monitors(self.settings) && self.origin == Origin::Program {
            self.wrong("failover", texts::failover_not_monitored());
        }
    }

    pub(super) fn listeners(&mut self) {
        let mut given = BTreeSet::new();
        let twice = self.settings.job_listener_types.iter().flatten().find(|name| !given.insert(name.as_str()));
        if let Some(twice) = twice.filter(|_| self.origin == Origin::Program) {
            self.wrong("job-listener-types", texts::listener_twice(twice.as_str()));
        }
    }

    pub(super) fn strategy(&mut self) {
        if self.settings.job_sharding_strategy_type.as_deref() != Some(SINGLE_SHARDING_BALANCE) {
            return;
        }
        if !monitors(self.settings) {
            self.wrong("job-sharding-strategy-type", texts::balance_not_monitored(SINGLE_SHARDING_BALANCE));
        }
        if self.settings.static_sharding == Some(true) {
            self.wrong("job-sharding-strategy-type", texts::balance_static(SINGLE_SHARDING_BALANCE));
        }
    }

    pub(super) fn late_begin(&mut self) {
        if self.settings.max_late_begin_seconds == Some(0) {
            self.wrong("max-late-begin-seconds", texts::late_begin_zero());
        }
    }

    /// In the registry center two settings are properties. In a program they have keys of their own.
    pub(super) fn properties(&mut self) {
        for (prop, setting) in [(DEPENDS_ON_PROP, "depends-on"), (MAX_LATE_BEGIN_PROP, "max-late-begin-seconds")] {
            if self.settings.props.as_ref().is_some_and(|props| props.contains_key(prop)) {
                self.problems.push(Invalid::prop(prop, texts::property_of_setting(setting)));
            }
        }
    }
}
