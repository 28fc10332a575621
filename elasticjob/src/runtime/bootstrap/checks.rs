//! Checks a job before its start: the jobs that it follows, its type, and whether others may decide what it runs.

use std::sync::Arc;
use std::time::Duration;

use super::{START_TIMEOUT, StartError};
use crate::api::ItemHandler;
use crate::config::{BoundOptions, Invalid, JobConfiguration};
use crate::ident::JobName;
use crate::log::{apart, error, warn};
use crate::operations::{OperationError, OtherJobs, closed_cycle, unequal_totals};
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;
use crate::runtime::driver::Job;
use crate::runtime::environment::JobEnvironment;
use crate::spi::Catalog;

/// How long a new job that cannot follow another one item by item waits for jobs that start beside it and may change that.
const OTHERS_START: Duration = Duration::from_secs(3);

/// How often it looks meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Refuses a job that would wait for itself, over the jobs that it runs after, and one that is new in the registry center and
/// cannot follow another one item by item.
///
/// It borrows no engine, as [`enter`](super::enter) does not.
pub(super) fn refuse_cycle(name: &JobName, job: &Job) -> impl Future<Output = Result<(), StartError>> + Send + use<> {
    let configuration = job.engine.local_configuration().clone();
    let (name, registry) = (name.clone(), job.registry.clone());
    async move {
        if configuration.depends_on().is_empty() {
            return Ok(());
        }
        let refused = async {
            match closed_cycle(OtherJobs::of(&*registry), &configuration).await? {
                None => unequal_when_new(&*registry, &configuration).await,
                cycle => Ok::<_, OperationError>(cycle),
            }
        };
        match tokio::time::timeout(START_TIMEOUT, refused).await {
            Ok(Ok(Some(problem))) => Err(StartError::Unsupported { job: name, refused: vec![problem.to_string()] }),
            // The start says by itself that the registry center is away.
            _ => Ok(()),
        }
    }
}

/// Job that is new in the registry center, and has another number of items than a job that it follows item by item. One that is
/// there already starts: an operator may be about to change both, and no fire begins before they are equal. So may a job of
/// this program that starts at this moment.
async fn unequal_when_new(
    registry: &dyn RegistryCenter,
    configuration: &JobConfiguration,
) -> Result<Option<Invalid>, OperationError> {
    let config = JobPath::Config.absolute(configuration.job_name());
    for _ in 0..OTHERS_START.as_millis() / LOOK_AGAIN.as_millis() {
        if registry.get(&config).await?.is_some() {
            return Ok(None);
        }
        match unequal_totals(OtherJobs::of(registry), configuration).await? {
            None => return Ok(None),
            Some(_) => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
    unequal_totals(OtherJobs::of(registry), configuration).await
}

/// The configuration and the handler of a job of a type.
pub(super) fn of_type(
    environment: &JobEnvironment,
    job_type: &str,
    configuration: JobConfiguration,
) -> Result<(JobConfiguration, ItemHandler), StartError> {
    let refuse = |why: String| StartError::Unsupported { job: configuration.job_name().clone(), refused: vec![why] };
    if let Some(other) = configuration.job_type().filter(|named| *named != job_type) {
        return Err(refuse(format!(
            "elastic-job-type: its configuration names '{other}', and its bootstrap '{job_type}'"
        )));
    }
    match environment.catalog().job_types().get(job_type) {
        Ok(found) => Ok((configuration.of_type(job_type), found.handler().clone())),
        Err(unknown) => Err(refuse(format!("elastic-job-type: {unknown}"))),
    }
}

/// Warns of a job that runs commands or asks addresses while everyone who reaches the registry center can write it.
pub(super) fn warn_of_open(name: &JobName, job: &Job) {
    let runs_commands = job.handler.bound_options().iter().any(|bound| matches!(bound, BoundOptions::Command(_)));
    if !runs_commands || !job.registry.is_open() {
        return;
    }
    let local = job.engine.local_configuration();
    let is_allowed = job.handler.bound_options().iter().any(|bound| bound.is_allowed_by(local));
    let job = name.clone();
    apart(move || match is_allowed {
        true => error!(
            %job,
            "everyone who reaches the registry center can have this host run any command or ask any address: \
             `...from-registry` is set, and the namespace is open; close it as the warning about the namespace says (docs/security.md)"
        ),
        false => warn!(
            %job,
            "everyone who reaches the registry center decides when this job runs, and with which parameters, and it runs \
             commands or sends requests: the namespace is open; close it as the warning about the namespace says (docs/security.md)"
        ),
    });
}

/// The options that the registry center does not decide alone. Usually all jobs of a process share the list.
pub(super) fn bound_options(catalog: &Catalog, handler: &ItemHandler) -> Arc<[BoundOptions]> {
    let (known, own) = (catalog.bound_options(), handler.bound_options());
    match own.iter().all(|bound| known.contains(bound)) {
        true => known.clone(),
        false => known.iter().chain(own).copied().collect(),
    }
}
