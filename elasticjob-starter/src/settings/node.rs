//! The content of a source, before it is matched with the known settings.

use std::fmt;

/// The place of a value: file and line, name of an environment variable, or name of an argument.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin(String);

impl Origin {
    pub(super) fn line(file: &str, line: usize) -> Self {
        Self(format!("{file}:{line}"))
    }

    pub(super) fn environment(name: &str) -> Self {
        Self(format!("environment variable {name}"))
    }

    pub(super) fn argument(name: &str) -> Self {
        Self(format!("argument --{name}"))
    }

    /// A place described by other code: an attribute, the builder.
    pub(crate) fn place(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value and its place. Scalars are kept as they are written, and the setting decides on their type, so that `007` as
/// a parameter stays `007`.
#[derive(Clone)]
pub(super) struct Node {
    pub origin: Origin,
    pub value: NodeValue,
}

#[derive(Clone)]
pub(super) enum NodeValue {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub fn text(origin: Origin, text: impl Into<String>) -> Self {
        Self { origin, value: NodeValue::Text(text.into()) }
    }

    /// The name of the value's kind, for messages where another kind was expected.
    pub fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "nothing",
            NodeValue::Text(_) => "a single value",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a map",
        }
    }

    /// Calls `found` with the dotted key of each scalar.
    pub fn scalars(&self, prefix: &str, found: &mut impl FnMut(&str, &str)) {
        match &self.value {
            NodeValue::Text(text) => found(prefix, text),
            NodeValue::Map(entries) => {
                for (key, node) in entries {
                    let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    node.scalars(&key, found);
                }
            }
            NodeValue::Null | NodeValue::List(_) => {}
        }
    }
}
