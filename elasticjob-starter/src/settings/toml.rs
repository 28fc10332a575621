//! Reads TOML with the line of each value.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::SettingError;
use super::node::{Node, NodeValue, Origin};

/// The document of a TOML text.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, SettingError> {
    let lines = Lines { file, text };
    let table = DeTable::parse(text).map_err(|error| SettingError::Syntax {
        origin: error.span().map_or_else(|| Origin::line(file, 1), |span| lines.origin(span.start)),
        reason: format!("not valid TOML: {}", error.message()),
    })?;
    Ok(Node { origin: Origin::line(file, 1), value: lines.table(table.into_inner())? })
}

struct Lines<'a> {
    file: &'a str,
    text: &'a str,
}

impl Lines<'_> {
    fn origin(&self, offset: usize) -> Origin {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        Origin::line(self.file, 1 + before.iter().filter(|byte| **byte == b'\n').count())
    }

    fn table(&self, table: DeTable<'_>) -> Result<NodeValue, SettingError> {
        let mut entries: Vec<(usize, String, Node)> = Vec::new();
        for (key, value) in table {
            let at = key.span().start;
            let node = Node { origin: self.origin(at), value: self.value(value)? };
            entries.push((at, key.into_inner().into_owned(), node));
        }
        entries.sort_by_key(|(at, ..)| *at);
        Ok(NodeValue::Map(entries.into_iter().map(|(_, key, node)| (key, node)).collect()))
    }

    fn value(&self, value: Spanned<DeValue<'_>>) -> Result<NodeValue, SettingError> {
        let at = value.span().start;
        Ok(match value.into_inner() {
            DeValue::String(text) => NodeValue::Text(text.into_owned()),
            DeValue::Integer(number) => {
                let parsed = i64::from_str_radix(number.as_str(), number.radix());
                let parsed = parsed.map_err(|error| SettingError::Syntax {
                    origin: self.origin(at),
                    reason: format!("not valid TOML: {error}"),
                })?;
                NodeValue::Text(parsed.to_string())
            }
            DeValue::Float(number) => NodeValue::Text(number.as_str().to_owned()),
            DeValue::Boolean(value) => NodeValue::Text(value.to_string()),
            DeValue::Datetime(time) => NodeValue::Text(time.to_string()),
            DeValue::Array(items) => {
                let mut list = Vec::new();
                for item in items {
                    let origin = self.origin(item.span().start);
                    list.push(Node { origin, value: self.value(item)? });
                }
                NodeValue::List(list)
            }
            DeValue::Table(table) => self.table(table)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_in_the_order_of_the_file_and_know_their_line() {
        let text = "[elasticjob.reg-center]\nserver-lists = \"a:1\"\nmax-retries = 0x10\n\n[elasticjob.jobs.\"a.b\"]\n\
                    failover = true\nratio = 1.50\n";
        let root = parse("a.toml", text).unwrap_or_else(|error| panic!("{error}"));
        let mut all = Vec::new();
        root.scalars("", &mut |key, value| all.push(format!("{key}={value}")));
        assert_eq!(
            all,
            [
                "elasticjob.reg-center.server-lists=a:1",
                "elasticjob.reg-center.max-retries=16",
                "elasticjob.jobs.a.b.failover=true",
                "elasticjob.jobs.a.b.ratio=1.50",
            ]
        );
    }

    #[test]
    fn what_is_not_well_formed_is_refused_with_its_line() {
        let error = |text: &str| parse("a.toml", text).err().expect("an error").to_string();
        assert!(error("a = 1\nb = \n").starts_with("a.toml:2: not valid TOML"), "{}", error("a = 1\nb = \n"));
        assert!(error("a = 1\na = 2\n").starts_with("a.toml:2: "), "{}", error("a = 1\na = 2\n"));
        assert!(error("a = 99999999999999999999\n").starts_with("a.toml:1: "));
    }
}
