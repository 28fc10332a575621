//! Reads YAML with the line of each value.

use std::collections::HashMap;

use elasticjob::yaml::{self, Limits, Place, Unreadable, Value};

use super::error::SettingError;
use super::node::{Node, NodeValue, Origin};

/// Far more than any settings need. With limits aliases of aliases cannot grow without end.
const LIMITS: Limits = Limits { bytes: 16 * 1024 * 1024, nodes: 100_000 };

/// The one document of a YAML text; an empty text is an empty map.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, SettingError> {
    let reader = Reader { file };
    match yaml::parse(text, LIMITS) {
        Ok(Some(root)) => reader.node(root),
        Ok(None) => Ok(Node { origin: Origin::line(file, 1), value: NodeValue::Null }),
        Err(Unreadable { place, reason }) if reason == yaml::SECOND_DOCUMENT => Err(reader
            .syntax(place, "a second document; settings of a profile belong in a file `application-{profile}.yaml`")),
        Err(Unreadable { place, reason }) => Err(reader.syntax(place, &reason)),
    }
}

struct Reader<'a> {
    file: &'a str,
}

impl Reader<'_> {
    fn syntax(&self, place: Place, reason: &str) -> SettingError {
        let reason = format!("not valid YAML at column {}: {reason}", place.column);
        SettingError::Syntax { origin: self.origin(place), reason }
    }

    fn origin(&self, place: Place) -> Origin {
        Origin::line(self.file, place.line)
    }

    fn node(&self, node: yaml::Node) -> Result<Node, SettingError> {
        let (origin, is_null) = (self.origin(node.place), node.is_null());
        let value = match node.value {
            Value::Scalar { .. } if is_null => NodeValue::Null,
            Value::Scalar { text, .. } => NodeValue::Text(text),
            Value::List(items) => {
                NodeValue::List(items.into_iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => NodeValue::Map(self.map(entries)?),
        };
        Ok(Node { origin, value })
    }

    fn map(&self, read: Vec<(yaml::Node, yaml::Node)>) -> Result<Vec<(String, Node)>, SettingError> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut merged = Vec::new();
        let mut places: HashMap<String, Place> = HashMap::new();
        for (key, value) in read {
            let place = key.place;
            let Value::Scalar { text: key, plain } = key.value else {
                return Err(self.syntax(place, "a key that is not a single value"));
            };
            let node = self.node(value)?;
            if key == "<<" && plain {
                self.merge(node, place, &mut merged)?;
                continue;
            }
            if let Some(first) = places.insert(key.clone(), place) {
                return Err(SettingError::Repeated {
                    key: format!("'{key}'"),
                    first: self.origin(first),
                    second: self.origin(place),
                });
            }
            // The place of a map is the line of its key, which is where a reader looks.
            let origin = match node.value {
                NodeValue::Text(_) => node.origin,
                _ => self.origin(place),
            };
            entries.push((key, Node { origin, value: node.value }));
        }
        for (key, node) in merged {
            if !entries.iter().any(|(known, _)| *known == key) {
                entries.push((key, node));
            }
        }
        Ok(entries)
    }

    /// `<<: *base` or `<<: [*one, *two]`: adds entries that the map does not have itself. Of entries with the same key
    /// the first one wins.
    fn merge(&self, node: Node, place: Place, into: &mut Vec<(String, Node)>) -> Result<(), SettingError> {
        match node.value {
            NodeValue::Map(entries) => into.extend(entries),
            NodeValue::List(maps) => {
                for map in maps {
                    self.merge(map, place, into)?;
                }
            }
            NodeValue::Null | NodeValue::Text(_) => {
                return Err(self.syntax(place, "`<<` merges maps, for example `<<: *base`"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalars(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        parse("a.yaml", text)
            .unwrap_or_else(|error| panic!("{error}"))
            .scalars("", &mut |key, value| all.push(format!("{key}={value}")));
        all
    }

    fn error(text: &str) -> String {
        parse("a.yaml", text).err().expect("an error").to_string()
    }

    fn line_of(node: &Node, path: &[&str]) -> String {
        let NodeValue::Map(entries) = &node.value else { return node.origin.to_string() };
        match path {
            [] => node.origin.to_string(),
            [key, rest @ ..] => line_of(&entries.iter().find(|(known, _)| known == key).unwrap().1, rest),
        }
    }

    #[test]
    fn scalars_stay_as_written_and_know_their_line() {
        let text = "a:\n  b: 007\n  my.dotted.Job: 1.10\n\nc: 'x: y'\nd: yes\n";
        assert_eq!(scalars(text), ["a.b=007", "a.my.dotted.Job=1.10", "c=x: y", "d=yes"]);
        let root = parse("a.yaml", text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(line_of(&root, &["a"]), "a.yaml:1");
        assert_eq!(line_of(&root, &["a", "b"]), "a.yaml:2");
        assert_eq!(line_of(&root, &["c"]), "a.yaml:5");
    }

    #[test]
    fn aliases_and_merged_maps_are_filled_in() {
        let text = "base: &base {x: 1, y: 2}\na:\n  <<: *base\n  y: 3\nb: {<<: [*base], z: *base}";
        assert_eq!(scalars(text), ["base.x=1", "base.y=2", "a.y=3", "a.x=1", "b.z.x=1", "b.z.y=2", "b.x=1", "b.y=2"]);
    }

    #[test]
    fn an_empty_text_and_comments_only_are_empty() {
        for text in ["", "# nothing\n", "---\n"] {
            assert!(scalars(text).is_empty());
        }
    }

    #[test]
    fn what_is_not_one_well_formed_document_is_refused_with_its_line() {
        assert!(error("a: 1\nb: 2\na: 3\n").starts_with("a.yaml:3: 'a' is given twice, first at a.yaml:1"));
        assert!(error("a: [1\nb: 2\n").starts_with("a.yaml:"), "{}", error("a: [1\nb: 2\n"));
        assert!(error("a: 1\n---\nb: 2\n").contains("a second document"));
        assert!(error("a: &x [*x]").contains("inside of what it stands for"));
        assert!(error(&"[".repeat(200)).contains("nested more than 64 deep"));
        assert!(error("a: 1\nb:\n\tc: 2\n").starts_with("a.yaml:3: not valid YAML"), "{}", error("a: 1\nb:\n\tc: 2\n"));
    }

    #[test]
    fn aliases_of_aliases_do_not_grow_without_end() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        assert!(error(&text).contains("more than 100000 values"));
    }
}
