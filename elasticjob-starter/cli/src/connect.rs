//! Connects to the registry center that settings and flags name.

use std::sync::Arc;

#[cfg(feature = "console")]
use elasticjob::config::Message;
use elasticjob::registry::RegistryCenter;
#[cfg(feature = "console")]
use elasticjob::registry::zookeeper::ConnectError;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob_starter::settings::{RegCenterSettings, Sources};
use tokio::runtime::Handle;
#[cfg(feature = "console")]
use tokio::sync::watch;

use crate::Console;
use crate::args::{DEFAULT, Registry};
#[cfg(feature = "console")]
use crate::away::LateCenter;
use crate::failure::Failure;

const NO_SERVERS: &str = "no registry center is set: give --server-lists and --namespace, or set \
    elasticjob.reg-center.server-lists in application.yaml or ELASTICJOB_REG_CENTER_SERVER_LISTS; jobs on the embedded \
    registry of a program can be operated in that program alone, and those of `elasticjob cloud` on its pages and by REST";

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

/// Connects to the registry center without a name and to those with names, side by side. One that is away comes later, as
/// long as another one is there.
///
/// # Errors
/// A setting is wrong, a registry center refuses this client, or all of them are away.
#[cfg(feature = "console")]
pub(crate) async fn connect_all(
    flags: &Registry,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<Vec<Named>, Failure> {
    if flags.registry.is_some() {
        let why = "`elasticjob console` serves all registry centers of the settings: leave out --registry";
        return Err(Failure::Usage(why.to_owned()));
    }
    let own = settings(flags, sources, console)?;
    let (named, warnings) = RegCenterSettings::load_named(&files(flags, sources)).map_err(Failure::Settings)?;
    console.warn(warnings);
    if let Some((name, _)) = named.iter().find(|(_, settings)| settings.server_lists.is_empty()) {
        let why = format!("elasticjob.reg-centers.{name} has no server-lists: set them, or remove it");
        return Err(Failure::Usage(why));
    }
    let mut dialled = Vec::new();
    for (name, settings) in std::iter::once((DEFAULT.to_owned(), own)).chain(named) {
        let configuration = existing(&settings)?;
        let wanted = configuration.clone();
        let center = tokio::spawn(async move { ZookeeperRegistryCenter::connect(wanted, &Handle::current()).await });
        dialled.push((name, settings.shown(), configuration, center));
    }
    let (mut all, mut away) = (Vec::new(), Vec::new());
    for (name, shown, configuration, center) in dialled {
        match center.await.map_err(|panic| Failure::Console(panic.to_string()))? {
            Ok(center) => all.push(Named { name, center: Arc::new(center), shown, away: None }),
            Err(why @ ConnectError::Unreachable { .. }) => away.push((name, shown, configuration, why)),
            Err(why) => return Err(why.into()),
        }
    }
    if let Some((.., why)) = away.first().filter(|_| all.is_empty()) {
        return Err(why.clone().into());
    }
    all.extend(away.into_iter().map(|(name, shown, configuration, why)| {
        let center = LateCenter::new(&name, configuration, &why);
        let away = Some(center.why());
        Named { name, center: Arc::new(center), shown, away }
    }));
    Ok(all)
}

/// A registry center with its name, and its settings as they may be shown.
#[cfg(feature = "console")]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) center: Arc<dyn RegistryCenter>,
    pub(crate) shown: Vec<(&'static str, String)>,
    /// Of one that was away: why it is, as it changes.
    pub(crate) away: Option<watch::Receiver<Option<Message>>>,
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
    if let Some(name) = flags.name() {
        let (mut named, warnings) = RegCenterSettings::load_named(&files(flags, sources)).map_err(Failure::Settings)?;
        console.warn(warnings);
        let known: Vec<&str> = std::iter::once(DEFAULT).chain(named.keys().map(String::as_str)).collect();
        let unknown = format!("elasticjob.reg-centers has no '{name}'; known: {}", known.join(", "));
        return named.remove(name).ok_or(Failure::Usage(unknown));
    }
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
    Ok(Arc::new(ZookeeperRegistryCenter::connect(existing(settings)?, &Handle::current()).await?))
}

/// The ZooKeeper of these settings, with a namespace that exists.
fn existing(settings: &RegCenterSettings) -> Result<ZookeeperConfiguration, Failure> {
    let mut zookeeper = settings.zookeeper().ok_or_else(|| Failure::Usage(NO_SERVERS.to_owned()))?;
    // A mistyped name must not create a namespace.
    zookeeper.create_namespace = false;
    Ok(zookeeper)
}
