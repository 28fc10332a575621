//! The listeners of a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use linkme::distributed_slice;

use crate::api::JobListener;
use crate::engine::KnownListeners;

/// The listeners of the program. Filled when linking, by [`register_listener!`](crate::register_listener) and
/// [`register_once_listener!`](crate::register_once_listener).
#[distributed_slice]
pub static LISTENERS: [ListenerDescriptor];

/// A listener found when linking.
#[derive(Debug, Clone, Copy)]
pub struct ListenerDescriptor {
    /// File and line of its registration.
    pub place: &'static str,
    /// Makes it; called once.
    pub make: fn() -> JobListener,
}

/// Two listeners of one type name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two listeners have the type name '{type_name}': {first} and {second}; give one of them another name")]
pub struct DuplicateListener {
    /// The name.
    pub type_name: String,
    /// Where one comes from.
    pub first: String,
    /// Where the other one comes from.
    pub second: String,
}

/// All listeners of a program by type name: those that were linked, and those that were added by hand.
#[derive(Debug, Default)]
pub struct ListenerCatalog {
    listeners: BTreeMap<Arc<str>, (JobListener, String)>,
    known: Arc<KnownListeners>,
}

impl ListenerCatalog {
    /// The listeners that were linked into the program, and these.
    ///
    /// # Errors
    /// [`DuplicateListener`] where two have one name.
    pub fn of_program(added: impl IntoIterator<Item = JobListener>) -> Result<Self, DuplicateListener> {
        let linked = LISTENERS.iter().map(|descriptor| ((descriptor.make)(), format!("that of {}", descriptor.place)));
        Self::of(linked.chain(added.into_iter().map(|listener| (listener, "one added by hand".to_owned()))))
    }

    fn of(listeners: impl IntoIterator<Item = (JobListener, String)>) -> Result<Self, DuplicateListener> {
        let mut catalog = Self::default();
        for (listener, origin) in listeners {
            let name = listener.spec().type_name.clone();
            if let Some((_, first)) = catalog.listeners.get(&name) {
                let (type_name, first) = (name.to_string(), first.clone());
                return Err(DuplicateListener { type_name, first, second: origin });
            }
            catalog.listeners.insert(name, (listener, origin));
        }
        let specs = catalog.listeners.values().map(|(listener, _)| listener.spec().clone());
        catalog.known = Arc::new(specs.collect());
        Ok(catalog)
    }

    /// The listener with a type name.
    pub fn get(&self, type_name: &str) -> Option<&JobListener> {
        self.listeners.get(type_name).map(|(listener, _)| listener)
    }

    /// What engines know of them.
    pub fn known(&self) -> &Arc<KnownListeners> {
        &self.known
    }
}

/// Registers an [`ElasticJobListener`](crate::api::ElasticJobListener) when the program is linked.
///
/// Takes an expression that makes it, evaluated once at start: `register_listener!(Audit)`. In a library crate whose name
/// stands nowhere in the program it is not linked: `use my_listeners as _;` makes it appear.
#[macro_export]
macro_rules! register_listener {
    ($listener:expr) => {
        $crate::__register_listener!(every_instance, $listener);
    };
}

/// Registers a [`DistributeOnceElasticJobListener`](crate::api::DistributeOnceElasticJobListener) when the program is
/// linked, as [`register_listener!`](crate::register_listener) does the other kind.
#[macro_export]
macro_rules! register_once_listener {
    ($listener:expr) => {
        $crate::__register_listener!(once, $listener);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __register_listener {
    ($kind:ident, $listener:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::spi::LISTENERS)]
            #[linkme(crate = $crate::__private::linkme)]
            static __LISTENER: $crate::spi::ListenerDescriptor = $crate::spi::ListenerDescriptor {
                place: ::core::concat!(::core::file!(), ":", ::core::line!()),
                make: || $crate::api::JobListener::$kind($listener),
            };
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ElasticJobListener;

    struct Named(&'static str);

    impl ElasticJobListener for Named {
        fn type_name(&self) -> &str {
            self.0
        }
    }

    fn named(name: &'static str) -> (JobListener, String) {
        (JobListener::every_instance(Named(name)), format!("the one of {name}"))
    }

    #[test]
    fn a_listener_is_found_by_its_type_name() {
        let catalog = ListenerCatalog::of([named("a"), named("b")]).unwrap();
        assert_eq!(catalog.get("b").map(JobListener::type_name), Some("b"));
        assert!(catalog.get("c").is_none());
    }

    #[test]
    fn a_name_is_given_once() {
        let (twin, _) = named("a");
        let error = ListenerCatalog::of([named("a"), named("b"), (twin, "another one".to_owned())]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "two listeners have the type name 'a': the one of a and another one; give one of them another name"
        );
    }
}
