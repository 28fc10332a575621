//! A flat YAML document as SnakeYAML writes it.

mod scalar;

use scalar::Writer;

/// Collects the entries of a document.
#[derive(Debug, Default)]
pub(crate) struct Document(Writer);

impl Document {
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.0.raw(&format!("{key}: "));
        self.0.value(value, 2);
    }

    pub(crate) fn plain(&mut self, key: &str, value: impl std::fmt::Display) {
        self.0.raw(&format!("{key}: {value}\n"));
    }

    /// Writes a list. Writes nothing for an empty list.
    pub(crate) fn list<'a>(&mut self, key: &str, values: impl IntoIterator<Item = &'a str>) {
        for (at, value) in values.into_iter().enumerate() {
            if at == 0 {
                self.0.raw(&format!("{key}:\n"));
            }
            self.0.raw("- ");
            self.0.value(value, 2);
        }
    }

    /// Writes a map. Writes nothing for an empty map.
    pub(crate) fn map<'a>(&mut self, key: &str, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) {
        for (at, (name, value)) in pairs.into_iter().enumerate() {
            if at == 0 {
                self.0.raw(&format!("{key}:\n"));
            }
            self.0.key(name, 2);
            self.0.value(value, 4);
        }
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_string()
    }
}
