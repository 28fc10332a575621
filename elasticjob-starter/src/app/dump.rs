//! Opens the dump port of the settings.

use std::sync::Arc;

use elasticjob::operations::dump::{DumpPort, DumpService};
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::JobEnvironment;

use crate::AppError;
use crate::settings::DumpSettings;

/// Opens the port for the jobs of these registry centers. Where several have a job of the same name, the first registry
/// center is asked.
///
/// # Errors
/// [`AppError::Dump`] when the operating system refuses address or port.
pub(super) async fn open<'r>(
    settings: &DumpSettings,
    mut registries: impl Iterator<Item = &'r Arc<dyn RegistryCenter>>,
    environment: &JobEnvironment,
) -> Result<Option<DumpPort>, AppError> {
    let Some(first) = registries.next() else { return Ok(None) };
    let service = DumpService::new(Arc::clone(first), settings.port).address(settings.address);
    let service = registries.fold(service, |service, registry| service.registry(Arc::clone(registry)));
    let opened = service.listen_on(environment.system()).await.map_err(|error| AppError::Dump {
        origin: settings.origin.clone(),
        reason: format!(
            "cannot listen at {}, port {}: {error}; another program may have it, or another copy of this one: set another \
             port, or 0 for any that is free, for example with ELASTICJOB_DUMP_PORT=0",
            settings.address, settings.port
        ),
    });
    opened.map(Some)
}
