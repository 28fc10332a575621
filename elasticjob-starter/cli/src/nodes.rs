//! `elasticjob nodes`: a node of the registry center with its children.

use elasticjob::operations::{Node, NodeLevel, Operations};
use elasticjob::schedule::{TimeZone, format_rfc3339};
use serde::Serialize;

use crate::Console;
use crate::args::Nodes;
use crate::failure::Failure;
use crate::table::{Table, json};

#[derive(Serialize)]
struct Told<'a> {
    node: NodeTold<'a>,
    children: Vec<NodeTold<'a>>,
    /// How many children it has.
    total: usize,
    /// What `--after` is for the next page.
    next: Option<&'a str>,
}

/// Times are in milliseconds since 1970.
#[derive(Serialize)]
struct NodeTold<'a> {
    path: &'a str,
    /// Secrets are masked and control characters escaped.
    data: &'a str,
    bytes: usize,
    version: i32,
    created: i64,
    changed: i64,
    /// The session that it ends with.
    session: Option<String>,
}

impl<'a> From<&'a Node> for NodeTold<'a> {
    fn from(node: &'a Node) -> Self {
        Self {
            path: &node.path,
            data: &node.data,
            bytes: node.bytes,
            version: node.version,
            created: node.created,
            changed: node.changed,
            session: node.session.map(|session| session.to_string()),
        }
    }
}

pub(crate) async fn nodes(
    operations: &Operations,
    wanted: &Nodes,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let level = operations.node(&wanted.path, &wanted.after, wanted.limit.into()).await?;
    let level = level.ok_or_else(|| Failure::NoNode(wanted.path.as_str().to_owned()))?;
    Ok(if as_json { told(&level) } else { text(&level, console) })
}

fn told(level: &NodeLevel) -> String {
    let children = level.children.iter().map(NodeTold::from).collect();
    json(&Told { node: (&level.node).into(), children, total: level.total, next: level.next.as_deref() })
}

fn text(level: &NodeLevel, console: &mut Console<'_>) -> String {
    let zone = TimeZone::local().unwrap_or(TimeZone::UTC);
    let node = &level.node;
    let changed = |node: &Node| format_rfc3339(node.changed, zone);
    let mut text = format!(
        "{}: {} bytes, version {}, created {}, changed {}",
        node.shown_path(),
        node.bytes,
        node.version,
        format_rfc3339(node.created, zone),
        changed(node)
    );
    if let Some(session) = node.session {
        text.push_str(&format!(", ends with session {session}"));
    }
    text.push('\n');
    text.extend(node.data.lines().map(|line| format!("  {line}\n")));
    if !level.children.is_empty() {
        let mut table = Table::new(["NODE", "BYTES", "VERSION", "CHANGED", "SESSION"]);
        for child in &level.children {
            table.row([
                child.shown_path(),
                child.bytes.to_string(),
                child.version.to_string(),
                changed(child),
                child.session.map(|session| session.to_string()).unwrap_or_default(),
            ]);
        }
        text.push_str(&table.into_text());
    }
    if let Some(next) = &level.next {
        let _ = writeln!(console.stderr, "note: of {} children some follow: add --after '{next}'", level.total);
    }
    text
}
