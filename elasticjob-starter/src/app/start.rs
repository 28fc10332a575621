//! Starts an application.

use std::collections::BTreeSet;
use std::sync::Mutex;

use elasticjob::__private::log::{apart, info, warn};
use elasticjob::runtime::{EnvironmentError, JobEnvironment, ShutdownMode, StartError};
use elasticjob::spi::{Catalog, CatalogError, JOBS};
use futures_util::future::join_all;

use super::centers::{self, FoundStorages, RegistryCenters};
use super::jobs::{Job, Jobs, make};
use super::{ElasticJobApp, ElasticJobAppBuilder, carried, console, dump, metrics, tracing};
use crate::AppError;
use crate::error::Problem;
use crate::plan::{Linked, Plan, PlannedJob, Surroundings};
use crate::settings::{DEFAULT, Read, Settings};

/// Starts an application to its end: the connections, then the jobs.
pub(super) async fn start(builder: ElasticJobAppBuilder) -> Result<ElasticJobApp, AppError> {
    let mut app = prepare(builder).await?;
    match start_jobs(&mut app).await {
        Ok(()) => Ok(app),
        Err(failed) => {
            app.leave(ShutdownMode::Now).await;
            Err(failed)
        }
    }
}

/// Makes the jobs and all that they need, without starting any of them. Dropping the future gives that up: nothing of the
/// program is in a registry center by then.
pub(super) async fn prepare(builder: ElasticJobAppBuilder) -> Result<ElasticJobApp, AppError> {
    let linked = Linked::new(JOBS.static_slice(), &builder.given).within(&builder.only);
    let names: Vec<&str> = linked.names().collect();
    let catalog = builder.catalog.clone().build();
    let of_attributes = linked.iter().flat_map(|function| (function.settings)().props.unwrap_or_default().into_keys());
    let options = catalog.iter().flat_map(Catalog::option_names).map(str::to_owned);
    let mut read = Settings::read(&builder.sources, &names, of_attributes.chain(options).collect());
    carried::complete(&builder.sources, &mut read.settings)?;
    let settings = &read.settings;
    for warning in settings.warnings.clone() {
        apart(move || warn!("{warning}"));
    }
    if !settings.enabled && read.errors.is_empty() {
        apart(|| info!("`elasticjob.enabled` is false: no job is started"));
        return Ok(ElasticJobApp { enabled: false, ..ElasticJobApp::without_jobs(settings.shutdown_grace) });
    }
    let (mut plan, environment, found) = checked(&builder, &linked, &catalog, &read)?;
    if let Some(told) = carried::read(&builder.sources)? {
        let run = carried::run_of(told, &plan, &builder, environment.catalog())?;
        return Ok(ElasticJobApp { carried: Some(run), ..ElasticJobApp::without_jobs(settings.shutdown_grace) });
    }
    carried::configure(&builder.sources, &mut plan, environment.catalog())?;
    let counting = metrics::begin(&builder, &settings.metrics, &plan);
    let environment = match &counting {
        Some(counting) => counting.observing(environment),
        None => environment,
    };
    let announcement = announcement(&plan, settings);
    apart(move || info!("{announcement}"));
    let traced =
        centers::trace(found, settings, &plan, &environment, carried::one_traced_of(&builder.sources)?).await?;
    tracing::warn_of_strangers(settings, plan.jobs.iter().map(|job| job.configuration.job_name().as_str()));
    let mut centers = RegistryCenters::connect(&builder, settings, &plan, &environment).await?;
    if let Some(counting) = &counting {
        centers.replace(|name, center| counting.center(name, center));
    }
    let environment_of = |job: &PlannedJob| {
        let name = job.tracing.as_deref().unwrap_or(DEFAULT);
        traced.get(name).unwrap_or(&environment).clone()
    };
    let Jobs { jobs, handles } =
        make(&plan, environment_of, |job| centers.of(job), &builder.beans).map_err(AppError::Invalid)?;
    let dump = match &settings.dump {
        Some(settings) => dump::open(settings, centers.all(), &environment).await?,
        None => None,
    };
    let tracings = centers::tracings(&traced);
    let console = console::open(settings, centers.named(), &plan, &tracings).await?;
    let metrics = match &counting {
        Some(counting) => {
            counting.follow(jobs.iter().map(Job::status), &tracings);
            counting.open(&settings.metrics).await?
        }
        None => None,
    };
    let (own_centers, job_centers, grace) = (centers.own, centers.of_jobs, settings.shutdown_grace);
    let (jobs, carried) = (Mutex::new(jobs), None);
    Ok(ElasticJobApp {
        jobs,
        handles,
        own_centers,
        job_centers,
        tracings,
        dump,
        console,
        metrics,
        carried,
        enabled: true,
        grace,
    })
}

/// Starts all jobs, each for itself: those that have joined run while others still start. Dropping the future gives up the
/// starts that go on; the application has to leave then, as after an error.
pub(super) async fn start_jobs(app: &mut ElasticJobApp) -> Result<(), AppError> {
    outcome(join_all(app.jobs_mut().iter_mut().map(|job| job.start())).await)
}

/// Jobs that wait for their stored configuration do not keep other jobs from running. When all jobs wait, nothing runs,
/// and that is an error.
fn outcome(started: Vec<Result<(), StartError>>) -> Result<(), AppError> {
    let jobs = started.len();
    let mut waiting = Vec::new();
    for error in started.into_iter().filter_map(Result::err) {
        match error {
            StartError::WaitsForConfiguration { .. } => waiting.push(error),
            failed => return Err(AppError::Start(failed)),
        }
    }
    if waiting.is_empty() || waiting.len() < jobs { Ok(()) } else { Err(AppError::NoneStarted(waiting)) }
}

/// Makes all checks that need no registry center.
fn checked(
    builder: &ElasticJobAppBuilder,
    linked: &Linked<'_>,
    catalog: &Result<Catalog, CatalogError>,
    read: &Read<Settings>,
) -> Result<(Plan, JobEnvironment, FoundStorages), AppError> {
    let Read { settings, errors, doubt } = read;
    let mut problems: Vec<Problem> = errors.iter().cloned().map(Problem::from).collect();
    if !settings.enabled {
        return Err(AppError::Invalid(problems));
    }
    problems.extend(builder.wrong.iter().cloned().map(Problem::from));
    // Without a catalog the jobs are checked as far as possible, so that all problems are reported together.
    problems.extend(centers::given_twice(builder, settings).into_iter().map(Problem::from));
    problems.extend(console::problems(&settings.console).into_iter().map(Problem::from));
    problems.extend(metrics::problems(&settings.metrics).into_iter().map(Problem::from));
    let mut storages = FoundStorages::new();
    if let Ok(catalog) = catalog {
        let all = settings.tracings.iter().filter_map(|(name, tracing)| Some((name.as_str(), tracing.as_ref()?)));
        let all = all.chain(settings.tracing.as_ref().map(|tracing| (DEFAULT, tracing)));
        // A problem of the database settings is reported already.
        for (name, tracing) in all.filter(|(_, tracing)| !doubt.is_within(&tracing.section.child("data-source"))) {
            match tracing::find(tracing, catalog, &builder.beans) {
                Ok(found) => drop(storages.insert(name.to_owned(), found)),
                Err(error) => problems.push(error.into()),
            }
        }
    }
    let registry_centers = centers::names(builder, settings);
    let tracings: BTreeSet<String> = settings.tracings.keys().cloned().collect();
    let around = Surroundings {
        registry_centers: &registry_centers,
        tracings: &tracings,
        provided: &builder.names,
        beans: &builder.beans,
        catalog: catalog.as_ref().ok(),
        doubt,
    };
    let environment = JobEnvironment::builder()
        .preferred_network_interface(settings.preferred_network_interface.clone())
        .preferred_network_ip(settings.preferred_network_ip.clone())
        .shutdown_grace(settings.shutdown_grace);
    let environment = match catalog {
        Ok(catalog) => environment.catalog(catalog.clone()).build(),
        Err(clashes) => Err(clashes.clone().into()),
    };
    #[cfg(feature = "opentelemetry")]
    let environment = environment.map(|environment| environment.with_caller_trace(crate::spans::caller_trace));
    match (Plan::make(linked, settings, &around), environment) {
        (Ok(plan), Ok(environment)) if problems.is_empty() => Ok((plan, environment, storages)),
        (plan, environment) => {
            problems.extend(plan.err().into_iter().flatten().map(Problem::from));
            problems.extend(environment.err().map(|error| of_environment(error, settings)));
            Err(AppError::Invalid(problems))
        }
    }
}

fn of_environment(error: EnvironmentError, settings: &Settings) -> Problem {
    match (error, settings.preferred_network_origin.clone()) {
        (EnvironmentError::Address(reason), Some(origin)) => Problem::Address { origin, reason },
        (error, _) => error.into(),
    }
}

/// One line that names the jobs which start, and the settings that were read for them.
fn announcement(plan: &Plan, settings: &Settings) -> String {
    let jobs: Vec<String> = plan.jobs.iter().map(describe).collect();
    let files: Vec<String> = settings.files.iter().map(|file| file.display().to_string()).collect();
    let from = if files.is_empty() {
        "no file of settings found".to_owned()
    } else {
        format!("settings from {}", files.join(", "))
    };
    match jobs.as_slice() {
        [] => format!("no job is linked into the program; {from}"),
        jobs => format!("jobs to start: {}; {from}", jobs.join(", ")),
    }
}

fn describe(job: &PlannedJob) -> String {
    let configuration = &job.configuration;
    let when = match configuration.schedule() {
        Some(schedule) => format!("'{}'", schedule.cron()),
        None if configuration.fires_by_itself() => {
            let jobs: Vec<String> = configuration.depends_on().iter().map(ToString::to_string).collect();
            format!("after {}", jobs.join(", "))
        }
        None => format!("one-off, bean {}", job.bean_name),
    };
    let total = configuration.sharding_total_count();
    let items = if total == 1 { "item" } else { "items" };
    format!("{} ({when}, {total} {items})", configuration.job_name())
}
