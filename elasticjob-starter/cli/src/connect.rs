//! The registry center that settings and flags name.

use std::sync::Arc;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob_starter::settings::{Settings, Sources};
use tokio::runtime::Handle;

use crate::args::Registry;
use crate::failure::Failure;

const NO_SERVERS: &str = "no registry center is set: give --server-lists and --namespace, or set \
    elasticjob.reg-center.server-lists in application.yaml or ELASTICJOB_REG_CENTER_SERVER_LISTS; jobs on the embedded \
    registry of a program can be operated in that program alone";

/// Connects as the settings say; flags win over them.
pub(crate) async fn connect(flags: &Registry, sources: &Sources) -> Result<Arc<dyn RegistryCenter>, Failure> {
    let given = [
        ("reg-center.server-lists", &flags.server_lists),
        ("reg-center.namespace", &flags.namespace),
        ("reg-center.digest", &flags.digest),
        ("config.location", &flags.config),
        ("profiles.active", &flags.profile),
    ];
    let arguments =
        given.into_iter().filter_map(|(key, value)| Some(format!("--elasticjob.{key}={}", value.as_ref()?)));
    let settings = Settings::load(&sources.clone().arguments(arguments), &[]).map_err(Failure::Settings)?;
    let Some(mut zookeeper) = settings.reg_center.zookeeper() else {
        return Err(Failure::Usage(NO_SERVERS.to_owned()));
    };
    // A mistake in its name must not make one.
    zookeeper.create_namespace = false;
    Ok(Arc::new(ZookeeperRegistryCenter::connect(zookeeper, &Handle::current()).await?))
}
