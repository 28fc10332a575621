//! Tracing by the settings. The storage is found before any connection to a registry center, and opened before a job is
//! started.

use std::sync::Arc;

use elasticjob::__private::log::{apart, info, warn};
use elasticjob::api::Beans;
use elasticjob::spi::Catalog;
use elasticjob::trace::{AnyTracingStorage, JobSelection, RunLogOptions, TracingConfiguration};

use crate::AppError;
use crate::settings::{SettingError, Settings, TracingSettings};

/// A storage that was found and is not open yet.
pub(super) enum Found {
    Own(Arc<AnyTracingStorage>),
    #[cfg(feature = "tracing-rdb")]
    Rdb(rdb::Place),
}

/// Finds the storage that the `type` of a tracing names.
///
/// # Errors
/// There is no storage of that type, or its settings are incomplete.
pub(super) fn find(settings: &TracingSettings, catalog: &Catalog, beans: &Beans) -> Result<Found, SettingError> {
    if settings.is_rdb() {
        return rdb::find(settings, beans);
    }
    catalog.tracing_storages().get(&settings.storage_type).cloned().map(Found::Own).map_err(|unknown| {
        SettingError::Refused {
            origin: settings.origin.clone(),
            key: settings.section.child("type").to_string(),
            value: settings.storage_type.clone(),
            reason: format!("{unknown}; RDB (built in) is always there"),
        }
    })
}

/// Opens the storage.
///
/// # Errors
/// [`AppError::Tracing`] when its database is not reached, or refuses the connection.
pub(super) async fn open(found: Found, settings: &TracingSettings) -> Result<TracingConfiguration, AppError> {
    let configuration = match found {
        Found::Own(storage) => {
            let at = storage.type_name().to_owned();
            apart(move || info!("tracing to {at}"));
            TracingConfiguration::of(storage).run_log(kept_lines(settings))
        }
        #[cfg(feature = "tracing-rdb")]
        Found::Rdb(place) => rdb::open(place, settings).await?,
    };
    Ok(configuration.jobs(settings.jobs.clone()).queue(settings.queue_size))
}

/// Which logs of runs a tracing keeps.
fn kept_lines(settings: &TracingSettings) -> Option<RunLogOptions> {
    settings.run_log.enabled.then_some(settings.run_log.options)
}

/// Warns of names in the settings that no job has: without a warning a mistyped name would not be noticed.
pub(super) fn warn_of_strangers<'a>(settings: &Settings, jobs: impl Iterator<Item = &'a str>) {
    let Some(JobSelection::Only(names) | JobSelection::Except(names)) =
        settings.tracing.as_ref().map(|tracing| &tracing.jobs)
    else {
        return;
    };
    let jobs: Vec<&str> = jobs.collect();
    for name in names.iter().filter(|name| !jobs.contains(&name.as_str())) {
        let (name, jobs) = (name.clone(), jobs.join(", "));
        apart(move || warn!("`elasticjob.tracing`: unknown job '{name}'; known jobs: {jobs}"));
    }
}

#[cfg(not(feature = "tracing-rdb"))]
mod rdb {
    use super::*;

    pub(super) fn find(settings: &TracingSettings, _: &Beans) -> Result<Found, SettingError> {
        Err(SettingError::NotBuiltIn {
            origin: settings.origin.clone(),
            key: settings.section.child("type").to_string(),
            reason: "add `features = [\"tracing-sqlite\"]`, `[\"tracing-postgres\"]` or `[\"tracing-mysql\"]` to \
                     elasticjob-starter in Cargo.toml"
                .to_owned(),
        })
    }
}

#[cfg(feature = "tracing-rdb")]
mod rdb;
