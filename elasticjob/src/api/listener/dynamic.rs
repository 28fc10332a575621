//! Listeners of both kinds as one type.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::{JobListener, JobResult, ListenerContext, OnceJobListener};
use crate::engine::{AGES, ListenerSpec, OnceTimeouts};
use crate::fire::Hook;

/// A call of a listener.
type ListenerFuture<'a> = Pin<Box<dyn Future<Output = JobResult> + Send + 'a>>;

/// A listener of either kind.
pub struct AnyJobListener {
    spec: ListenerSpec,
    hooks: Box<dyn Hooks>,
}

impl AnyJobListener {
    /// A listener that every instance calls.
    pub fn every_instance(listener: impl JobListener) -> Self {
        let spec = ListenerSpec { type_name: listener.type_name().into(), order: listener.order(), once: None };
        Self { spec, hooks: Box::new(EveryInstance(listener)) }
    }

    /// A listener that is called once for the group.
    pub fn once(listener: impl OnceJobListener) -> Self {
        let limit = |timeout: Duration| Some(timeout).filter(|timeout| !timeout.is_zero() && *timeout < AGES);
        let timeouts =
            OnceTimeouts { started: limit(listener.started_timeout()), completed: limit(listener.completed_timeout()) };
        let spec =
            ListenerSpec { type_name: listener.type_name().into(), order: listener.order(), once: Some(timeouts) };
        Self { spec, hooks: Box::new(Once(listener)) }
    }

    /// The name in `job-listener-types`.
    pub fn type_name(&self) -> &str {
        &self.spec.type_name
    }

    /// The listener in the form that engines use.
    pub(crate) fn spec(&self) -> &ListenerSpec {
        &self.spec
    }

    /// Calls the listener.
    pub(crate) async fn call(&self, hook: Hook, context: &ListenerContext) -> JobResult {
        self.hooks.call(hook, context).await
    }
}

impl fmt::Debug for AnyJobListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyJobListener").field(&self.spec).finish()
    }
}

/// The hooks of a listener, called through a pointer.
trait Hooks: Send + Sync {
    fn call<'a>(&'a self, hook: Hook, context: &'a ListenerContext) -> ListenerFuture<'a>;
}

struct EveryInstance<L>(L);

impl<L: JobListener> Hooks for EveryInstance<L> {
    fn call<'a>(&'a self, hook: Hook, context: &'a ListenerContext) -> ListenerFuture<'a> {
        match hook {
            Hook::Before => Box::pin(self.0.before_job_executed(context)),
            Hook::After => Box::pin(self.0.after_job_executed(context)),
        }
    }
}

struct Once<L>(L);

impl<L: OnceJobListener> Hooks for Once<L> {
    fn call<'a>(&'a self, hook: Hook, context: &'a ListenerContext) -> ListenerFuture<'a> {
        match hook {
            Hook::Before => Box::pin(self.0.at_last_started(context)),
            Hook::After => Box::pin(self.0.at_last_completed(context)),
        }
    }
}
