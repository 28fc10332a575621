//! The values that the application provides to its jobs.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An argument of a job function for which nothing was provided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("argument `{argument}: {wanted}` has nothing to be filled with: {remedy}; available: {available}")]
#[non_exhaustive]
pub struct MissingBean {
    /// Name of the argument.
    pub argument: &'static str,
    /// The name that the argument asks for, if it asks for one.
    pub bean: Option<&'static str>,
    /// The type that the argument asks for.
    pub wanted: String,
    /// The advice in the message.
    pub remedy: String,
    /// The values that the application provides.
    pub available: String,
}

#[derive(Debug, Clone)]
struct Bean {
    type_id: TypeId,
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

/// Values that are injected into job functions: one of each type, and any number by name.
#[derive(Debug, Clone, Default)]
pub struct Beans {
    by_type: Vec<Bean>,
    by_name: BTreeMap<String, Bean>,
}

impl Beans {
    /// Provides a value for its type. A value given before for that type is replaced and returned.
    pub fn provide<T: Send + Sync + 'static>(&mut self, value: T) -> Option<Arc<T>> {
        let bean = Bean::of(Arc::new(value));
        match self.by_type.iter_mut().find(|known| known.type_id == bean.type_id) {
            Some(known) => std::mem::replace(known, bean).value.downcast().ok(),
            None => {
                self.by_type.push(bean);
                None
            }
        }
    }

    /// Provides a value by name. Returns whether the name was free; a taken name keeps its value.
    pub fn provide_named<T: Send + Sync + 'static>(&mut self, name: impl Into<String>, value: T) -> bool {
        let name = name.into();
        if self.by_name.contains_key(&name) {
            return false;
        }
        self.by_name.insert(name, Bean::of(Arc::new(value)));
        true
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let wanted = TypeId::of::<T>();
        self.by_type.iter().find(|bean| bean.type_id == wanted).and_then(Bean::value)
    }

    /// The value with a name, when it is of that type.
    pub fn named<T: Send + Sync + 'static>(&self, name: &str) -> Option<Arc<T>> {
        self.by_name.get(name).and_then(Bean::value)
    }

    /// A list of all values, for an error message: types, then names with their types.
    pub fn listing(&self) -> String {
        let types = self.by_type.iter().map(|bean| format!("`{}`", bean.type_name));
        let names = self.by_name.iter().map(|(name, bean)| format!("\"{name}\" (`{}`)", bean.type_name));
        let all: Vec<String> = types.chain(names).collect();
        if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
    }
}

impl Bean {
    fn of<T: Send + Sync + 'static>(value: Arc<T>) -> Self {
        Self { type_id: TypeId::of::<T>(), type_name: type_name::<T>(), value }
    }

    fn value<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.value.clone().downcast().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_type_and_by_name() {
        let mut beans = Beans::default();
        assert!(beans.provide(7_u32).is_none());
        assert!(beans.provide_named("lucky", 8_u32));
        assert!(!beans.provide_named("lucky", 9_u32));
        assert_eq!(beans.get::<u32>().as_deref(), Some(&7));
        assert_eq!(beans.named::<u32>("lucky").as_deref(), Some(&8));
        assert!(beans.named::<u64>("lucky").is_none());
        assert_eq!(beans.listing(), "`u32`, \"lucky\" (`u32`)");
    }

    #[test]
    fn the_last_value_of_a_type_wins() {
        let mut beans = Beans::default();
        beans.provide(1_u8);
        assert_eq!(beans.provide(2_u8).as_deref(), Some(&1));
        assert_eq!(beans.get::<u8>().as_deref(), Some(&2));
    }
}
