//! What else a configuration has to fit to: types that the program has, options of handlers.

use std::fmt;
use std::sync::Arc;

use super::{Invalid, JobConfiguration};

/// Finds what a program cannot do of what a configuration asks for. Pure: the same answer for the same configuration.
/// Cheap to clone.
#[derive(Clone)]
pub struct ConfigurationCheck(Arc<Find>);

type Find = dyn Fn(&JobConfiguration) -> Vec<Invalid> + Send + Sync;

impl ConfigurationCheck {
    /// A check made of a function.
    pub fn new(find: impl Fn(&JobConfiguration) -> Vec<Invalid> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    /// Everything that is wrong.
    pub fn problems(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        (self.0)(configuration)
    }
}

/// Finds nothing wrong.
impl Default for ConfigurationCheck {
    fn default() -> Self {
        Self::new(|_| Vec::new())
    }
}

impl fmt::Debug for ConfigurationCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfigurationCheck").finish_non_exhaustive()
    }
}
