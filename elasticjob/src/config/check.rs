//! Checks beyond a single setting: types that the program must have, properties that a type of job needs.

use std::fmt;
use std::sync::Arc;

use super::{Invalid, JobConfiguration};
use crate::panics::catch_blocking;

/// Finds the parts of a configuration that a program cannot do. Pure: the same answer for the same configuration. Cheap
/// to clone.
#[derive(Clone, Default)]
pub struct ConfigurationCheck(Option<Arc<Find>>);

type Find = dyn Fn(&JobConfiguration) -> Vec<Invalid> + Send + Sync;

impl ConfigurationCheck {
    /// A check made of a function. The default one finds nothing wrong.
    pub fn new(find: impl Fn(&JobConfiguration) -> Vec<Invalid> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(find)))
    }

    /// The problems that either check finds.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (_, None) => self.clone(),
            (None, _) => other.clone(),
            (Some(one), Some(other)) => {
                let (one, other) = (Arc::clone(one), Arc::clone(other));
                Self::new(move |configuration| [one(configuration), other(configuration)].concat())
            }
        }
    }

    /// All problems.
    pub fn problems(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        self.0.as_ref().map(|find| find(configuration)).unwrap_or_default()
    }
}

/// The problems that a check of the user's code finds. A panic of it is a problem of the setting that names the code,
/// as the check is called by the driver of a job.
pub(crate) fn caught(setting: &'static str, check: impl FnOnce() -> Vec<Invalid>) -> Vec<Invalid> {
    let problem = |panic| vec![Invalid::new(setting, format!("its check failed: {panic}"))];
    catch_blocking(check).unwrap_or_else(problem)
}

impl fmt::Debug for ConfigurationCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfigurationCheck").finish_non_exhaustive()
    }
}
