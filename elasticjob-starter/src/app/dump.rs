//! The dump port as the settings want it.

use std::sync::Arc;

use elasticjob::operations::dump::{DumpPort, DumpService};
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::JobEnvironment;

use crate::AppError;
use crate::settings::DumpSettings;

/// Opens the port for the jobs of the registry center of the settings, and of those given to the builder.
///
/// # Errors
/// [`AppError::Dump`] when the operating system refuses address or port.
pub(super) async fn open<'r>(
    settings: &DumpSettings,
    registry: &Arc<dyn RegistryCenter>,
    others: impl Iterator<Item = &'r Arc<dyn RegistryCenter>>,
    environment: &JobEnvironment,
) -> Result<DumpPort, AppError> {
    let service = DumpService::new(Arc::clone(registry), settings.port).address(settings.address);
    let service = others.fold(service, |service, registry| service.registry(Arc::clone(registry)));
    service.listen_on(environment.system()).await.map_err(|error| AppError::Dump {
        origin: settings.origin.clone(),
        reason: format!(
            "cannot listen at {}, port {}: {error}; another program may have it, or another copy of this one: set another \
             port, or 0 for any that is free, for example with ELASTICJOB_DUMP_PORT=0",
            settings.address, settings.port
        ),
    })
}
