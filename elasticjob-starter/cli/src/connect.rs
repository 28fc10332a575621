//! Connects to the registry center that settings and flags name.

use std::sync::Arc;

use elasticjob::registry::RegistryCenter;
#[cfg(all(feature = "cloud", unix))]
use elasticjob::registry::zookeeper::ZookeeperConfiguration;
use elasticjob::registry::zookeeper::ZookeeperRegistryCenter;
use elasticjob_starter::settings::{RegCenterSettings, Sources};
use tokio::runtime::Handle;

use crate::Console;
use crate::args::Registry;
use crate::failure::Failure;

const NO_SERVERS: &str = "no registry center is set: give --server-lists and --namespace, or set \
    elasticjob.reg-center.server-lists in application.yaml or ELASTICJOB_REG_CENTER_SERVER_LISTS; jobs on the embedded \
    registry of a program can be operated in that program alone";

/// The sources of the settings that the flags name. The arguments of this program are not among them.
pub(crate) fn files(flags: &Registry, sources: &Sources) -> Sources {
    let given = [("--config", "config.location", &flags.config), ("--profile", "profiles.active", &flags.profile)];
    with(sources.clone().arguments([""; 0]), given)
}

fn with<'a>(
    sources: Sources,
    given: impl IntoIterator<Item = (&'static str, &'static str, &'a Option<String>)>,
) -> Sources {
    given.into_iter().fold(sources, |sources, (flag, key, value)| match value {
        Some(value) => sources.option(flag, key, value),
        None => sources,
    })
}

/// Connects by the settings; flags win over them. Settings of jobs do not matter here.
pub(crate) async fn connect(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Arc<dyn RegistryCenter>, Failure> {
    let settings = settings(flags, sources, console)?;
    connect_to(&settings).await
}

/// The same, with the settings as they may be shown.
#[cfg(feature = "console")]
pub(crate) async fn connect_shown(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<(Arc<dyn RegistryCenter>, Vec<(&'static str, String)>), Failure> {
    let settings = settings(flags, sources, console)?;
    Ok((connect_to(&settings).await?, settings.shown()))
}

/// Connects to the other registry centers of the settings, by their names.
#[cfg(feature = "console")]
pub(crate) async fn connect_named(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Vec<Named>, Failure> {
    let (all, warnings) = RegCenterSettings::load_named(&files(flags, sources)).map_err(Failure::Settings)?;
    console.warn(warnings);
    let mut connected = Vec::new();
    for (name, settings) in all {
        if settings.server_lists.is_empty() {
            let why = format!("elasticjob.reg-centers.{name} has no server-lists: set them, or remove it");
            return Err(Failure::Usage(why));
        }
        connected.push(Named { center: connect_to(&settings).await?, shown: settings.shown(), name });
    }
    Ok(connected)
}

/// A registry center with its name, and its settings as they may be shown.
#[cfg(feature = "console")]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) center: Arc<dyn RegistryCenter>,
    pub(crate) shown: Vec<(&'static str, String)>,
}

/// The ZooKeeper that settings and flags name; `None` where they name none.
#[cfg(all(feature = "cloud", unix))]
pub(crate) fn zookeeper(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Option<ZookeeperConfiguration>, Failure> {
    Ok(settings(flags, sources, console)?.zookeeper())
}

fn settings(flags: &Registry, sources: &Sources, console: &mut Console<'_>) -> Result<RegCenterSettings, Failure> {
    let tls = [
        ("--tls-trust-store", "reg-center.tls.trust-store", &flags.tls_trust_store),
        ("--tls-client-certificate", "reg-center.tls.client-certificate", &flags.tls_client_certificate),
        ("--tls-client-key", "reg-center.tls.client-key", &flags.tls_client_key),
    ];
    let on = tls.iter().find(|(.., file)| file.is_some()).map(|(flag, ..)| *flag).or(flags.tls.then_some("--tls"));
    let enabled = on.map(|_| "true".to_owned());
    let given = [
        ("--server-lists", "reg-center.server-lists", &flags.server_lists),
        ("--namespace", "reg-center.namespace", &flags.namespace),
        ("--digest", "reg-center.digest", &flags.digest),
        (on.unwrap_or("--tls"), "reg-center.tls.enabled", &enabled),
    ];
    let sources = with(files(flags, sources), given.into_iter().chain(tls));
    let (settings, warnings) = RegCenterSettings::load(&sources).map_err(Failure::Settings)?;
    console.warn(warnings);
    Ok(settings)
}

async fn connect_to(settings: &RegCenterSettings) -> Result<Arc<dyn RegistryCenter>, Failure> {
    let Some(mut zookeeper) = settings.zookeeper() else {
        return Err(Failure::Usage(NO_SERVERS.to_owned()));
    };
    // A mistyped name must not create a namespace.
    zookeeper.create_namespace = false;
    Ok(Arc::new(ZookeeperRegistryCenter::connect(zookeeper, &Handle::current()).await?))
}
