//! The storage `RDB`: a data source of the settings, or a pool of the application.

use elasticjob::__private::log::{apart, info, warn};
use elasticjob::api::Beans;
use elasticjob::trace::TracingConfiguration;
#[cfg(any(feature = "tracing-sqlite", feature = "tracing-postgres", feature = "tracing-mysql"))]
use elasticjob::trace::rdb::sqlx;
use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbPool, RdbTracingStorage, Retention};

use super::{Found, kept_lines};
use crate::AppError;
use crate::settings::{DataSourceSettings, SettingError, TracingSettings};

/// The database of the tables.
pub(in super::super) enum Place {
    Source(DataSource),
    Pool(RdbPool),
}

pub(super) fn find(settings: &TracingSettings, beans: &Beans) -> Result<Found, SettingError> {
    let place = match &settings.data_source {
        Some(given) => Place::Source(source(given, settings)?),
        None => Place::Pool(pool(settings, beans)?),
    };
    Ok(Found::Rdb(place))
}

fn url(settings: &TracingSettings) -> String {
    settings.section.child("data-source").child("url").to_string()
}

fn source(given: &DataSourceSettings, settings: &TracingSettings) -> Result<DataSource, SettingError> {
    let source = DataSource::new(given.url.reveal()).and_then(|source| source.check_files().map(|()| source));
    let source = source.map_err(|error| SettingError::Refused {
        origin: given.origin.clone(),
        key: url(settings),
        value: given.url.to_string(),
        reason: error.to_string(),
    })?;
    Ok(source.username(given.username.clone()).password(given.password.clone()))
}

fn pool(settings: &TracingSettings, beans: &Beans) -> Result<RdbPool, SettingError> {
    let mut pools: Vec<RdbPool> = Vec::new();
    #[cfg(feature = "tracing-sqlite")]
    pools.extend(beans.get::<sqlx::SqlitePool>().map(|pool| pool.as_ref().clone().into()));
    #[cfg(feature = "tracing-postgres")]
    pools.extend(beans.get::<sqlx::PgPool>().map(|pool| pool.as_ref().clone().into()));
    #[cfg(feature = "tracing-mysql")]
    pools.extend(beans.get::<sqlx::MySqlPool>().map(|pool| pool.as_ref().clone().into()));
    let reason = match pools.len() {
        1 => return Ok(pools.remove(0)),
        0 => format!(
            "write for example `url: sqlite:trace.db`, or give a sqlx pool to the application's builder: `.provide(pool)`; \
             it provides {}",
            beans.listing()
        ),
        _ => "the application provides sqlx pools of several databases; say which one is meant by its URL".to_owned(),
    };
    Err(SettingError::Missing { origin: settings.origin.clone(), key: url(settings), reason })
}

fn options(settings: &TracingSettings) -> RdbOptions {
    let mut options = RdbOptions::default();
    options.time_zone = settings.time_zone;
    options.retention = retention(settings.retention_days, settings.retention_rows);
    options.run_log = settings.run_log.enabled.then(|| retention(Some(settings.run_log.days), settings.run_log.rows));
    options
}

fn retention(days: Option<u32>, rows: Option<u64>) -> Retention {
    let mut retention = Retention::default();
    (retention.days, retention.rows) = (days, rows);
    retention
}

pub(super) async fn open(place: Place, settings: &TracingSettings) -> Result<TracingConfiguration, AppError> {
    let options = options(settings);
    let storage = match &place {
        Place::Source(source) => {
            say_ignored(source, settings);
            RdbTracingStorage::connect(source, options).await
        }
        Place::Pool(pool) => RdbTracingStorage::on_pool(pool.clone(), options).await,
    };
    let storage = storage.map_err(|error| {
        let (origin, key) = match &settings.data_source {
            Some(source) => (&source.origin, url(settings)),
            None => (&settings.origin, settings.section.to_string()),
        };
        AppError::Tracing { origin: origin.clone(), key, reason: error.to_string() }
    })?;
    let at = storage.at().to_string();
    apart(move || info!("tracing to {at}"));
    // An account that may not create their table loses them, and nothing else.
    let lines = kept_lines(settings).filter(|_| storage.keeps_run_logs());
    Ok(TracingConfiguration::new(storage).run_log(lines))
}

impl TracingSettings {
    /// The database of the settings, for a program that reads what others traced.
    ///
    /// # Errors
    /// The type is not `RDB`, there is no `data-source`, or its URL is not valid.
    pub fn source(&self) -> Result<DataSource, SettingError> {
        if !self.is_rdb() {
            return Err(SettingError::Refused {
                origin: self.origin.clone(),
                key: self.section.child("type").to_string(),
                value: self.storage_type.clone(),
                reason: "only what is traced to RDB can be read here".to_owned(),
            });
        }
        let Some(given) = &self.data_source else {
            return Err(SettingError::Missing {
                origin: self.origin.clone(),
                key: url(self),
                reason: "the program traces to a pool of its own; write the URL of that database".to_owned(),
            });
        };
        source(given, self)
    }
}

fn say_ignored(source: &DataSource, settings: &TracingSettings) {
    if !source.ignored().is_empty() {
        let (url, ignored) = (url(settings), source.ignored().join(", "));
        apart(move || warn!("{url}: parameters that only Java has are left out: {ignored}"));
    }
    let driver = settings.data_source.as_ref().and_then(|source| source.driver_class_name.as_ref());
    if let Some(driver) = driver {
        let key = settings.section.child("data-source").child("driver-class-name");
        let driver = driver.clone();
        apart(move || {
            info!(
                "`{key}` ('{driver}') has no effect: it is for Java programs; this program takes the driver from the URL"
            )
        });
    }
}
