//! Listeners as an engine knows them: their names, their order, and which are called once for the group.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Invalid, JobConfiguration};
use crate::fire::Hook;
use crate::type_registry::{ByType, UnknownType};

/// The time that an instance waits for the others of its group, and for the call on behalf of all; `None` where there is no
/// limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnceTimeouts {
    /// Before the items start.
    pub started: Option<Duration>,
    /// After the own items ended.
    pub completed: Option<Duration>,
}

impl OnceTimeouts {
    /// The limit of a hook.
    pub fn of(&self, hook: Hook) -> Option<Duration> {
        match hook {
            Hook::Before => self.started,
            Hook::After => self.completed,
        }
    }
}

/// A listener as engines know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerSpec {
    /// The name in `job-listener-types`.
    pub type_name: Arc<str>,
    /// Listeners are called in ascending order; those of the same order as they are configured.
    pub order: i32,
    /// Set when it is called once for the group instead of on every instance.
    pub once: Option<OnceTimeouts>,
}

/// The listeners of a configuration, in the order in which they are called. There is at least one.
pub type ListenerPlan = Arc<[ListenerSpec]>;

/// All listeners that a program has, as engines know them.
pub type KnownListeners = ByType<ListenerSpec>;

impl KnownListeners {
    /// Only these listeners, added by the program.
    ///
    /// # Panics
    /// When two have one name.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn added(specs: impl IntoIterator<Item = ListenerSpec>) -> Self {
        let mut known = Self::new("listener");
        for spec in specs {
            known
                .add(&spec.type_name.clone(), crate::type_registry::TypeOrigin::Added, Arc::new(spec))
                .expect("each has its own name");
        }
        known
    }

    /// The listeners that a configuration names, `None` when it names none.
    ///
    /// # Errors
    /// Says which name is not known, and which are.
    pub(crate) fn plan(&self, configuration: &JobConfiguration) -> Result<Option<ListenerPlan>, Invalid> {
        let mut plan: Vec<ListenerSpec> = Vec::new();
        for name in configuration.listener_types() {
            let unknown = |unknown: UnknownType| Invalid::new("job-listener-types", unknown.message());
            let spec = self.get(name).map_err(unknown)?;
            // The registry may have a name twice: Java calls such a listener twice in a row.
            if !plan.contains(spec) {
                plan.push(ListenerSpec::clone(spec));
            }
        }
        plan.sort_by_key(|spec| spec.order);
        Ok((!plan.is_empty()).then(|| plan.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, order: i32) -> ListenerSpec {
        ListenerSpec { type_name: name.into(), order, once: None }
    }

    fn planned(known: &KnownListeners, names: &[&str]) -> Result<Vec<String>, String> {
        let builder = JobConfiguration::builder("job", 1);
        let builder = names.iter().fold(builder, |builder, name| builder.job_listener_type(*name));
        let plan = known.plan(&builder.build().unwrap()).map_err(|problem| problem.to_string())?;
        Ok(plan.iter().flat_map(|plan| plan.iter()).map(|spec| spec.type_name.to_string()).collect())
    }

    #[test]
    fn listeners_are_called_in_their_order_and_then_as_configured() {
        let known = KnownListeners::added([spec("a", 5), spec("b", i32::MAX), spec("c", i32::MAX), spec("d", -1)]);
        assert_eq!(planned(&known, &["c", "b", "a", "d"]), Ok(["d", "a", "c", "b"].map(str::to_owned).to_vec()));
        assert_eq!(planned(&known, &[]), Ok(vec![]));
    }

    #[test]
    fn an_unknown_listener_is_named_with_those_there_are() {
        let known = KnownListeners::added([spec("a", 0), spec("b", 0)]);
        let error = planned(&known, &["a", "x"]).unwrap_err();
        let known = "there are a (added by the program), b (added by the program)";
        assert_eq!(error, format!("job-listener-types: there is no listener 'x' in this program; {known}"));
    }
}
