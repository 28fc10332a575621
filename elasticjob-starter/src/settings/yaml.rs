//! Reads YAML with the line of each value.

use std::collections::HashMap;
use std::str::Chars;

use yaml_rust2::Event;
use yaml_rust2::parser::{Parser, Tag};
use yaml_rust2::scanner::{Marker, ScanError, TScalarStyle};

use super::error::SettingError;
use super::node::{Node, NodeValue, Origin};

const MAX_DEPTH: usize = 64;
/// Far more than any settings need; aliases of aliases cannot grow without end.
const MAX_NODES: usize = 100_000;

/// The one document of a YAML text; an empty text is an empty map.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, SettingError> {
    let mut reader = Reader { file, parser: Parser::new_from_str(text), anchors: HashMap::new(), nodes: 0 };
    let mut root = None;
    loop {
        let (event, mark) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart if root.is_some() => {
                return Err(reader.syntax(
                    &mark,
                    "a second document; settings of a profile belong in a file `application-{profile}.yaml`",
                ));
            }
            Event::StreamStart | Event::DocumentStart | Event::DocumentEnd | Event::Nothing => {}
            event => root = Some(reader.node(event, &mark, 0)?),
        }
    }
    Ok(root.unwrap_or_else(|| Node { origin: Origin::line(file, 1), value: NodeValue::Null }))
}

struct Reader<'a> {
    file: &'a str,
    parser: Parser<Chars<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<(Event, Marker), SettingError> {
        self.parser.next_token().map_err(|error: ScanError| {
            let mark = *error.marker();
            self.syntax(&mark, error.info())
        })
    }

    fn syntax(&self, mark: &Marker, reason: &str) -> SettingError {
        let reason = format!("not valid YAML at column {}: {reason}", mark.col() + 1);
        SettingError::Syntax { origin: Origin::line(self.file, mark.line()), reason }
    }

    fn node(&mut self, event: Event, mark: &Marker, depth: usize) -> Result<Node, SettingError> {
        if depth > MAX_DEPTH {
            return Err(self.syntax(mark, "nested too deeply"));
        }
        self.count(1, mark)?;
        let origin = Origin::line(self.file, mark.line());
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => (anchor, scalar(text, style, tag.as_ref())),
            Event::SequenceStart(anchor, _) => (anchor, NodeValue::List(self.list(depth)?)),
            Event::MappingStart(anchor, _) => (anchor, NodeValue::Map(self.map(depth)?)),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.syntax(mark, "an alias inside of what it stands for"));
                };
                self.count(size(&node), mark)?;
                return Ok(node);
            }
            other => return Err(self.syntax(mark, &format!("unexpected {other:?}"))),
        };
        let node = Node { origin, value };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn count(&mut self, nodes: usize, mark: &Marker) -> Result<(), SettingError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES { Err(self.syntax(mark, "too many values")) } else { Ok(()) }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, SettingError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, mark) => items.push(self.node(event, &mark, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(String, Node)>, SettingError> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut merged = Vec::new();
        let mut lines: HashMap<String, usize> = HashMap::new();
        loop {
            let (key, mark) = match self.next()? {
                (Event::MappingEnd, _) => break,
                (Event::Scalar(key, style, ..), mark) => ((key, style), mark),
                (_, mark) => return Err(self.syntax(&mark, "a key that is not a single value")),
            };
            let (key, style) = key;
            let (event, value_mark) = self.next()?;
            let node = self.node(event, &value_mark, depth + 1)?;
            if key == "<<" && style == TScalarStyle::Plain {
                self.merge(node, &mark, &mut merged)?;
                continue;
            }
            if let Some(first) = lines.insert(key.clone(), mark.line()) {
                return Err(SettingError::Repeated {
                    key: format!("'{key}'"),
                    first: Origin::line(self.file, first),
                    second: Origin::line(self.file, mark.line()),
                });
            }
            // The line of a map is that of its key, which is what a reader looks for.
            let origin = match node.value {
                NodeValue::Text(_) => node.origin,
                _ => Origin::line(self.file, mark.line()),
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

    /// `<<: *base` or `<<: [*one, *two]`: entries that the map does not have itself, the first one of a key wins.
    fn merge(&self, node: Node, mark: &Marker, into: &mut Vec<(String, Node)>) -> Result<(), SettingError> {
        match node.value {
            NodeValue::Map(entries) => into.extend(entries),
            NodeValue::List(maps) => {
                for map in maps {
                    self.merge(map, mark, into)?;
                }
            }
            NodeValue::Null | NodeValue::Text(_) => {
                return Err(self.syntax(mark, "`<<` merges maps, for example `<<: *base`"));
            }
        }
        Ok(())
    }
}

fn scalar(text: String, style: TScalarStyle, tag: Option<&Tag>) -> NodeValue {
    let plain = style == TScalarStyle::Plain && tag.is_none_or(|tag| tag.suffix != "str");
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" if plain => NodeValue::Null,
        _ => NodeValue::Text(text),
    }
}

fn size(node: &Node) -> usize {
    match &node.value {
        NodeValue::Null | NodeValue::Text(_) => 1,
        NodeValue::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        NodeValue::Map(entries) => 1 + entries.iter().map(|(_, node)| size(node)).sum::<usize>(),
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
        assert!(error("a: &x [*x]").contains("alias inside"));
        assert!(error(&"[".repeat(200)).contains("nested too deeply"));
        assert!(error("a: 1\nb:\n\tc: 2\n").starts_with("a.yaml:3: not valid YAML"), "{}", error("a: 1\nb:\n\tc: 2\n"));
    }

    #[test]
    fn aliases_of_aliases_do_not_grow_without_end() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        assert!(error(&text).contains("too many values"));
    }
}
