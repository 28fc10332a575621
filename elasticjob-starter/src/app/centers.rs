//! The registry centers and the tracings of an application: the ones without a name, and the named ones that jobs refer
//! to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use elasticjob::__private::log::{apart, warn};
use elasticjob::registry::RegistryCenter;
use elasticjob::runtime::JobEnvironment;
use elasticjob::trace::Tracing;
use futures_util::future::try_join_all;

use super::{ElasticJobAppBuilder, tracing};
use crate::AppError;
use crate::plan::{Plan, PlannedJob};
use crate::settings::{DEFAULT, Key, RegCenterSettings, SettingError, Settings};

/// Registry centers that were connected.
pub(super) struct RegistryCenters {
    by_name: BTreeMap<String, Arc<dyn RegistryCenter>>,
    /// The registry centers of the settings. The owners of the others close them.
    pub own: Vec<Arc<dyn RegistryCenter>>,
    /// The registry centers that jobs belong to, whoever closes them.
    pub of_jobs: Vec<Arc<dyn RegistryCenter>>,
}

impl RegistryCenters {
    /// Connects to the registry centers of the settings that jobs belong to. The one without a name is connected for
    /// programs without jobs, too.
    ///
    /// # Errors
    /// A registry center is not reached, or refuses the connection; the others are closed again.
    pub async fn connect(
        builder: &ElasticJobAppBuilder,
        settings: &Settings,
        plan: &Plan,
        environment: &JobEnvironment,
    ) -> Result<Self, AppError> {
        let used = used(plan, |job| job.registry_center.as_deref());
        warn_of_unused("reg-centers", settings.reg_centers.keys(), &used);
        let named = settings.reg_centers.iter().map(|(name, center)| (name.as_str(), center));
        let wanted = named.chain([(DEFAULT, &settings.reg_center)]);
        let wanted = wanted.filter(|(name, _)| used.contains(name) && !builder.registry_centers.contains_key(*name));
        let connecting = wanted.map(|(name, center)| async move {
            let center = connect(name, center, environment).await?;
            Ok::<_, AppError>((name.to_owned(), center))
        });
        let mut by_name = BTreeMap::from_iter(try_join_all(connecting).await?);
        let own = by_name.values().cloned().collect();
        by_name.extend(builder.registry_centers.iter().map(|(name, center)| (name.clone(), Arc::clone(center))));
        let of_jobs = by_name.iter().filter(|(name, _)| used.contains(name.as_str()));
        let of_jobs = of_jobs.map(|(_, center)| Arc::clone(center)).collect();
        Ok(Self { by_name, own, of_jobs })
    }

    /// Replaces each registry center that jobs use by another one that stands for it.
    pub fn replace(&mut self, by: impl Fn(&str, Arc<dyn RegistryCenter>) -> Arc<dyn RegistryCenter>) {
        self.by_name.iter_mut().for_each(|(name, center)| *center = by(name, Arc::clone(center)));
    }

    /// The registry center of a job.
    pub fn of(&self, job: &PlannedJob) -> Arc<dyn RegistryCenter> {
        let name = job.registry_center.as_deref().unwrap_or(DEFAULT);
        Arc::clone(self.by_name.get(name).expect("a plan has registry centers that there are"))
    }

    /// All registry centers with their names.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Arc<dyn RegistryCenter>)> {
        self.by_name.iter().map(|(name, center)| (name.as_str(), center))
    }

    /// All registry centers, the one without a name first.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn RegistryCenter>> {
        let others = self.by_name.iter().filter(|(name, _)| *name != DEFAULT).map(|(_, center)| center);
        self.by_name.get(DEFAULT).into_iter().chain(others)
    }
}

/// The names that jobs refer to; `DEFAULT` for a job without a name, and for a program without jobs.
fn used<'p>(plan: &'p Plan, reference: impl Fn(&'p PlannedJob) -> Option<&'p str>) -> BTreeSet<&'p str> {
    match plan.jobs.as_slice() {
        [] => BTreeSet::from([DEFAULT]),
        jobs => jobs.iter().map(|job| reference(job).unwrap_or(DEFAULT)).collect(),
    }
}

fn warn_of_unused<'s>(section: &str, names: impl Iterator<Item = &'s String>, used: &BTreeSet<&str>) {
    for name in names.filter(|name| !used.contains(name.as_str())) {
        let key = Key::of([section, name]);
        apart(move || warn!("`{key}` is not used: no job refers to it"));
    }
}

async fn connect(
    name: &str,
    settings: &RegCenterSettings,
    environment: &JobEnvironment,
) -> Result<Arc<dyn RegistryCenter>, AppError> {
    let section = if name == DEFAULT { Key::of(["reg-center"]) } else { Key::of(["reg-centers", name]) };
    match settings.zookeeper() {
        Some(configuration) => environment
            .connect_zookeeper(configuration)
            .await
            .map_err(|error| AppError::Connect { section: section.to_string(), error }),
        None => {
            let section = section.to_string();
            apart(move || {
                warn!(
                    "no `{section}.server-lists` is set: jobs run on the embedded registry of this process; no other process \
                     sees it, and N copies of the program run everything N times"
                );
            });
            Ok(environment.embedded_registry())
        }
    }
}

/// The names of all registry centers.
pub(super) fn names(builder: &ElasticJobAppBuilder, settings: &Settings) -> BTreeSet<String> {
    let of_settings = settings.reg_centers.keys().cloned().chain([DEFAULT.to_owned()]);
    of_settings.chain(builder.registry_centers.keys().cloned()).collect()
}

/// Names that are both in the settings and given to the application's builder.
pub(super) fn given_twice(builder: &ElasticJobAppBuilder, settings: &Settings) -> Vec<SettingError> {
    let given = |name: &str| builder.registry_centers.contains_key(name);
    let twice = settings.reg_centers.iter().filter(|(name, _)| given(name));
    let error = |(name, center): (&String, &RegCenterSettings)| SettingError::Misplaced {
        origin: center.origin.clone(),
        key: Key::of(["reg-centers", name]).to_string(),
        reason: "the application's builder has a registry center of that name, too; give one of the two another name"
            .to_owned(),
    };
    let unnamed = given(DEFAULT) && settings.reg_center.zookeeper().is_some();
    let ignored = unnamed.then(|| SettingError::Misplaced {
        origin: settings.reg_center.origin.clone(),
        key: Key::of(["reg-center"]).to_string(),
        reason: format!(
            "the application's builder has a registry center '{DEFAULT}', which would be used in its place; leave one of the two \
             out, or give that of the builder another name"
        ),
    });
    twice.map(error).chain(ignored).collect()
}

/// Storages that were found and are not open yet.
pub(super) type FoundStorages = BTreeMap<String, tracing::Found>;

/// Opens the storages of the tracings that jobs use. Of so many runs of a job one is traced.
///
/// # Errors
/// A storage is not reached, or refuses the connection.
pub(super) async fn trace(
    mut found: FoundStorages,
    settings: &Settings,
    plan: &Plan,
    environment: &JobEnvironment,
    one_run_of: u32,
) -> Result<BTreeMap<String, JobEnvironment>, AppError> {
    let used = used(plan, |job| job.tracing.as_deref());
    warn_of_unused("tracings", settings.tracings.keys(), &used);
    let named = settings.tracings.iter().filter_map(|(name, tracing)| Some((name.as_str(), tracing.as_ref()?)));
    let default = settings.tracing.as_ref().map(|tracing| (DEFAULT, tracing));
    let mut traced = BTreeMap::new();
    for (name, settings) in named.chain(default).filter(|(name, _)| used.contains(name)) {
        if let Some(found) = found.remove(name) {
            let configuration = tracing::open(found, settings).await?.one_run_of(one_run_of);
            traced.insert(name.to_owned(), environment.clone().with_tracing(configuration));
        }
    }
    Ok(traced)
}

/// The tracings of these environments.
pub(super) fn tracings(traced: &BTreeMap<String, JobEnvironment>) -> BTreeMap<String, Tracing> {
    traced.iter().filter_map(|(name, environment)| Some((name.clone(), environment.tracing()?.clone()))).collect()
}
