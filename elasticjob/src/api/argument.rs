//! Arguments of job functions: found when the program starts, handed over at each run.

use std::any::type_name;
use std::ops::Deref;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Beans, MissingBean, ShardingContext};

/// The place of an argument, for lookups and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentSite {
    /// Name of the argument.
    pub name: &'static str,
    /// The name given with `#[bean("...")]`.
    pub bean: Option<&'static str>,
}

/// A type that the argument of a job function may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a job function",
    label = "not an argument of a job function",
    note = "take a `ShardingContext`, an `Inject<T>` of something the application provides, a `CancellationToken`, or \
            `#[bean(\"name\")]` with a `OneOffJob` or `ScheduleJob`"
)]
pub trait JobArgument: Sized {
    /// The part that is found once, at the start of the program.
    type Bound: Send + Sync + 'static;

    /// Finds what the argument needs.
    ///
    /// # Errors
    /// [`MissingBean`] when the application does not provide it.
    fn bind(beans: &Beans, site: ArgumentSite) -> Result<Self::Bound, MissingBean>;

    /// The argument for one run of one item.
    fn take(bound: &Self::Bound, context: &ShardingContext) -> Self;
}

impl JobArgument for ShardingContext {
    type Bound = ();

    fn bind(_: &Beans, _: ArgumentSite) -> Result<(), MissingBean> {
        Ok(())
    }

    fn take((): &(), context: &ShardingContext) -> Self {
        context.clone()
    }
}

impl JobArgument for CancellationToken {
    type Bound = ();

    fn bind(_: &Beans, _: ArgumentSite) -> Result<(), MissingBean> {
        Ok(())
    }

    fn take((): &(), context: &ShardingContext) -> Self {
        context.cancellation_token().clone()
    }
}

/// A value that the application provides: `ElasticJobApp::builder().provide(value)`, or by name with
/// `provide_named("name", value)` and `#[bean("name")]` before the argument.
#[derive(Debug)]
pub struct Inject<T>(Arc<T>);

impl<T> Inject<T> {
    /// Wraps a value, for calling a job function in a test.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// The shared value.
    pub fn into_inner(self) -> Arc<T> {
        self.0
    }
}

impl<T> Clone for Inject<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Inject<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> JobArgument for Inject<T> {
    type Bound = Arc<T>;

    fn bind(beans: &Beans, site: ArgumentSite) -> Result<Arc<T>, MissingBean> {
        let found = match site.bean {
            Some(name) => beans.named(name),
            None => beans.get(),
        };
        found.ok_or_else(|| MissingBean {
            argument: site.name,
            bean: site.bean,
            wanted: format!("Inject<{}>", type_name::<T>()),
            remedy: match site.bean {
                Some(name) => format!("provide it with `.provide_named(\"{name}\", value)`"),
                None => "provide a value of that type with `.provide(value)`".to_owned(),
            },
            available: beans.listing(),
        })
    }

    fn take(bound: &Arc<T>, _: &ShardingContext) -> Self {
        Self(Arc::clone(bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_is_named_with_what_is_there() {
        let mut beans = Beans::default();
        beans.provide(7_u32);
        let site = ArgumentSite { name: "pool", bean: None };
        let error = <Inject<String> as JobArgument>::bind(&beans, site).unwrap_err().to_string();
        for part in ["`pool: Inject<alloc::string::String>`", ".provide(value)", "available: `u32`"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
