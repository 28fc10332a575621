//! The registry centers that the console shows.

use std::fmt;
use std::sync::Arc;

use elasticjob::operations::{Audit, Catalogue, Operations};
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::watched::WatchedRegistry;
use elasticjob::trace::{AnyTraceReader, Tracing};

/// A registry center, with the traces of its jobs.
pub struct Registry {
    name: String,
    center: Arc<dyn RegistryCenter>,
    catalogue: Catalogue,
    traces: Option<AnyTraceReader>,
    record: Option<Tracing>,
}

impl Registry {
    /// A registry center under this name. The name is a part of addresses: letters, digits, `-` and `_`.
    pub fn new(name: impl Into<String>, center: Arc<dyn RegistryCenter>) -> Self {
        let catalogue = Catalogue::new(WatchedRegistry::new(center.clone()));
        Self { name: name.into(), center, catalogue, traces: None, record: None }
    }

    /// Shows the runs and decisions that this reader finds.
    #[must_use]
    pub fn traces(self, traces: AnyTraceReader) -> Self {
        Self { traces: Some(traces), ..self }
    }

    /// Records what operators do in the decision log of this tracing.
    #[must_use]
    pub fn record(self, tracing: Tracing) -> Self {
        Self { record: Some(tracing), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name fits into an address without escapes.
    pub(crate) fn has_usable_name(&self) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        !self.name.is_empty() && self.name.chars().all(fits)
    }

    pub(crate) fn center(&self) -> &Arc<dyn RegistryCenter> {
        &self.center
    }

    pub(crate) fn trace_reader(&self) -> Option<&AnyTraceReader> {
        self.traces.as_ref()
    }

    /// The jobs as lists show them.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Operations for views. What was read is read again only where it changed.
    pub(crate) fn views(&self) -> &Operations {
        self.catalogue.views()
    }

    /// Operations that change something, for this operator.
    pub(crate) fn operations_of(&self, actor: &str, reason: &str) -> Operations {
        let operations = Operations::new(self.center.clone());
        match &self.record {
            Some(tracing) => operations.audited(Audit::new(tracing.clone(), actor).reason(reason)),
            None => operations,
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("name", &self.name).field("center", &self.center).finish_non_exhaustive()
    }
}
