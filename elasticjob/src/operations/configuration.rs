//! Reads and changes the configuration of a job in the registry center.

use super::dependency_checks::{OtherJobs, closed_cycle, unequal_totals};
use super::registration::CARRIED_JOBS;
use super::{OperationError, Operations};
use crate::config::wire::{self, Ignored};
use crate::config::{JobConfiguration, JobSettings};
use crate::ident::JobName;
use crate::registry::layout::JobPath;
use crate::registry::{CommitError, Data, Refusal, Transaction};
use crate::secret::{mask_document, mask_inside};
use crate::sharding::ForeignToJava;

/// A configuration in the registry center.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredConfiguration {
    /// The configuration.
    pub configuration: JobConfiguration,
    /// The parts that have no effect.
    pub ignored: Vec<Ignored>,
    data: Data,
    version: i32,
    changed_at: i64,
    /// The class or type that the root node of the job names.
    class: String,
    is_carried: bool,
}

/// The effect of a change of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConfigurationChange {
    /// The differences, setting by setting, with secrets in the values masked; for properties without the values.
    pub changes: Vec<String>,
    /// New values that Java instances of the job, if there are any, refuse or misunderstand.
    pub foreign_to_java: Vec<ForeignToJava>,
    /// New settings that name a type which is not built in: the programs of the job must have that type.
    pub own_types: Vec<String>,
    /// The changed properties that programs handle in their own way, as they have these properties themselves.
    pub bound_to_programs: Vec<String>,
}

impl ConfigurationChange {
    /// Remarks on the new values for the operator, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let foreign = self.foreign_to_java.iter().map(|value| format!("not for Java instances of the job: {value}"));
        let own = self.own_types.iter();
        let own = own.map(|value| format!("not built in, so the programs of the job have to have it: {value}"));
        foreign.chain(own).chain(self.bound_to_programs.iter().cloned()).collect()
    }
}

impl StoredConfiguration {
    /// The text in the registry center, with secrets masked.
    pub fn masked_text(&self) -> String {
        mask_document(self.data.text().unwrap_or_default())
    }

    /// The version of its node, which each change counts up: a change is refused where it differs.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The time at which it was written, by the clock of the registry center, in milliseconds since 1970.
    pub fn changed_at(&self) -> i64 {
        self.changed_at
    }

    /// Whether the job is registered at a scheduler of carried jobs. The registration is written over this configuration each time
    /// the job starts, so a change of the configuration is refused.
    pub fn is_carried(&self) -> bool {
        self.is_carried
    }

    /// The class or the type that the root node of the job names; `None` where the node is blank, as that of a job whose code is found
    /// by its name.
    pub fn class_or_type(&self) -> Option<&str> {
        Some(self.class.trim()).filter(|name| !name.is_empty())
    }

    /// Whether it has `jobExtraConfigurations`, which only Java reads and no settings of a program can have.
    pub fn has_extra(&self) -> bool {
        self.configuration.extra().is_some()
    }

    /// Whether both have the same `jobExtraConfigurations`, as texts, or none.
    pub fn has_extra_of(&self, other: &Self) -> bool {
        self.configuration.extra() == other.configuration.extra()
    }

    /// The settings, with secrets masked.
    pub fn masked_settings(&self) -> JobSettings {
        self.configuration.settings().masked()
    }
}

impl Operations {
    /// The configuration of a job.
    ///
    /// # Errors
    /// [`OperationError::Unreadable`] when it cannot be used: then instances use the last good one.
    pub async fn configuration(&self, job: &JobName) -> Result<StoredConfiguration, OperationError> {
        let (root, node, registration) = tokio::try_join!(
            self.text(JobPath::Root.absolute(job)),
            self.get(JobPath::Config.absolute(job)),
            self.get(format!("{CARRIED_JOBS}/{job}")),
        )?;
        let Some(class) = root else { return Err(self.no_such_job(job).await) };
        let Some(node) = node else { return Err(OperationError::NoConfiguration { job: job.clone() }) };
        let reading =
            wire::read(job, &node.data).map_err(|reason| OperationError::Unreadable { job: job.clone(), reason })?;
        let (data, version, changed_at) = (node.data, node.stat.version, node.stat.mtime);
        let (configuration, ignored) = (reading.configuration, reading.ignored);
        let is_carried = registration.is_some();
        Ok(StoredConfiguration { configuration, ignored, data, version, changed_at, class, is_carried })
    }

    /// Replaces all settings of the configuration that was read by these settings: lay a change over
    /// [`JobConfiguration::settings`]. Running instances follow at once. Parts of the configuration that this library
    /// does not understand stay, and nothing is written when nothing differs.
    ///
    /// Built-in types of jobs and error handlers check their options, like a program that starts. Own types of the
    /// programs are not checked, as only those programs know them. An instance that cannot follow the change logs that,
    /// and keeps the configuration that it has.
    ///
    /// # Errors
    /// [`OperationError::Invalid`] with all problems. A schedule that is removed and a secret that is new are problems
    /// too: secrets belong to the program. [`OperationError::CarriedJob`] where the registration of a carried job decides.
    /// [`OperationError::ChangedMeanwhile`] when another client changed the
    /// configuration since it was read; that other change is not lost then.
    pub async fn update_configuration(
        &self,
        read: &StoredConfiguration,
        settings: &JobSettings,
    ) -> Result<ConfigurationChange, OperationError> {
        let ended = self.update(read, settings).await;
        self.record_configuration(read.configuration.job_name(), &ended);
        ended
    }

    /// Goes through [`update_configuration`](Self::update_configuration) without writing: returns the configuration that it would
    /// write, with the changes.
    ///
    /// # Errors
    /// Those of `update_configuration`, but for what only writing shows.
    pub async fn try_configuration(
        &self,
        read: &StoredConfiguration,
        settings: &JobSettings,
    ) -> Result<(JobConfiguration, ConfigurationChange), OperationError> {
        let (changed, difference) = self.check_configuration(read, settings)?;
        self.check_beside_others(read, &changed).await?;
        Ok((changed, difference))
    }

    /// The changes that [`update_configuration`](Self::update_configuration) would make, with the configuration that it would
    /// write. Nothing is written, and no other job is read: whether the change fits to those that this job runs after says
    /// [`try_configuration`](Self::try_configuration).
    ///
    /// # Errors
    /// [`OperationError::Invalid`] with all problems, [`OperationError::CarriedJob`] where the registration of a carried job
    /// decides.
    pub fn check_configuration(
        &self,
        read: &StoredConfiguration,
        settings: &JobSettings,
    ) -> Result<(JobConfiguration, ConfigurationChange), OperationError> {
        let before = &read.configuration;
        let invalid = |problems| OperationError::Invalid { job: before.job_name().clone(), problems };
        let changed = before.with_settings(settings).map_err(invalid)?;
        if changed == *before {
            return Ok((changed, ConfigurationChange::default()));
        }
        if read.is_carried {
            return Err(OperationError::CarriedJob { job: before.job_name().clone() });
        }
        let mut problems = self.built_in.problems(&changed, &read.class);
        problems.extend(changed.problems_of_size());
        if !problems.is_empty() {
            return Err(invalid(problems));
        }
        let difference = self.difference(before, &changed);
        Ok((changed, difference))
    }

    /// Whether a change fits to the jobs that this one runs after.
    async fn check_beside_others(
        &self,
        read: &StoredConfiguration,
        changed: &JobConfiguration,
    ) -> Result<(), OperationError> {
        let invalid = |problem: Option<_>| match problem {
            Some(problem) => Err(OperationError::Invalid { job: changed.job_name().clone(), problems: vec![problem] }),
            None => Ok(()),
        };
        if changed.depends_on() != read.configuration.depends_on() {
            invalid(closed_cycle(OtherJobs::of(&*self.registry), changed).await?)?;
        }
        let has_totals = |of: &JobConfiguration| (of.depends_on().to_vec(), of.sharding_total_count());
        if has_totals(changed) != has_totals(&read.configuration) {
            invalid(unequal_totals(OtherJobs::of(&*self.registry), changed).await?)?;
        }
        Ok(())
    }

    async fn update(
        &self,
        read: &StoredConfiguration,
        settings: &JobSettings,
    ) -> Result<ConfigurationChange, OperationError> {
        let job = read.configuration.job_name();
        let (changed, difference) = self.try_configuration(read, settings).await?;
        if changed == read.configuration {
            return Ok(difference);
        }
        let text = wire::rewrite(&changed, &read.data)
            .map_err(|reason| OperationError::Unreadable { job: job.clone(), reason })?;
        let mut transaction = Transaction::new();
        transaction.set(JobPath::Config.absolute(job), text, Some(read.version));
        match self.registry.commit(transaction).await {
            Ok(_) => Ok(difference),
            Err(CommitError::Refused { reason: Refusal::BadVersion, .. }) => {
                Err(OperationError::ChangedMeanwhile { job: job.clone() })
            }
            Err(CommitError::Refused { reason: Refusal::NoNode, .. }) => Err(self.no_such_job(job).await),
            Err(reason) => Err(OperationError::Write { done: 0, reason }),
        }
    }

    fn difference(&self, before: &JobConfiguration, after: &JobConfiguration) -> ConfigurationChange {
        let was_foreign = before.foreign_to_java(self.built_in.strategies());
        let mut foreign_to_java = after.foreign_to_java(self.built_in.strategies());
        foreign_to_java.retain(|value| !was_foreign.contains(value));
        let had = self.built_in.own_types(before);
        let own_types = self.built_in.own_types(after).into_iter().filter(|one| !had.contains(one)).collect();
        let (old, new) = (before.settings().props.unwrap_or_default(), after.settings().props.unwrap_or_default());
        let changed = new.iter().filter(|(key, value)| old.get(*key) != Some(value)).map(|(key, _)| key.as_str());
        let bound_to_programs = self.built_in.notes(changed);
        ConfigurationChange { changes: changes(before, after), foreign_to_java, own_types, bound_to_programs }
    }
}

fn changes(before: &JobConfiguration, after: &JobConfiguration) -> Vec<String> {
    let texts = before.texts().into_iter().zip(after.texts());
    let texts = texts.filter(|((_, before), (_, after))| before != after);
    let mut changes: Vec<String> = texts
        .map(|((setting, before), (_, after))| {
            format!("{setting}: '{}' -> '{}'", mask_inside(&before), mask_inside(&after))
        })
        .collect();
    let (before, after) = (before.settings(), after.settings());
    if before.overwrite != after.overwrite {
        let flag = |settings: &JobSettings| settings.overwrite.unwrap_or_default();
        changes.push(format!("overwrite: '{}' -> '{}'", flag(&before), flag(&after)));
    }
    let (before, after) = (before.props.unwrap_or_default(), after.props.unwrap_or_default());
    for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
        match (before.get(key), after.get(key)) {
            (Some(_), None) => changes.push(format!("props.{key}: removed")),
            (None, Some(_)) => changes.push(format!("props.{key}: added")),
            (one, other) if one != other => changes.push(format!("props.{key}: changed")),
            _ => {}
        }
    }
    changes
}
