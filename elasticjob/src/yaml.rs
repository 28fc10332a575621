//! Reads YAML of other programs: the configuration in the registry, the settings of a program.
//!
//! The reader takes the text event by event. So a text that is too large, is nested too deeply or has too many values
//! is refused while it is read, not after it. Scalars are kept as they are written, and the reader of a key decides on
//! their type: SnakeYAML writes by the rules of YAML 1.1, and this parser reads by the rules of 1.2.

mod old_forms;
pub(crate) mod snakeyaml;
pub(crate) mod yaml11_types;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput, Tag};

use old_forms::OldForms;

/// How deep lists and maps may be nested. No setting needs more than six levels.
const MAX_DEPTH: usize = 64;

/// The limits of a text.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of the text, and of its scalars after aliases were filled in.
    pub bytes: usize,
    /// Scalars, lists and maps, after aliases were filled in.
    pub nodes: usize,
}

/// The limits of the configuration of a job: far more than any job needs, and so small that the worst text costs a host only
/// some hundredths of a second.
pub(crate) const LIMITS_OF_CONFIGURATION: Limits = Limits { bytes: 256 * 1024, nodes: 10_000 };

/// A value and its place. Two nodes with the same value are equal, whatever their places are.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// Its tag, as it is written; [`Node::text`] interprets the only one that matters.
    tag: Option<String>,
    /// Its value.
    pub value: Value,
}

/// The value of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A single value as it is written, but with its quotes and escapes resolved.
    Scalar {
        /// The text.
        text: String,
        /// Whether it is written without quotes.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map, with repeated keys.
    Map(Vec<(Node, Node)>),
}

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// The reason why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Unreadable {
    /// The place of the problem.
    pub place: Place,
    /// The problem.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl From<Marker> for Place {
    fn from(marker: Marker) -> Self {
        Self { line: marker.line(), column: marker.col() + 1 }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.tag == other.tag && self.value == other.value
    }
}

impl Eq for Node {}

impl Node {
    /// The text of a single value; `None` where it is null, a list or a map.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Whether it is a null value.
    pub fn is_null(&self) -> bool {
        let is_text = || self.tag.as_deref() == Some("!!str");
        match &self.value {
            Value::Scalar { text, plain: true } => {
                matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") && !is_text()
            }
            _ => false,
        }
    }

    /// The name of its kind, for a message where another kind is expected.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { .. } if self.is_null() => "nothing",
            Value::Scalar { .. } => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// The one document of a text; `None` where it is empty or has only comments.
///
/// # Errors
/// [`Unreadable`] where it is no YAML, has more than one document, or exceeds a limit.
pub fn parse(text: &str, limits: Limits) -> Result<Option<Node>, Unreadable> {
    let start = Place { line: 1, column: 1 };
    if text.len() > limits.bytes {
        let reason = format!("it has {} bytes, and at most {} are read", text.len(), limits.bytes);
        return Err(Unreadable { place: start, reason: reason.into() });
    }
    let old = OldForms::of(text);
    let text = old.as_ref().map_or(text, OldForms::text);
    let left = Size { bytes: limits.bytes, nodes: limits.nodes };
    let parser = Parser::new_from_str(text);
    let mut reader = Reader { parser, old: old.as_ref(), anchors: BTreeMap::new(), limits, left };
    let mut root = None;
    loop {
        let (event, place) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(root),
            Event::DocumentStart(_) if root.is_some() => return Err(unreadable(place, SECOND_DOCUMENT)),
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            event => root = Some(reader.node(event, place, 0)?),
        }
    }
}

/// The message for a text with several documents.
pub const SECOND_DOCUMENT: &str = "a second document begins; only one is read";

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    old: Option<&'a OldForms>,
    /// The values of the anchors so far, with their sizes.
    anchors: BTreeMap<usize, (Node, Size)>,
    limits: Limits,
    left: Size,
}

#[derive(Debug, Clone, Copy)]
struct Size {
    bytes: usize,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Place), Unreadable> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, span.start.into())),
            Some(Err(error)) => Err(scan_error(&error)),
            // The end of the stream is an event of its own; no event is requested after it.
            None => Ok((Event::StreamEnd, Place { line: 1, column: 1 })),
        }
    }

    fn node(&mut self, event: Event<'a>, place: Place, depth: usize) -> Result<Node, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(too_deep(place));
        }
        let before = self.left;
        let (anchor, tag, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let text = match self.old {
                    Some(old) if style == ScalarStyle::Literal => old.restored_block(&text, place.line),
                    Some(old) => old.restored(&text),
                    None => text.into_owned(),
                };
                self.take(Size { bytes: text.len(), nodes: 1 }, place)?;
                (anchor, tag, Value::Scalar { text, plain: style == ScalarStyle::Plain })
            }
            Event::SequenceStart(anchor, tag) => {
                self.take(Size { bytes: 0, nodes: 1 }, place)?;
                (anchor, tag, Value::List(self.list(depth)?))
            }
            Event::MappingStart(anchor, tag) => {
                self.take(Size { bytes: 0, nodes: 1 }, place)?;
                (anchor, tag, Value::Map(self.map(depth)?))
            }
            Event::Alias(anchor) => {
                let Some(size) = self.anchors.get(&anchor).map(|(_, size)| *size) else {
                    return Err(unreadable(place, "an alias stands inside of what it stands for"));
                };
                self.take(size, place)?;
                return Ok(Node { place, ..self.anchors[&anchor].0.clone() });
            }
            other => return Err(unreadable(place, format!("unexpected {other:?}"))),
        };
        let node = Node { place, tag: tag.map(|tag| written(&tag)), value };
        if anchor > 0 {
            let size = Size { bytes: before.bytes - self.left.bytes, nodes: before.nodes - self.left.nodes };
            // The value is stored a second time.
            self.take(size, place)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        Ok(node)
    }

    fn take(&mut self, size: Size, place: Place) -> Result<(), Unreadable> {
        let nodes = self.left.nodes.checked_sub(size.nodes);
        let bytes = self.left.bytes.checked_sub(size.bytes);
        let (Some(nodes), Some(bytes)) = (nodes, bytes) else {
            let Limits { bytes, nodes } = self.limits;
            let reason = format!("more than {nodes} values, or {bytes} bytes in them, with what aliases stand for");
            return Err(unreadable(place, reason));
        };
        self.left = Size { bytes, nodes };
        Ok(())
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Unreadable> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, place) => items.push(self.node(event, place, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Node, Node)>, Unreadable> {
        let mut entries = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(entries),
                (event, place) => self.node(event, place, depth + 1)?,
            };
            let (event, place) = self.next()?;
            entries.push((key, self.node(event, place, depth + 1)?));
        }
    }
}

fn written(tag: &Tag) -> String {
    match tag.handle.as_str() {
        "tag:yaml.org,2002:" => format!("!!{}", tag.suffix),
        handle => format!("{handle}{}", tag.suffix),
    }
}

fn scan_error(error: &ScanError) -> Unreadable {
    let place = (*error.marker()).into();
    // The parser reads ahead. It may reach its own limit, which is larger, before this reader sees the values.
    if error.info() == "recursion limit exceeded" {
        return too_deep(place);
    }
    unreadable(place, error.info().to_owned())
}

fn too_deep(place: Place) -> Unreadable {
    unreadable(place, format!("lists and maps are nested more than {MAX_DEPTH} deep"))
}

fn unreadable(place: Place, reason: impl Into<Cow<'static, str>>) -> Unreadable {
    Unreadable { place, reason: reason.into() }
}

#[cfg(test)]
mod tests;
