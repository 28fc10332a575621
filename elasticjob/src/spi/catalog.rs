//! The catalog: all that settings can refer to by type name, in one value that is handed down.

use std::fmt;
use std::sync::Arc;

use super::{SHARDING_STRATEGIES, TypeClash, TypeOrigin};
use crate::api::ShardingStrategy;
use crate::config::{Invalid, JobConfiguration};
use crate::engine::strategy::ShardingStrategies;

/// What the jobs of a process can name in their settings: what is built in, what was linked, what was added by hand.
///
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Catalog {
    sharding_strategies: Arc<ShardingStrategies>,
}

impl Catalog {
    /// Starts with what is built in and what was linked into the program.
    pub fn builder() -> CatalogBuilder {
        CatalogBuilder::default()
    }

    /// The sharding strategies.
    pub fn sharding_strategies(&self) -> &Arc<ShardingStrategies> {
        &self.sharding_strategies
    }

    /// The settings of a configuration that refer to nothing there is.
    pub fn problems(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        self.sharding_strategies.problem(configuration).into_iter().collect()
    }
}

/// Adds to a [`Catalog`] by hand.
#[derive(Clone, Default)]
pub struct CatalogBuilder {
    sharding_strategies: Vec<Arc<dyn ShardingStrategy>>,
}

impl CatalogBuilder {
    /// Adds a sharding strategy.
    #[must_use]
    pub fn sharding_strategy(mut self, strategy: impl ShardingStrategy + 'static) -> Self {
        self.sharding_strategies.push(Arc::new(strategy));
        self
    }

    /// Puts everything together.
    ///
    /// # Errors
    /// [`CatalogError`] with all names that are taken twice.
    pub fn build(self) -> Result<Catalog, CatalogError> {
        let linked = SHARDING_STRATEGIES.iter().map(|linked| {
            let origin = TypeOrigin::Linked { place: linked.place };
            (origin, (linked.make)())
        });
        let added = self.sharding_strategies.into_iter().map(|strategy| (TypeOrigin::Added, strategy));
        let mut strategies = ShardingStrategies::built_in();
        let mut clashes = Vec::new();
        for (origin, strategy) in linked.chain(added) {
            let name = strategy.type_name().to_owned();
            clashes.extend(strategies.add(&name, origin, strategy).err());
        }
        if clashes.is_empty() {
            Ok(Catalog { sharding_strategies: Arc::new(strategies) })
        } else {
            Err(CatalogError(clashes))
        }
    }
}

impl fmt::Debug for CatalogBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.sharding_strategies.iter().map(|strategy| strategy.type_name()).collect();
        f.debug_struct("CatalogBuilder").field("sharding_strategies", &names).finish()
    }
}

/// Names that are taken twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct CatalogError(pub Vec<TypeClash>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Assignment;
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
        let all = ["ADDED", "AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", "SINGLE_SHARDING_BALANCE"];
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
