//! Opens the database that a program traces to, by the settings of that program.

#[cfg(feature = "console")]
use std::collections::BTreeMap;

use elasticjob::trace::{AnyTraceReader, Cursor, Tracing};
#[cfg(feature = "tracing-rdb")]
use elasticjob::trace::{TracingConfiguration, rdb};
use elasticjob_starter::settings::{SettingError, Sources, TracingSettings};

use crate::Console;
use crate::args::Registry;
#[cfg(all(feature = "console", feature = "tracing-rdb"))]
use crate::away::{LateReader, LateStorage};
use crate::connect::files;
use crate::failure::Failure;

const NOT_TRACED: &str = "no tracing is set: set elasticjob.tracing.type to RDB and elasticjob.tracing.data-source.url in \
    application.yaml, or ELASTICJOB_TRACING_TYPE and ELASTICJOB_TRACING_DATA_SOURCE_URL";

/// Opens it for reading.
pub(crate) async fn open(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<AnyTraceReader, Failure> {
    let (reader, _) =
        open_shown(flags, sources, console).await?.ok_or_else(|| Failure::Usage(NOT_TRACED.to_owned()))?;
    Ok(reader)
}

/// The same, with the name of the database; `None` where no tracing is set. Settings of jobs and of the registry center do
/// not matter here.
pub(crate) async fn open_shown(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Option<ReaderAt>, Failure> {
    let (settings, warnings) = of_center(flags, sources).map_err(Failure::Settings)?;
    console.warn(warnings);
    match settings {
        Some(settings) => reader(&settings).await.map(Some),
        None => Ok(None),
    }
}

/// The settings of the tracing of the registry center that is looked at, and warnings. One with a name has that of this name, or
/// else the one without a name, as jobs without a tracing of their own trace to it, whichever registry center has them.
fn of_center(flags: &Registry, sources: &Sources) -> Result<(Option<TracingSettings>, Vec<String>), Vec<SettingError>> {
    let sources = files(flags, sources);
    let (own, mut warnings) = TracingSettings::load(&sources)?;
    let Some(name) = flags.name() else { return Ok((own, warnings)) };
    let (mut named, more) = TracingSettings::load_named(&sources)?;
    warnings.extend(more);
    Ok((named.remove(name).or(own), warnings))
}

/// The settings of the tracing without a name; `None` where none is set.
#[cfg(feature = "console")]
pub(crate) fn own(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Option<TracingSettings>, Failure> {
    let (settings, warnings) = TracingSettings::load(&files(flags, sources)).map_err(Failure::Settings)?;
    console.warn(warnings);
    Ok(settings)
}

/// The tracings with names; those that are set for no registry center of that name are not looked at.
#[cfg(feature = "console")]
pub(crate) fn named(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<BTreeMap<String, TracingSettings>, Failure> {
    let (settings, warnings) = TracingSettings::load_named(&files(flags, sources)).map_err(Failure::Settings)?;
    console.warn(warnings);
    Ok(settings)
}

/// Says beside a table of records what it does not show: that there are older ones, or that there is none.
pub(crate) fn note_rest(count: usize, next: Option<&Cursor>, records: &str, console: &mut Console<'_>) {
    if let Some(next) = next {
        let _ = writeln!(console.stderr, "note: there are older {records}: add --after '{next}'");
    } else if count == 0 {
        // The database does not know which jobs there are. So a mistyped one is no error here.
        let _ = writeln!(console.stderr, "note: the database has no such {records}");
    }
}

/// A reader of a database, and the name of the database without a password.
pub(crate) type ReaderAt = (AnyTraceReader, String);

#[cfg(feature = "tracing-rdb")]
pub(crate) async fn reader(settings: &TracingSettings) -> Result<ReaderAt, Failure> {
    let source = settings.source().map_err(|error| Failure::Settings(vec![error]))?;
    let reader = rdb::RdbTraceReader::connect(&source, settings.time_zone).await?;
    let at = reader.at().to_owned();
    Ok((AnyTraceReader::new(reader), at))
}

/// The same; where the database is away it comes later, which is said.
///
/// # Errors
/// A setting is wrong, or the database is another one.
#[cfg(all(feature = "console", feature = "tracing-rdb"))]
pub(crate) async fn reader_that_may_come_later(
    settings: &TracingSettings,
) -> Result<(AnyTraceReader, String, bool), Failure> {
    let source = settings.source().map_err(|error| Failure::Settings(vec![error]))?;
    match rdb::RdbTraceReader::connect(&source, settings.time_zone).await {
        Ok(reader) => {
            let at = reader.at().to_owned();
            Ok((AnyTraceReader::new(reader), at, false))
        }
        Err(error) => match &error {
            rdb::RdbError::Connect { at, why } => {
                let late = LateReader::new(at.clone(), source, settings.time_zone, why.clone());
                Ok((AnyTraceReader::new(late), at.to_string(), true))
            }
            _ => Err(error.into()),
        },
    }
}

#[cfg(all(feature = "console", not(feature = "tracing-rdb")))]
pub(crate) async fn reader_that_may_come_later(
    settings: &TracingSettings,
) -> Result<(AnyTraceReader, String, bool), Failure> {
    reader(settings).await.map(|(reader, at)| (reader, at, false))
}

/// A tracing to that database; where it is away, what it records waits.
#[cfg(all(feature = "console", feature = "tracing-rdb"))]
pub(crate) async fn tracing_to(settings: &TracingSettings, is_away: bool) -> Result<Tracing, String> {
    match is_away {
        true => {
            let late = TracingConfiguration::new(LateStorage::new(settings.clone()));
            Ok(Tracing::start(late, &tokio::runtime::Handle::current()))
        }
        false => tracing(settings).await,
    }
}

#[cfg(all(feature = "console", not(feature = "tracing-rdb")))]
pub(crate) async fn tracing_to(settings: &TracingSettings, _: bool) -> Result<Tracing, String> {
    tracing(settings).await
}

#[cfg(not(feature = "tracing-rdb"))]
pub(crate) async fn reader(_: &TracingSettings) -> Result<ReaderAt, Failure> {
    Err(Failure::Usage(
        "reading traces is not built in: build elasticjob-cli with the feature tracing-sqlite, tracing-postgres or \
         tracing-mysql"
            .to_owned(),
    ))
}

/// A tracing to that database; `None` where the settings name none. What is wrong is a text, as nothing depends on it.
pub(crate) async fn recording(flags: &Registry, sources: &Sources) -> Result<Option<Tracing>, String> {
    let settings = match of_center(flags, sources) {
        Ok((Some(settings), _)) => settings,
        Ok((None, _)) => return Ok(None),
        Err(errors) => return Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    };
    tracing(&settings).await.map(Some)
}

/// The tracing of the jobs of a scheduler, and the name of its database without a password; `None` where the settings name no database.
#[cfg(all(feature = "cloud", feature = "tracing-rdb"))]
pub(crate) async fn of_jobs(
    flags: &Registry,
    sources: &Sources,
) -> Result<Option<(TracingConfiguration, String)>, Failure> {
    let (settings, _) = of_center(flags, sources).map_err(Failure::Settings)?;
    let Some(settings) = settings else { return Ok(None) };
    let storage = storage(&settings).await.map_err(Failure::Usage)?;
    let at = storage.at().to_owned();
    Ok(Some((TracingConfiguration::new(storage), at)))
}

/// The same without a driver for databases: nothing is traced.
#[cfg(all(feature = "cloud", not(feature = "tracing-rdb")))]
pub(crate) async fn of_jobs(
    _: &Registry,
    _: &Sources,
) -> Result<Option<(elasticjob::trace::TracingConfiguration, String)>, Failure> {
    Ok(None)
}

#[cfg(feature = "tracing-rdb")]
pub(crate) async fn storage(settings: &TracingSettings) -> Result<rdb::RdbTracingStorage, String> {
    let source = settings.source().map_err(|error| error.to_string())?;
    let mut options = rdb::RdbOptions::default();
    options.time_zone = settings.time_zone;
    rdb::RdbTracingStorage::connect(&source, options).await.map_err(|error| error.to_string())
}

#[cfg(feature = "tracing-rdb")]
pub(crate) async fn tracing(settings: &TracingSettings) -> Result<Tracing, String> {
    let storage = storage(settings).await?;
    if !storage.keeps_decisions() {
        return Err(format!("{} has no table JOB_DECISION_LOG that this account may write to", storage.at()));
    }
    Ok(Tracing::start(TracingConfiguration::new(storage), &tokio::runtime::Handle::current()))
}

#[cfg(not(feature = "tracing-rdb"))]
pub(crate) async fn tracing(_: &TracingSettings) -> Result<Tracing, String> {
    Err("elasticjob-cli was built without a driver for databases".to_owned())
}
