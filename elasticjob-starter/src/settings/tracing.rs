//! The section `elasticjob.tracing`.

use std::collections::BTreeSet;

use elasticjob::schedule::TimeZone;
use elasticjob::secret::Secret;
use elasticjob::trace::{JobSelection, RDB};

use super::error::SettingError;
use super::load::filled;
use super::node::Origin;
use super::read::Reader;
use super::run_log::{self, RunLogSettings};
use super::schema::Key;

/// Settings that only the built-in storage has.
const ONLY_RDB: [&str; 3] = ["data-source", "time-zone", "retention"];

/// `elasticjob.tracing`, or one of `elasticjob.tracings`: the storage of events.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TracingSettings {
    pub(crate) section: Key,
    /// `type`: `RDB`, or the type name of an own storage.
    pub storage_type: String,
    /// The place of the type.
    pub origin: Origin,
    /// `data-source`; without it the sqlx pool of the application is used.
    pub data_source: Option<DataSourceSettings>,
    /// `include-job-names` or `exclude-job-names`.
    pub jobs: JobSelection,
    /// `time-zone` of the times in the tables; default: the zone of the host.
    pub time_zone: Option<TimeZone>,
    /// `queue-size`: the most events that wait for the storage. Default 10,000.
    pub queue_size: usize,
    /// `retention.days`: rows that began more than this number of days ago are removed.
    pub retention_days: Option<u32>,
    /// `retention.rows`: the most rows that a table keeps.
    pub retention_rows: Option<u64>,
    /// `run-log`: the logs of runs.
    pub run_log: RunLogSettings,
}

/// `elasticjob.tracing.data-source`: the database.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DataSourceSettings {
    /// A URL of sqlx or of JDBC. It may contain a password.
    pub url: Secret,
    /// The place of the URL.
    pub origin: Origin,
    /// The user, instead of the user in the URL.
    pub username: Option<String>,
    /// The password, instead of the password in the URL.
    pub password: Option<Secret>,
    /// Only Java programs need this. Here the URL is enough.
    pub driver_class_name: Option<String>,
}

impl TracingSettings {
    /// Whether the storage is the built-in one.
    pub fn is_rdb(&self) -> bool {
        self.storage_type.eq_ignore_ascii_case(RDB)
    }
}

/// Reads the section, or a named section of the same form. `None` where its type is empty.
pub(super) fn read(reader: &mut Reader<'_>, section: &Key) -> Option<TracingSettings> {
    let place = reader.origin(section)?;
    let given = reader.text(&section.child("type"));
    // A placeholder with an empty default leaves an empty text.
    if given.as_ref().is_some_and(|given| given.value.trim().is_empty()) {
        return None;
    }
    if given.is_none() {
        let reason = "write `type: RDB`, or the type name of an own storage; without a type nothing is traced";
        reader.missing(place.clone(), &section.child("type"), reason);
    }
    // Other problems are reported in addition to a missing type.
    let type_known = given.is_some();
    let settings = TracingSettings {
        section: section.clone(),
        storage_type: given.as_ref().map(|given| given.value.trim().to_owned()).unwrap_or_default(),
        origin: given.map_or(place, |given| given.origin),
        data_source: data_source(reader, &section.child("data-source")),
        jobs: jobs(reader, section),
        time_zone: time_zone(reader, &section.child("time-zone")),
        queue_size: reader.whole_or_default(&section.child("queue-size")),
        retention_days: reader.whole(&section.child("retention").child("days")),
        retention_rows: reader.whole(&section.child("retention").child("rows")),
        run_log: run_log::read(reader, &section.child("run-log")),
    };
    if type_known && !settings.is_rdb() {
        let of_run_log = run_log::ONLY_RDB.map(|name| section.child("run-log").child(name));
        for key in ONLY_RDB.map(|name| section.child(name)).into_iter().chain(of_run_log) {
            if let Some(origin) = reader.origin(&key) {
                let reason = format!("only the type RDB has it; the type is '{}'", settings.storage_type);
                reader.errors.push(SettingError::Misplaced { origin, key: key.to_string(), reason });
            }
        }
    }
    type_known.then_some(settings)
}

fn data_source(reader: &mut Reader<'_>, section: &Key) -> Option<DataSourceSettings> {
    let place = reader.origin(section)?;
    let origin = reader.origin(&section.child("url")).unwrap_or_else(|| place.clone());
    let url = filled(reader.text(&section.child("url")));
    let username = filled(reader.text(&section.child("username")));
    // A password may be empty, or blank.
    let password = reader.text(&section.child("password")).map(|given| Secret::from(given.value));
    let driver_class_name = filled(reader.text(&section.child("driver-class-name")));
    let Some(url) = url else {
        let reason = "write for example sqlite:trace.db, postgres://host:5432/database or mysql://host:3306/database, or \
                      remove the section to use the sqlx pool that the application provides";
        reader.missing(place, &section.child("url"), reason);
        return None;
    };
    Some(DataSourceSettings { url: url.into(), origin, username, password, driver_class_name })
}

fn jobs(reader: &mut Reader<'_>, section: &Key) -> JobSelection {
    let mut names = |name| -> BTreeSet<String> {
        reader.list(&section.child(name)).map(|list| list.value.into_iter().collect()).unwrap_or_default()
    };
    let (include, exclude) = (names("include-job-names"), names("exclude-job-names"));
    match (include.is_empty(), exclude.is_empty()) {
        (true, true) => JobSelection::All,
        (false, true) => JobSelection::Only(include),
        (true, false) => JobSelection::Except(exclude),
        (false, false) => {
            let key = section.child("exclude-job-names");
            let origin = reader.origin(&key).unwrap_or_else(|| Origin::place("settings"));
            let reason = "`include-job-names` is given as well; keep one of the two".to_owned();
            reader.errors.push(SettingError::Misplaced { origin, key: key.to_string(), reason });
            JobSelection::All
        }
    }
}

fn time_zone(reader: &mut Reader<'_>, key: &Key) -> Option<TimeZone> {
    let name = filled(reader.text(key))?;
    match name.trim().parse() {
        Ok(zone) => Some(zone),
        Err(error) => {
            let origin = reader.origin(key).unwrap_or_else(|| Origin::place("settings"));
            let reason = format!("{error}");
            reader.doubt.add(key.clone());
            reader.errors.push(SettingError::Refused { origin, key: key.to_string(), value: name, reason });
            None
        }
    }
}
