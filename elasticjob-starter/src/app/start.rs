//! How an application starts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ::tracing::{info, warn};
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::{EnvironmentError, JobEnvironment, ShutdownMode};
use elasticjob::spi::JOBS;

use super::jobs::{Jobs, make};
use super::{ElasticJobApp, ElasticJobAppBuilder, dump, tracing};
use crate::AppError;
use crate::error::Problem;
use crate::plan::{Linked, Plan, PlannedJob, Surroundings};
use crate::settings::{Key, Read, Settings};

pub(super) async fn start(builder: ElasticJobAppBuilder) -> Result<ElasticJobApp, AppError> {
    let linked = Linked::new(JOBS.static_slice());
    let names: Vec<&str> = linked.iter().map(|function| function.name).collect();
    let read = Settings::read(&builder.sources, &names);
    let settings = &read.settings;
    settings.warnings.iter().for_each(|warning| warn!("{warning}"));
    if !settings.enabled && read.errors.is_empty() {
        info!("`elasticjob.enabled` is false: no job is started");
        let (jobs, handles) = (Vec::new(), BTreeMap::new());
        let grace = settings.shutdown_grace;
        return Ok(ElasticJobApp { jobs, handles, registry: None, tracing: None, dump: None, enabled: false, grace });
    }

    let (plan, environment, storage) = checked(&builder, &linked, &read)?;
    info!("{}", announcement(&plan, settings));
    let environment = match settings.tracing.as_ref().zip(storage) {
        Some((settings, storage)) => environment.with_tracing(tracing::open(storage, settings).await?),
        None => environment,
    };
    tracing::warn_of_strangers(settings, plan.jobs.iter().map(|job| job.configuration.job_name().as_str()));
    let registry = registry(&environment, settings).await?;
    let registry_of = |job: &PlannedJob| {
        let named = job.registry_center.as_ref().and_then(|name| builder.registry_centers.get(name));
        Arc::clone(named.unwrap_or(&registry))
    };
    let Jobs { jobs, handles } = make(&plan, &environment, registry_of, &builder.beans).map_err(AppError::Invalid)?;
    let dump = match &settings.dump {
        Some(settings) => Some(dump::open(settings, &registry, builder.registry_centers.values(), &environment).await?),
        None => None,
    };
    let (registry, tracing, grace) = (Some(registry), environment.tracing().cloned(), settings.shutdown_grace);
    let mut app = ElasticJobApp { jobs, handles, registry, tracing, dump, enabled: true, grace };
    let started = futures_util::future::try_join_all(app.jobs.iter_mut().map(|job| job.start())).await;
    match started {
        Ok(_) => Ok(app),
        Err(error) => {
            app.leave(ShutdownMode::Now).await;
            Err(AppError::Start(error))
        }
    }
}

/// Everything that can be found out without a registry center.
fn checked(
    builder: &ElasticJobAppBuilder,
    linked: &Linked<'static>,
    read: &Read<Settings>,
) -> Result<(Plan, JobEnvironment, Option<tracing::Found>), AppError> {
    let Read { settings, errors, doubt } = read;
    let mut problems: Vec<Problem> = errors.iter().cloned().map(Problem::from).collect();
    if !settings.enabled {
        return Err(AppError::Invalid(problems));
    }
    problems.extend(builder.wrong.iter().cloned().map(Problem::from));
    // Without a catalog jobs are looked at as far as that goes: everything that is wrong is told together.
    let catalog = builder.catalog.clone().build();
    // A database that cannot be read is told already.
    let is_known = !doubt.is_within(&Key::of(["tracing", "data-source"]));
    let tracing = settings.tracing.as_ref().filter(|_| is_known).zip(catalog.as_ref().ok());
    let storage = tracing.map(|(settings, catalog)| tracing::find(settings, catalog, &builder.beans)).transpose();
    let storage = storage.map_err(|error| problems.push(error.into())).ok().flatten();
    let registry_centers: BTreeSet<String> = builder.registry_centers.keys().cloned().collect();
    let around = Surroundings {
        registry_centers: &registry_centers,
        provided: &builder.names,
        beans: &builder.beans,
        catalog: catalog.as_ref().ok(),
        doubt,
    };
    let environment = JobEnvironment::builder()
        .preferred_network_interface(settings.preferred_network_interface.clone())
        .preferred_network_ip(settings.preferred_network_ip.clone())
        .shutdown_grace(settings.shutdown_grace);
    let environment = match &catalog {
        Ok(catalog) => environment.catalog(catalog.clone()).build(),
        Err(clashes) => Err(clashes.clone().into()),
    };
    match (Plan::make(linked, settings, &around), environment) {
        (Ok(plan), Ok(environment)) => {
            // Made to see that they can be; these are never started.
            let nowhere = environment.embedded_registry();
            let made = make(&plan, &environment, |_| Arc::clone(&nowhere), &builder.beans);
            problems.extend(made.err().into_iter().flatten());
            if problems.is_empty() { Ok((plan, environment, storage)) } else { Err(AppError::Invalid(problems)) }
        }
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

async fn registry(environment: &JobEnvironment, settings: &Settings) -> Result<Arc<dyn RegistryCenter>, AppError> {
    match settings.reg_center.zookeeper() {
        Some(configuration) => environment.connect_zookeeper(configuration).await.map_err(AppError::Connect),
        None => {
            warn!(
                "no `elasticjob.reg-center.server-lists` is set: jobs run on the embedded registry of this process; no other \
                 process sees it, and N copies of the program run everything N times"
            );
            Ok(environment.embedded_registry())
        }
    }
}

/// One line that says which jobs start and what was read for them.
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
        None => format!("one-off, bean {}", job.bean_name),
    };
    let total = configuration.sharding_total_count();
    let items = if total == 1 { "item" } else { "items" };
    format!("{} ({when}, {total} {items})", configuration.job_name())
}
