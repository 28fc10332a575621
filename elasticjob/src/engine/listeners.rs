//! What an engine knows of listeners: their names, their order, and which are called once for the group.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::JobConfiguration;

/// When a listener is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Hook {
    /// Before the items of a round start.
    Before,
    /// After they ended.
    After,
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

/// How long an instance waits for the others of its group, and for whoever is called on behalf of all; `None` where
/// there is no limit.
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

/// All listeners that a program has, by type name.
#[derive(Debug, Clone, Default)]
pub struct KnownListeners(BTreeMap<Arc<str>, ListenerSpec>);

impl KnownListeners {
    /// The listeners that a configuration names, `None` when it names none.
    ///
    /// # Errors
    /// Says which name is not known, and which are.
    pub fn plan(&self, configuration: &JobConfiguration) -> Result<Option<ListenerPlan>, String> {
        let mut plan: Vec<ListenerSpec> = Vec::new();
        for name in configuration.listener_types() {
            let Some(spec) = self.0.get(name) else { return Err(self.unknown(name)) };
            // The registry may have a name twice: Java calls such a listener twice in a row.
            if !plan.contains(spec) {
                plan.push(spec.clone());
            }
        }
        plan.sort_by_key(|spec| spec.order);
        Ok((!plan.is_empty()).then(|| plan.into()))
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<&str> = self.0.keys().map(AsRef::as_ref).collect();
        let known = match known.is_empty() {
            true => "this program has none: register it where it is linked, or with `.listener(...)`".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        format!("job-listener-types: there is no listener '{name}'; {known}")
    }
}

impl FromIterator<ListenerSpec> for KnownListeners {
    fn from_iter<T: IntoIterator<Item = ListenerSpec>>(specs: T) -> Self {
        Self(specs.into_iter().map(|spec| (spec.type_name.clone(), spec)).collect())
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
        let plan = known.plan(&builder.build().unwrap())?;
        Ok(plan.iter().flat_map(|plan| plan.iter()).map(|spec| spec.type_name.to_string()).collect())
    }

    #[test]
    fn listeners_are_called_in_their_order_and_then_as_configured() {
        let known = KnownListeners::from_iter([spec("a", 5), spec("b", i32::MAX), spec("c", i32::MAX), spec("d", -1)]);
        assert_eq!(planned(&known, &["c", "b", "a", "d"]), Ok(["d", "a", "c", "b"].map(str::to_owned).to_vec()));
        assert_eq!(planned(&known, &[]), Ok(vec![]));
    }

    #[test]
    fn an_unknown_listener_is_named_with_those_there_are() {
        let known = KnownListeners::from_iter([spec("a", 0), spec("b", 0)]);
        let error = planned(&known, &["a", "x"]).unwrap_err();
        assert_eq!(error, "job-listener-types: there is no listener 'x'; there are a, b");
        assert!(planned(&KnownListeners::default(), &["x"]).unwrap_err().contains("this program has none"));
    }
}
