//! Implementations by type name, to which settings such as `job-sharding-strategy-type` refer. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use elasticjob_syntax::message::Message;

use crate::texts;

/// The implementations of one kind that a process has, each under its own name.
pub struct ByType<T: ?Sized> {
    kind: &'static str,
    known: BTreeMap<Box<str>, Entry<T>>,
    /// Names that are built in only with a cargo feature, each with that feature.
    features: &'static [(&'static str, &'static str)],
}

struct Entry<T: ?Sized> {
    origin: TypeOrigin,
    value: Arc<T>,
}

/// The origin of an implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeOrigin {
    /// It is part of this library.
    BuiltIn,
    /// It registered itself when the program was linked.
    Linked {
        /// File and line of the registration.
        place: &'static str,
    },
    /// The program added it.
    Added,
}

/// Two implementations of one kind have the same name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two of type '{name}', each a {kind}: {first} and {second}; give the own one another type name")]
#[non_exhaustive]
pub struct TypeClash {
    /// The kind of both, for example `sharding strategy`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The origin of the first one.
    pub first: TypeOrigin,
    /// The origin of the other one.
    pub second: TypeOrigin,
}

/// No implementation has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub struct UnknownType {
    /// The kind, for example `sharding strategy`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The names that exist.
    pub known: String,
    /// The cargo feature with which it is built in.
    pub feature: Option<&'static str>,
}

impl UnknownType {
    /// The message: the implementation that is missing, and those that there are.
    pub fn message(&self) -> Message {
        let Self { kind, name, known, feature } = self;
        match feature {
            Some(feature) => texts::type_not_built_in(*kind, name, *feature, known),
            None => texts::type_unknown(*kind, name, known),
        }
    }
}

impl<T: ?Sized> ByType<T> {
    /// An empty registry. `kind` names its implementations in messages.
    pub fn new(kind: &'static str) -> Self {
        Self::with_features(kind, &[])
    }

    /// The same, where some names are built in only with a cargo feature.
    pub(crate) fn with_features(kind: &'static str, features: &'static [(&'static str, &'static str)]) -> Self {
        Self { kind, known: BTreeMap::new(), features }
    }

    /// Adds an implementation.
    ///
    /// # Errors
    /// [`TypeClash`] when the name is taken; the first one stays.
    pub fn add(&mut self, name: &str, origin: TypeOrigin, value: Arc<T>) -> Result<(), TypeClash> {
        if let Some(first) = self.known.get(name) {
            return Err(TypeClash { kind: self.kind, name: name.to_owned(), first: first.origin, second: origin });
        }
        self.known.insert(name.into(), Entry { origin, value });
        Ok(())
    }

    /// The implementation with this name.
    ///
    /// # Errors
    /// [`UnknownType`] lists all names that exist.
    pub fn get(&self, name: &str) -> Result<&Arc<T>, UnknownType> {
        let found = self.known.get(name).map(|entry| &entry.value);
        found.ok_or_else(|| {
            let feature = self.features.iter().find(|(built_in, _)| *built_in == name).map(|(_, feature)| *feature);
            UnknownType { kind: self.kind, name: name.to_owned(), known: self.listing(), feature }
        })
    }

    /// Whether a name belongs to an implementation that is not part of this library.
    pub fn is_own(&self, name: &str) -> bool {
        self.known.get(name).is_some_and(|entry| entry.origin != TypeOrigin::BuiltIn)
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(AsRef::as_ref)
    }

    /// All implementations, in the order of their names.
    pub fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        self.known.values().map(|entry| &entry.value)
    }

    fn listing(&self) -> String {
        let all: Vec<String> = self.known.iter().map(|(name, entry)| format!("{name} ({})", entry.origin)).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    }
}

impl<T: ?Sized> fmt::Debug for ByType<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.known.iter().map(|(name, entry)| (name, entry.origin))).finish()
    }
}

impl fmt::Display for TypeOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Linked { place } => write!(f, "linked, {place}"),
            Self::Added => f.write_str("added by the program"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours() -> ByType<str> {
        let mut colours: ByType<str> = ByType::new("colour");
        colours.add("RED", TypeOrigin::BuiltIn, "red".into()).unwrap();
        colours.add("BLUE", TypeOrigin::Linked { place: "src/blue.rs:3" }, "blue".into()).unwrap();
        colours
    }

    #[test]
    fn a_name_finds_its_implementation_and_an_unknown_one_all_there_are() {
        let colours = colours();
        assert_eq!(&**colours.get("BLUE").unwrap(), "blue");
        assert_eq!(colours.names().collect::<Vec<_>>(), ["BLUE", "RED"]);
        assert!(colours.is_own("BLUE") && !colours.is_own("RED") && !colours.is_own("GREEN"));
        assert_eq!(
            colours.get("red").unwrap_err().to_string(),
            "there is no colour 'red' in this program; there are BLUE (linked, src/blue.rs:3), RED (built in)"
        );
        assert!(ByType::<str>::new("colour").get("RED").unwrap_err().to_string().ends_with("there are none"));
    }

    #[test]
    fn a_name_that_a_feature_has_built_in_names_the_feature() {
        let colours: ByType<str> = ByType::with_features("colour", &[("GREEN", "nature")]);
        let told = colours.get("GREEN").unwrap_err().to_string();
        assert!(told.contains("without the feature `nature`"), "{told}");
        assert!(!colours.get("RED").unwrap_err().to_string().contains("feature"));
    }

    #[test]
    fn a_name_that_is_taken_names_both_and_leaves_the_first() {
        let mut colours = colours();
        let clash = colours.add("BLUE", TypeOrigin::Added, "navy".into()).unwrap_err().to_string();
        for part in ["'BLUE'", "colour", "linked, src/blue.rs:3", "added by the program", "another type name"] {
            assert!(clash.contains(part), "{clash}");
        }
        assert_eq!(&**colours.get("BLUE").unwrap(), "blue");
    }
}
