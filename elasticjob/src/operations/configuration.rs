//! The configuration of a job in the registry center: read, changed.

use super::{OperationError, Operations};
use crate::config::wire::{self, Ignored};
use crate::config::{ForeignToJava, JobConfiguration, JobSettings};
use crate::engine::strategy::ShardingStrategies;
use crate::ident::JobName;
use crate::registry::path::JobPath;
use crate::registry::{CommitError, Data, Refusal, Transaction};
use crate::secret::{mask_document, mask_inside};

/// A configuration as the registry center has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredConfiguration {
    /// The configuration.
    pub configuration: JobConfiguration,
    /// What is in it and has no effect.
    pub ignored: Vec<Ignored>,
    data: Data,
    version: i32,
}

/// What a change of a configuration did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigurationChange {
    /// What differs, setting by setting, with secrets in the values masked; of properties without the values.
    pub changes: Vec<String>,
    /// Values new in it that Java instances of the job, if there are any, refuse or misunderstand.
    pub foreign_to_java: Vec<ForeignToJava>,
}

impl StoredConfiguration {
    /// The text in the registry center, with secrets masked.
    pub fn masked_text(&self) -> String {
        mask_document(self.data.text().unwrap_or_default())
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
    /// [`OperationError::Unreadable`] when it cannot be used: instances then go by the last one that could.
    pub async fn configuration(&self, job: &JobName) -> Result<StoredConfiguration, OperationError> {
        let Some(node) = self.get(JobPath::Config.absolute(job)).await? else {
            return Err(match self.get(JobPath::Root.absolute(job)).await? {
                Some(_) => OperationError::NoConfiguration { job: job.clone() },
                None => self.no_such_job(job).await,
            });
        };
        let reading =
            wire::read(job, &node.data).map_err(|reason| OperationError::Unreadable { job: job.clone(), reason })?;
        let (data, version) = (node.data, node.stat.version);
        Ok(StoredConfiguration { configuration: reading.configuration, ignored: reading.ignored, data, version })
    }

    /// Changes the configuration of a job from what was read to these settings, all of them: lay a change over
    /// [`JobConfiguration::settings`]. Running instances follow at once. What nobody here understands of it stays, and
    /// nothing is written when nothing differs.
    ///
    /// What depends on the programs of the job is not looked at: whether they have a strategy or listener. An instance
    /// that cannot follow says so, and keeps the configuration that it has.
    ///
    /// # Errors
    /// [`OperationError::Invalid`] with all that is wrong; [`OperationError::ChangedMeanwhile`] when somebody else changed
    /// it since it was read, whose change is not lost then.
    pub async fn update_configuration(
        &self,
        read: &StoredConfiguration,
        settings: &JobSettings,
    ) -> Result<ConfigurationChange, OperationError> {
        let before = &read.configuration;
        let job = before.job_name();
        let changed = before
            .with_settings(settings)
            .map_err(|problems| OperationError::Invalid { job: job.clone(), problems })?;
        if changed == *before {
            return Ok(ConfigurationChange::default());
        }
        let text = wire::rewrite(&changed, &read.data)
            .map_err(|reason| OperationError::Unreadable { job: job.clone(), reason })?;
        let mut transaction = Transaction::new();
        transaction.set(JobPath::Config.absolute(job), text, Some(read.version));
        match self.registry.commit(transaction).await {
            Ok(_) => Ok(difference(before, &changed)),
            Err(CommitError::Refused { reason: Refusal::BadVersion, .. }) => {
                Err(OperationError::ChangedMeanwhile { job: job.clone() })
            }
            Err(CommitError::Refused { reason: Refusal::NoNode, .. }) => Err(self.no_such_job(job).await),
            Err(reason) => Err(OperationError::Write { done: 0, reason }),
        }
    }
}

fn difference(before: &JobConfiguration, after: &JobConfiguration) -> ConfigurationChange {
    // Strategies that are not built in are those of a program, which is not known here.
    let strategies = ShardingStrategies::built_in();
    let was_foreign = before.foreign_to_java(&strategies);
    let mut foreign_to_java = after.foreign_to_java(&strategies);
    foreign_to_java.retain(|value| !was_foreign.contains(value));
    ConfigurationChange { changes: changes(before, after), foreign_to_java }
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
