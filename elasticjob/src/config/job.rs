//! The configuration of a job, valid by construction.

mod checks;

use std::borrow::Cow;
use std::collections::BTreeMap;

use self::checks::{Checks, fails_over, monitors};
use super::JobKind;
use super::Message;
use super::bound::is_of_program;
use super::defaults;
use super::dependency::Dependency;
use super::items::ItemParameters;
use super::settings::JobSettings;
use super::time_diff::MaxTimeDiff;
use crate::ident::{InvalidIdent, JobName, ShardingItem};
use crate::problems::in_one_line;
use crate::schedule::Schedule;
use crate::secret::stays_with_program;
use crate::texts;

/// The default error handler.
pub const LOG: &str = defaults::job_error_handler_type();

/// A setting with a value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {reason}")]
#[non_exhaustive]
pub struct Invalid {
    /// The setting in kebab-case; a property as `props.KEY`.
    pub setting: Cow<'static, str>,
    /// The reason why its value cannot be used, and what to write instead.
    pub reason: Message,
}

impl Invalid {
    /// A setting whose value cannot be used.
    pub fn new(setting: &'static str, reason: impl Into<Message>) -> Self {
        Self { setting: setting.into(), reason: reason.into() }
    }

    /// The setting and the reason in one.
    pub fn message(&self) -> Message {
        texts::wrong_setting(&*self.setting, self.reason.clone())
    }

    /// A property whose value cannot be used, or that is missing.
    pub fn prop(key: &str, reason: impl Into<Message>) -> Self {
        Self { setting: format!("props.{key}").into(), reason: reason.into() }
    }
}

/// A configuration that cannot be used, with all problems.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] InvalidIdent),
    /// Settings cannot be used.
    #[error("the configuration of job '{job}' is not valid: {}", in_one_line(.problems))]
    Settings {
        /// The job.
        job: JobName,
        /// All problems.
        problems: Vec<Invalid>,
    },
}

/// The configuration of a job. Every value was checked when it was made.
///
/// [`JobConfigurationBuilder`](super::JobConfigurationBuilder) says at each setting which default it has.
///
/// `Debug` masks its secrets, so that values that contain a configuration can be logged.
#[derive(Clone, PartialEq, Eq)]
pub struct JobConfiguration {
    // Each setting of the table has the field of its name.
    pub(super) name: JobName,
    pub(super) cron: Option<Schedule>,
    pub(super) time_zone: Option<Box<str>>,
    /// Empty for most jobs.
    pub(super) depends_on: Box<[Dependency]>,
    pub(super) sharding_total_count: u32,
    pub(super) sharding_item_parameters: ItemParameters,
    pub(super) job_parameter: Box<str>,
    pub(super) monitor_execution: bool,
    pub(super) failover: bool,
    pub(super) misfire: bool,
    pub(super) max_late_begin_seconds: i32,
    pub(super) max_time_diff_seconds: MaxTimeDiff,
    pub(super) reconcile_interval_minutes: i32,
    pub(super) job_sharding_strategy_type: Option<Box<str>>,
    pub(super) job_executor_thread_pool_size_provider_type: Option<Box<str>>,
    pub(super) job_error_handler_type: Option<Box<str>>,
    pub(super) job_listener_types: Vec<Box<str>>,
    pub(super) description: Box<str>,
    pub(super) props: BTreeMap<Box<str>, Box<str>>,
    pub(super) disabled: bool,
    pub(super) overwrite: bool,
    pub(super) label: Option<Box<str>>,
    pub(super) static_sharding: bool,
    pub(super) elastic_job_class: Option<Box<str>>,
    pub(super) elastic_job_type: Option<Box<str>>,
    /// The block `jobExtraConfigurations` of the registry, carried through unchanged.
    pub(super) extra: Option<Box<str>>,
}

/// The source of settings, which decides how strictly they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The settings were written for this program.
    Program,
    /// The settings are in the registry, perhaps from a Java instance.
    Registry,
}

impl JobConfiguration {
    /// Checks settings.
    ///
    /// # Errors
    /// All problems of the settings.
    pub fn from_settings(name: JobName, settings: &JobSettings) -> Result<Self, Vec<Invalid>> {
        Self::check(name, settings, Origin::Program)
    }

    pub(super) fn check(name: JobName, settings: &JobSettings, origin: Origin) -> Result<Self, Vec<Invalid>> {
        let mut checks = Checks::new(settings, origin);
        let sharding_total_count = checks.total_count();
        let sharding_item_parameters = checks.item_parameters(sharding_total_count);
        let (time_zone, schedule) = checks.schedule();
        let depends_on = checks.dependencies(&name, sharding_total_count);
        checks.failover();
        checks.listeners();
        checks.strategy();
        checks.late_begin();
        checks.properties();
        checks.finish()?;
        let text = |value: &Option<String>| value.as_deref().filter(|text| !text.is_empty()).map(Box::from);
        let or_empty = |value: &Option<String>| value.as_deref().unwrap_or_default().into();
        Ok(Self {
            name,
            cron: schedule,
            time_zone: time_zone.map(Box::from),
            depends_on: depends_on.into(),
            sharding_total_count,
            sharding_item_parameters,
            job_parameter: or_empty(&settings.job_parameter),
            monitor_execution: monitors(settings),
            failover: fails_over(settings),
            misfire: settings.misfire.unwrap_or(defaults::misfire()),
            max_late_begin_seconds: settings
                .max_late_begin_seconds
                .unwrap_or(defaults::max_late_begin_seconds())
                .max(-1),
            max_time_diff_seconds: MaxTimeDiff::of(settings.max_time_diff_seconds),
            reconcile_interval_minutes: settings
                .reconcile_interval_minutes
                .unwrap_or(defaults::reconcile_interval_minutes()),
            job_sharding_strategy_type: text(&settings.job_sharding_strategy_type),
            job_executor_thread_pool_size_provider_type: text(&settings.job_executor_thread_pool_size_provider_type),
            job_error_handler_type: text(&settings.job_error_handler_type),
            job_listener_types: settings.job_listener_types.iter().flatten().map(|name| name.as_str().into()).collect(),
            description: or_empty(&settings.description),
            props: settings
                .props
                .iter()
                .flatten()
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect(),
            disabled: settings.disabled.unwrap_or(defaults::disabled()),
            overwrite: settings.overwrite.unwrap_or(defaults::overwrite()),
            label: text(&settings.label),
            static_sharding: settings.static_sharding.unwrap_or(defaults::static_sharding()),
            elastic_job_class: text(&settings.elastic_job_class),
            elastic_job_type: text(&settings.elastic_job_type),
            extra: None,
        })
    }

    /// Name of the job.
    pub fn job_name(&self) -> &JobName {
        &self.name
    }

    /// The schedule; `None` for a one-off job.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.cron.as_ref()
    }

    /// The jobs that it runs after; none for a job with a schedule, and for a one-off job.
    pub fn depends_on(&self) -> &[Dependency] {
        &self.depends_on
    }

    /// Whether it fires by itself: by its schedule, or after other jobs. One that does not is a one-off job.
    pub fn fires_by_itself(&self) -> bool {
        self.cron.is_some() || !self.depends_on.is_empty()
    }

    /// The time zone of the schedule; `None` where it is that of the process.
    pub(crate) fn time_zone(&self) -> Option<&str> {
        self.time_zone.as_deref()
    }

    /// The number of items of a fire, 1 at the least.
    pub fn sharding_total_count(&self) -> u32 {
        self.sharding_total_count
    }

    /// The parameter of an item.
    pub fn sharding_parameter(&self, item: ShardingItem) -> Option<&str> {
        self.sharding_item_parameters.get(item)
    }

    /// The parameter of the whole job, empty when there is none.
    pub fn job_parameter(&self) -> &str {
        &self.job_parameter
    }

    /// Whether the registry center shows which items run.
    pub fn monitor_execution(&self) -> bool {
        self.monitor_execution
    }

    /// Whether another instance at once runs items again whose runs were lost with their instance. Only with
    /// [`monitor_execution`](Self::monitor_execution): without marks no instance can tell that a run is lost.
    pub fn failover(&self) -> bool {
        self.failover
    }

    /// Whether a fire that comes while another one runs is made up for, once, right after that run.
    pub fn misfire(&self) -> bool {
        self.misfire
    }

    /// The interval at which the leader reads all nodes of the job again and repairs what is wrong, in minutes. Below 1 it never
    /// does.
    pub fn reconcile_interval_minutes(&self) -> i32 {
        self.reconcile_interval_minutes
    }

    /// Type name of the sharding strategy.
    pub fn sharding_strategy_type(&self) -> &str {
        self.job_sharding_strategy_type.as_deref().unwrap_or(defaults::job_sharding_strategy_type())
    }

    /// Type names of the listeners that are called around its runs, as they are configured.
    pub fn listener_types(&self) -> impl Iterator<Item = &str> {
        self.job_listener_types.iter().map(AsRef::as_ref)
    }

    /// Whether items keep their owner when instances and servers come and go.
    pub fn static_sharding(&self) -> bool {
        self.static_sharding
    }

    /// The longest delay after which a monitored fire that no instance began in time may begin, in seconds. `None` where it is not set.
    pub fn max_late_begin_seconds(&self) -> Option<u32> {
        u32::try_from(self.max_late_begin_seconds).ok()
    }

    /// The largest difference between the clock of a host and that of the registry center, in seconds: the default where nothing
    /// is set, `None` where the check is switched off.
    pub fn max_time_diff_seconds(&self) -> Option<u32> {
        self.max_time_diff_seconds.in_force()
    }

    /// Type name of the pool that limits how many items run at a time in one process. Without one all items of an async
    /// job start together, and code that blocks has the pool `CPU`.
    pub fn thread_pool_type(&self) -> Option<&str> {
        self.job_executor_thread_pool_size_provider_type.as_deref()
    }

    /// Type name of the error handler.
    pub fn error_handler_type(&self) -> &str {
        self.job_error_handler_type.as_deref().unwrap_or(LOG)
    }

    /// A property, `None` when it is not set.
    pub fn prop(&self, key: &str) -> Option<&str> {
        self.props.get(key).map(AsRef::as_ref)
    }

    /// Whether the properties are the same in both.
    pub(crate) fn has_props_of(&self, other: &Self) -> bool {
        self.props == other.props
    }

    /// The type that `elastic-job-type` names, for a job that has no function of its own.
    pub fn job_type(&self) -> Option<&str> {
        self.elastic_job_type.as_deref()
    }

    /// Whether the server starts disabled.
    pub fn disabled(&self) -> bool {
        self.disabled
    }

    /// Whether this configuration replaces that of the registry at each start.
    pub fn overwrite(&self) -> bool {
        self.overwrite
    }

    /// The name in the root node: the class, or the type of a job that has no code. `None` leaves it blank.
    pub(crate) fn class_name(&self) -> Option<&str> {
        let job_type = || self.job_type().filter(|name| JobKind::named(name).is_none());
        self.elastic_job_class.as_deref().or_else(job_type)
    }

    /// The configuration that the program writes to the registry: this one without its secrets, but with the secrets
    /// that are there (Java keeps them there) and with the parts there that this library does not understand.
    #[must_use]
    pub(crate) fn for_registry(&self, there: Option<&Self>) -> Self {
        let own = self.props.iter().filter(|(key, _)| !is_of_program(key));
        let theirs = there.into_iter().flat_map(|there| &there.props).filter(|(key, _)| stays_with_program(key));
        let props = own.chain(theirs).map(|(key, value)| (key.clone(), value.clone())).collect();
        let written = Self { props, ..self.clone() };
        there.map_or_else(|| written.clone(), |there| written.with_extra_of(there))
    }

    /// Whether the problem is a secret that is missing here, which the program has to give.
    pub(crate) fn leaves_to_program(&self, problem: &Invalid) -> bool {
        let secret = problem.setting.strip_prefix("props.").filter(|key| stays_with_program(key));
        secret.is_some_and(|key| self.prop(key).is_none())
    }

    /// This configuration of the registry with the effect that the start of a program with the other one has: either of
    /// them disables its server.
    #[must_use]
    pub(crate) fn at_start_of(self, local: &Self) -> Self {
        Self { disabled: self.disabled || local.disabled, ..self }
    }

    /// This configuration for a job of a type.
    #[must_use]
    pub(crate) fn of_type(self, job_type: &str) -> Self {
        Self { elastic_job_type: Some(job_type.into()), ..self }
    }

    /// The block `jobExtraConfigurations` as it is in the registry.
    pub(crate) fn extra(&self) -> Option<&str> {
        self.extra.as_deref()
    }

    /// This configuration with the blocks that the other one carries without understanding them.
    #[must_use]
    pub(crate) fn with_extra_of(&self, other: &Self) -> Self {
        Self { extra: other.extra.clone(), ..self.clone() }
    }
}

/// A schedule that has no fire from this year on counts as one that never fires. The year is fixed, so that the same
/// program is not accepted in one year and refused in the next.
const FIRST_YEAR: i32 = 1970;

#[cfg(test)]
mod tests;
