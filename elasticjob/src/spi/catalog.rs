//! The catalog: all implementations that settings can refer to by type name, as one value that is passed around.

use std::fmt;
use std::sync::Arc;

use super::{
    ByType, ERROR_HANDLERS, JOB_TYPES, LISTENERS, LinkedType, SHARDING_STRATEGIES, THREAD_POOLS, TRACING_STORAGES,
    TypeClash, TypeOrigin,
};
use crate::api::{
    AnyJobErrorHandler, AnyJobListener, AnyJobType, JobErrorHandler, JobListener, JobType, OnceJobListener,
    PoolSizeProvider, ShardingStrategy,
};
use crate::config::{BoundOptions, ConfigurationCheck, Invalid, JobConfiguration, JobKind};
use crate::engine::KnownListeners;
use crate::error_handlers::ErrorHandlers;
use crate::executor::ThreadPools;
use crate::job_types::JobTypes;
use crate::sharding::ShardingStrategies;
use crate::trace::{AnyTracingStorage, RDB, TracingStorage};

/// The implementations that the jobs of a process can name in their settings: built-in ones, linked ones, and ones that
/// the program added.
///
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Catalog {
    sharding_strategies: Arc<ShardingStrategies>,
    listeners: Arc<ByType<AnyJobListener>>,
    known_listeners: Arc<KnownListeners>,
    thread_pools: Arc<ThreadPools>,
    job_types: Arc<JobTypes>,
    error_handlers: Arc<ErrorHandlers>,
    tracing_storages: Arc<ByType<AnyTracingStorage>>,
    check: ConfigurationCheck,
    bound: Arc<[BoundOptions]>,
}

impl Catalog {
    /// Starts with the built-in implementations and those that were linked into the program.
    pub fn builder() -> CatalogBuilder {
        CatalogBuilder::default()
    }

    /// The options that the registry center does not decide alone.
    pub(crate) fn bound_options(&self) -> &Arc<[BoundOptions]> {
        &self.bound
    }

    /// The sharding strategies.
    pub fn sharding_strategies(&self) -> &Arc<ShardingStrategies> {
        &self.sharding_strategies
    }

    /// The listeners.
    pub fn listeners(&self) -> &ByType<AnyJobListener> {
        &self.listeners
    }

    /// The pools.
    pub(crate) fn thread_pools(&self) -> &ThreadPools {
        &self.thread_pools
    }

    /// The own storages for tracing of the program.
    pub fn tracing_storages(&self) -> &ByType<AnyTracingStorage> {
        &self.tracing_storages
    }

    /// The types of jobs.
    pub fn job_types(&self) -> &JobTypes {
        &self.job_types
    }

    /// The error handlers.
    pub fn error_handlers(&self) -> &Arc<ErrorHandlers> {
        &self.error_handlers
    }

    /// The names of all options that types of jobs and error handlers read.
    pub fn option_names(&self) -> impl Iterator<Item = &'static str> {
        let types = self.job_types.names().filter_map(|name| self.job_types.get(name).ok());
        let handlers = self.error_handlers.names().filter_map(|name| self.error_handlers.get(name).ok());
        let of_types = types.map(|kind| kind.handler().options());
        let of_functions = JobKind::ALL.into_iter().map(JobKind::options);
        let all = of_types.chain(of_functions).chain(handlers.map(|handler| handler.options()));
        all.flatten().copied().flatten().copied()
    }

    /// The checks of a configuration that engines make in addition to their own.
    pub(crate) fn check(&self) -> &ConfigurationCheck {
        &self.check
    }

    /// The listeners, in the form that engines use.
    pub(crate) fn known_listeners(&self) -> &Arc<KnownListeners> {
        &self.known_listeners
    }

    /// The settings of a program's configuration that name an implementation which does not exist, and its options that
    /// are wrong, without those that the program leaves to the registry center.
    pub fn problems(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let strategy = self.sharding_strategies.problem(configuration);
        let listeners = self.known_listeners.plan(configuration).err();
        let problems = strategy.into_iter().chain(listeners).chain(self.check.problems(configuration));
        problems.filter(|problem| !configuration.leaves_to_registry(problem, &self.bound)).collect()
    }
}

/// Adds implementations to a [`Catalog`].
#[derive(Clone, Default)]
pub struct CatalogBuilder {
    sharding_strategies: Vec<Arc<dyn ShardingStrategy>>,
    listeners: Vec<Arc<AnyJobListener>>,
    thread_pools: Vec<Arc<dyn PoolSizeProvider>>,
    job_types: Vec<Arc<AnyJobType>>,
    error_handlers: Vec<Arc<AnyJobErrorHandler>>,
    tracing_storages: Vec<Arc<AnyTracingStorage>>,
}

impl CatalogBuilder {
    /// Adds a sharding strategy.
    #[must_use]
    pub fn sharding_strategy(mut self, strategy: impl ShardingStrategy + 'static) -> Self {
        self.sharding_strategies.push(Arc::new(strategy));
        self
    }

    /// Adds a listener that every instance calls.
    #[must_use]
    pub fn listener(mut self, listener: impl JobListener) -> Self {
        self.listeners.push(Arc::new(AnyJobListener::every_instance(listener)));
        self
    }

    /// Adds a once listener.
    #[must_use]
    pub fn once_listener(mut self, listener: impl OnceJobListener) -> Self {
        self.listeners.push(Arc::new(AnyJobListener::once(listener)));
        self
    }

    /// Adds a pool.
    #[must_use]
    pub fn pool_size_provider(mut self, pool: impl PoolSizeProvider + 'static) -> Self {
        self.thread_pools.push(Arc::new(pool));
        self
    }

    /// Adds a storage for tracing.
    #[must_use]
    pub fn tracing_storage(mut self, storage: impl TracingStorage) -> Self {
        self.tracing_storages.push(Arc::new(AnyTracingStorage::new(storage)));
        self
    }

    /// Adds a type of jobs.
    #[must_use]
    pub fn job_type(mut self, executor: impl JobType) -> Self {
        self.job_types.push(Arc::new(AnyJobType::new(executor)));
        self
    }

    /// Adds an error handler.
    #[must_use]
    pub fn error_handler(mut self, handler: impl JobErrorHandler) -> Self {
        self.error_handlers.push(Arc::new(AnyJobErrorHandler::new(handler)));
        self
    }

    /// Builds the catalog.
    ///
    /// # Errors
    /// [`CatalogError`] with all names that two implementations have.
    pub fn build(self) -> Result<Catalog, CatalogError> {
        let mut clashes = Vec::new();
        let mut strategies = ShardingStrategies::built_in();
        let own = all(&SHARDING_STRATEGIES, self.sharding_strategies);
        clashes.extend(add_all(&mut strategies, own, ShardingStrategy::type_name));
        let mut thread_pools = ThreadPools::built_in();
        let own = all(&THREAD_POOLS, self.thread_pools);
        clashes.extend(add_all(&mut thread_pools, own, PoolSizeProvider::type_name));
        let mut job_types = JobTypes::built_in();
        clashes.extend(add_all(&mut job_types, all(&JOB_TYPES, self.job_types), AnyJobType::type_name));
        let mut error_handlers = ErrorHandlers::built_in();
        let own = all(&ERROR_HANDLERS, self.error_handlers);
        clashes.extend(add_all(&mut error_handlers, own, AnyJobErrorHandler::type_name));
        let mut tracing_storages = ByType::new(TRACING_STORAGE);
        let own = Vec::from_iter(all(&TRACING_STORAGES, self.tracing_storages));
        clashes.extend(own.iter().filter_map(|(origin, storage)| takes_rdb(storage, *origin)));
        clashes.extend(add_all(&mut tracing_storages, own, AnyTracingStorage::type_name));
        let (mut listeners, mut known_listeners) = (ByType::new(LISTENER), KnownListeners::new(LISTENER));
        for (origin, listener) in all(&LISTENERS, self.listeners) {
            let spec = listener.spec().clone();
            match listeners.add(&spec.type_name, origin, listener) {
                Ok(()) => clashes.extend(known_listeners.add(&spec.type_name.clone(), origin, Arc::new(spec)).err()),
                Err(clash) => clashes.push(clash),
            }
        }
        if clashes.is_empty() {
            let (thread_pools, error_handlers) = (Arc::new(thread_pools), Arc::new(error_handlers));
            Ok(Catalog {
                sharding_strategies: Arc::new(strategies),
                listeners: Arc::new(listeners),
                known_listeners: Arc::new(known_listeners),
                check: ConfigurationCheck::new({
                    let (pools, handlers) = (thread_pools.clone(), error_handlers.clone());
                    move |configuration| {
                        pools.problem(configuration).into_iter().chain(handlers.problems(configuration)).collect()
                    }
                }),
                thread_pools,
                bound: bound_options(&job_types, &error_handlers),
                job_types: Arc::new(job_types),
                error_handlers,
                tracing_storages: Arc::new(tracing_storages),
            })
        } else {
            Err(CatalogError(clashes))
        }
    }
}

/// The options of all types that the registry center does not decide alone; a job may name any of these types.
fn bound_options(job_types: &JobTypes, error_handlers: &ErrorHandlers) -> Arc<[BoundOptions]> {
    let of_types = job_types.values().map(|job_type| job_type.handler().bound_options());
    let of_handlers = error_handlers.values().map(|handler| handler.bound_options());
    of_types.chain(of_handlers).flatten().copied().collect()
}

/// The word for listeners in messages.
const LISTENER: &str = "listener";

/// The word for storages for tracing in messages.
const TRACING_STORAGE: &str = "tracing storage";

/// The linked implementations, and the added ones.
fn all<T: ?Sized>(linked: &'static [LinkedType<T>], added: Vec<Arc<T>>) -> impl Iterator<Item = (TypeOrigin, Arc<T>)> {
    let linked = linked.iter().map(|linked| (TypeOrigin::Linked { place: linked.place }, (linked.make)()));
    linked.chain(added.into_iter().map(|added| (TypeOrigin::Added, added)))
}

/// Adds each implementation under its own name. Returns those whose name is taken.
fn add_all<T: ?Sized>(
    types: &mut ByType<T>,
    own: impl IntoIterator<Item = (TypeOrigin, Arc<T>)>,
    name: fn(&T) -> &str,
) -> Vec<TypeClash> {
    own.into_iter().filter_map(|(origin, own)| types.add(name(&own.clone()), origin, own).err()).collect()
}

/// The storage `RDB` is not in the catalog, but no other storage may have its name, in upper or lower case.
fn takes_rdb(storage: &AnyTracingStorage, origin: TypeOrigin) -> Option<TypeClash> {
    let (kind, name) = (TRACING_STORAGE, RDB.to_owned());
    let clash = TypeClash { kind, name, first: TypeOrigin::BuiltIn, second: origin };
    storage.type_name().eq_ignore_ascii_case(RDB).then_some(clash)
}

impl fmt::Debug for CatalogBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogBuilder")
            .field("sharding_strategies", &names(&self.sharding_strategies, ShardingStrategy::type_name))
            .field("listeners", &names(&self.listeners, AnyJobListener::type_name))
            .field("thread_pools", &names(&self.thread_pools, PoolSizeProvider::type_name))
            .field("job_types", &names(&self.job_types, AnyJobType::type_name))
            .field("error_handlers", &names(&self.error_handlers, AnyJobErrorHandler::type_name))
            .field("tracing_storages", &names(&self.tracing_storages, AnyTracingStorage::type_name))
            .finish()
    }
}

fn names<T: ?Sized>(types: &[Arc<T>], name: fn(&T) -> &str) -> Vec<&str> {
    types.iter().map(|one| name(one)).collect()
}

/// Names that two implementations have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct CatalogError(pub Vec<TypeClash>);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::api::Assignment;
    use crate::config::OptionNames;
    use crate::ident::{InstanceId, JobName};

    struct Named(&'static str);

    impl ShardingStrategy for Named {
        fn type_name(&self) -> &str {
            self.0
        }

        fn assign(&self, _: &JobName, _: &[InstanceId], _: u32) -> Assignment {
            Assignment::new()
        }
    }

    #[test]
    fn it_has_what_is_built_in_and_what_was_added() {
        let catalog = Catalog::builder().sharding_strategy(Named("ADDED")).build().unwrap();
        let names: Vec<&str> = catalog.sharding_strategies().names().collect();
        let all = ["ADDED", "AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", "SINGLE_SHARDING_BALANCE", "WHOLE"];
        assert_eq!(names, all);
    }

    #[test]
    fn names_that_are_taken_twice_are_all_told() {
        let builder = ["ODEVITY", "OWN", "OWN"]
            .into_iter()
            .fold(Catalog::builder(), |builder, name| builder.sharding_strategy(Named(name)));
        let error = builder.build().unwrap_err();
        assert_eq!(error.0.len(), 2);
        for part in ["'ODEVITY'", "built in and added by the program", "'OWN'"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    struct Listens(&'static str);

    impl JobListener for Listens {
        fn type_name(&self) -> &str {
            self.0
        }
    }

    impl OnceJobListener for Listens {
        fn type_name(&self) -> &str {
            self.0
        }
    }

    #[test]
    fn listeners_of_both_kinds_have_names_of_their_own() {
        let catalog = Catalog::builder().listener(Listens("audit")).once_listener(Listens("settle")).build().unwrap();
        assert_eq!(catalog.listeners().get("settle").unwrap().type_name(), "settle");
        let job = |name| JobConfiguration::builder("job", 1).job_listener_type(name).build().unwrap();
        assert_eq!(catalog.problems(&job("audit")), []);
        let problem = catalog.problems(&job("adit"))[0].to_string();
        for part in ["job-listener-types: there is no listener 'adit'", "audit (added by the program), settle"] {
            assert!(problem.contains(part), "{problem}");
        }
        let error = Catalog::builder().listener(Listens("a")).once_listener(Listens("a")).build().unwrap_err();
        assert!(error.to_string().contains("two of type 'a', each a listener"), "{error}");
    }

    /// The options of a type of jobs, or of an error handler, in the names of its documentation.
    fn options_of(owner: &str) -> OptionNames {
        let catalog = Catalog::builder().build().unwrap();
        match owner.split_once(' ').unwrap() {
            ("type", name) => catalog.job_types().get(name.trim_matches('`')).unwrap().handler().options(),
            ("handler", name) => catalog.error_handlers().get(name.trim_matches('`')).unwrap().options(),
            _ => JobKind::Dataflow.options(),
        }
    }

    #[test]
    fn the_page_of_settings_has_exactly_the_options_that_are_known() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, properties) = page.split_once("### Properties").unwrap();
        let properties = properties.split("\n#").next().unwrap();
        let mut documented: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
        for row in properties.lines().filter(|line| line.starts_with("| `")) {
            let [_, name, owner, _, meaning, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let older = meaning.split("Older name: `").skip(1).filter_map(|rest| rest.split('`').next());
            let names = std::iter::once(name.trim().trim_matches('`')).chain(older);
            documented.entry(owner.trim()).or_default().push(names.collect());
        }
        assert_eq!(documented.len(), 6, "{documented:?}");
        for (owner, names) in documented {
            assert_eq!(names, options_of(owner).iter().map(|names| names.to_vec()).collect::<Vec<_>>(), "{owner}");
        }
    }

    #[test]
    fn a_setting_that_refers_to_nothing_lists_what_there_is() {
        let catalog = Catalog::builder().sharding_strategy(Named("OWN")).build().unwrap();
        let job = |strategy| JobConfiguration::builder("job", 1).job_sharding_strategy_type(strategy).build().unwrap();
        assert_eq!(catalog.problems(&job("OWN")), []);
        let problems = catalog.problems(&job("RANDOM"));
        assert_eq!(problems.len(), 1);
        let problem = problems[0].to_string();
        for part in
            ["job-sharding-strategy-type", "'RANDOM'", "OWN (added by the program)", "AVG_ALLOCATION (built in)"]
        {
            assert!(problem.contains(part), "{problem}");
        }
    }
}
