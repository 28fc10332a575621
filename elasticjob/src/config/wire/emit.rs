//! A flat YAML document as SnakeYAML writes it.

/// Collects the lines of a document.
#[derive(Debug, Default)]
pub(super) struct Document(String);

impl Document {
    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.0.push_str(&format!("{key}: {}\n", quoted(value)));
    }

    pub(super) fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    pub(super) fn plain(&mut self, key: &str, value: impl std::fmt::Display) {
        self.0.push_str(&format!("{key}: {value}\n"));
    }

    pub(super) fn raw(&mut self, block: Option<&str>) {
        self.0.push_str(block.unwrap_or_default());
    }

    pub(super) fn list<'a>(&mut self, key: &str, values: impl Iterator<Item = &'a str>) {
        let mut values = values.peekable();
        if values.peek().is_some() {
            self.0.push_str(&format!("{key}:\n"));
        }
        values.for_each(|value| self.0.push_str(&format!("- {}\n", quoted(value))));
    }

    pub(super) fn map<'a>(&mut self, key: &str, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut pairs = pairs.peekable();
        if pairs.peek().is_some() {
            self.0.push_str(&format!("{key}:\n"));
        }
        pairs.for_each(|(key, value)| self.0.push_str(&format!("  {}: {}\n", quoted(key), quoted(value))));
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

fn quoted(text: &str) -> String {
    serde_yaml_ng::to_string(text).unwrap_or_default().trim_end().to_owned()
}
