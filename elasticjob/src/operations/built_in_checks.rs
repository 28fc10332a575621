//! The checks of a configuration that every program makes, as far as they are known without the programs.

use elasticjob_syntax::suggest::nearest;

use crate::config::{BoundOptions, Invalid, JobConfiguration, JobKind};
use crate::error_handlers::ErrorHandlers;
use crate::executor::ThreadPools;
use crate::job_types::JobTypes;
use crate::sharding::ShardingStrategies;

/// The types that every program has, with their checks. Any other type may be one of the program's own.
#[derive(Debug)]
pub(super) struct BuiltIn {
    job_types: JobTypes,
    error_handlers: ErrorHandlers,
    strategies: ShardingStrategies,
    thread_pools: ThreadPools,
}

impl BuiltIn {
    pub(super) fn new() -> Self {
        Self {
            job_types: JobTypes::built_in(),
            error_handlers: ErrorHandlers::built_in(),
            strategies: ShardingStrategies::built_in(),
            thread_pools: ThreadPools::built_in(),
        }
    }

    pub(super) fn strategies(&self) -> &ShardingStrategies {
        &self.strategies
    }

    /// The reasons why programs refuse a configuration of the registry center. `class` is the name in the root node of
    /// the job: its class, or its type where it has no code.
    pub(super) fn problems(&self, configuration: &JobConfiguration, class: &str) -> Vec<Invalid> {
        let job_type = self.job_types.get(class).ok().filter(|_| JobKind::named(class).is_none());
        // The kind of a job with code is not known here. The only property that such a kind reads is not used by any
        // other type.
        let of_code = || JobKind::Dataflow.check().problems(configuration);
        let of_type = job_type.map_or_else(of_code, |job_type| job_type.handler().check().problems(configuration));
        let handler = self.error_handlers.get(configuration.error_handler_type()).ok();
        let of_handler = handler.map(|handler| handler.check(configuration)).unwrap_or_default();
        // Programs have secrets of their own, so options that are missing here may be there.
        of_type.into_iter().chain(of_handler).filter(|problem| !configuration.leaves_to_program(problem)).collect()
    }

    /// How programs handle properties of the registry center that they have themselves.
    pub(super) fn notes<'a>(&self, keys: impl Iterator<Item = &'a str>) -> Vec<String> {
        keys.filter_map(|key| self.bound().find_map(|bound| bound.note(key))).collect()
    }

    /// The same for the commands, addresses and secrets that a configuration has, each once. A mail server without a
    /// password does not count: programs write their own, without the password.
    pub(super) fn bound_notes(&self, configuration: &JobConfiguration) -> Vec<String> {
        let first = |bound: &BoundOptions| match bound {
            BoundOptions::Command(names) => names[0].iter().copied().find(|key| configuration.prop(key).is_some()),
            BoundOptions::Secret { secrets, .. } => {
                secrets.iter().copied().find(|key| configuration.prop(key).is_some())
            }
        };
        self.bound().filter_map(|bound| bound.note(first(bound)?)).collect()
    }

    fn bound(&self) -> impl Iterator<Item = &BoundOptions> {
        let of_types = self.job_types.values().map(|job_type| job_type.handler().bound_options());
        let of_handlers = self.error_handlers.values().map(|handler| handler.bound_options());
        of_types.chain(of_handlers).flatten()
    }

    /// The settings that name a type which is not built in, with its name, and the built-in one that may be meant: the
    /// programs of the job must have that type.
    pub(super) fn own_types(&self, configuration: &JobConfiguration) -> Vec<String> {
        let strategy = self.strategies.problem(configuration).map(|_| configuration.sharding_strategy_type());
        let pool = self.thread_pools.problem(configuration).and_then(|_| configuration.thread_pool_type());
        let handler = Some(configuration.error_handler_type()).filter(|name| self.error_handlers.get(name).is_err());
        let types = [
            ("job-sharding-strategy-type", strategy, nearest_of(strategy, self.strategies.names())),
            ("job-executor-thread-pool-size-provider-type", pool, nearest_of(pool, self.thread_pools.names())),
            ("job-error-handler-type", handler, nearest_of(handler, self.error_handlers.names())),
        ];
        let types = types.into_iter().filter_map(|(setting, name, near)| Some((setting, name?, near)));
        let listeners = configuration.listener_types().map(|name| ("job-listener-types", name, None));
        let text = |(setting, name, near): (&str, &str, Option<&str>)| match near {
            Some(near) => format!("{setting} '{name}' (did you mean '{near}'?)"),
            None => format!("{setting} '{name}'"),
        };
        types.chain(listeners).map(text).collect()
    }
}

fn nearest_of<'a>(name: Option<&str>, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name?, known)
}
