//! The nodes that `docs/registry-layout.md` lists are the nodes of the code, and the records that it shows are records as
//! they are written, byte for byte.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use elasticjob::fire::{FireRecord, Hook};
use elasticjob::ident::JobName;
use elasticjob::operations::ConfigurationRefusal;
use elasticjob::registry::layout::{ItemNode, JobPath};
use elasticjob::testing::{DependencyRecord, OnceCalls};

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/registry-layout.md");
    fs::read_to_string(page).expect("the page can be read")
}

/// The nodes in the first cells of the table, and the plain parents in the paragraph below it.
fn listed(page: &str) -> Vec<&str> {
    let (_, nodes) = page.split_once("## Nodes\n").expect("the section of the nodes");
    let (table, rest) = nodes.split_once("\n\n`servers`").expect("the paragraph of the parents");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let (parents, _) = rest.split_once(" are plain parents").expect("the paragraph of the parents");
    let parents = parents.split('`').filter(|part| part.starts_with(|first: char| first.is_alphabetic()));
    rows.map(|(node, _)| node).chain(["servers"]).chain(parents).filter(|node| *node != "{namespace}").collect()
}

/// The nodes of the code, by the comments of its enums.
fn in_code() -> BTreeSet<String> {
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("../elasticjob/src/registry/layout/path.rs");
    let code = fs::read_to_string(code).expect("readable source");
    let (enums, _) = code.split_once("impl JobPath").expect("the methods after the enums");
    let (paths, of_items) = enums.split_once("pub enum ItemNode").expect("two enums");
    let nodes = |text: &str, above: &str| -> Vec<String> {
        let nodes = text.lines().filter_map(|line| line.strip_prefix("    /// `")?.split('`').next());
        nodes
            .map(|node| if node.starts_with("sharding/{i}") { node.to_owned() } else { format!("{above}{node}") })
            .collect()
    };
    let all = nodes(paths, "").into_iter().chain(nodes(of_items, "sharding/{i}/"));
    let all = all.map(|node| node.replace("/{job}", "{job}").replace("latch/{name}", "latch/_c_{uuid}-latch-{n}"));
    let all: BTreeSet<String> = all.collect();
    assert!(all.len() > 30, "{all:?}");
    all
}

#[test]
fn every_node_that_the_page_lists_is_a_node_of_the_code_and_no_other_is() {
    let (page, job) = (page(), JobName::new("job").expect("a name"));
    let mut nodes = BTreeSet::new();
    for node in listed(&page) {
        let example = node
            .replace("{job}", "")
            .replace("{id}", "10.0.0.1@-@7")
            .replace("{ip}", "10.0.0.1")
            .replace("{i}", "0")
            .replace("{session}", "2a");
        let absolute = format!("/job/{example}");
        let path = JobPath::parse(&job, absolute.trim_end_matches('/')).unwrap_or_else(|| panic!("{node} is no node"));
        assert!(!matches!(path, JobPath::Item(_, ItemNode::Other(_))), "{node} is no node of an item");
        assert_eq!(path.to_string(), example, "{node}");
        nodes.insert(path);
    }
    let parents: BTreeSet<JobPath> = nodes.iter().filter_map(JobPath::parent).collect();
    let unlisted: Vec<&JobPath> = parents.difference(&nodes).collect();
    assert!(unlisted.is_empty(), "the page lists nodes below {unlisted:?}, and not these");
    let listed: BTreeSet<String> = listed(&page).into_iter().map(str::to_owned).collect();
    let missing: Vec<String> = in_code().into_iter().filter(|node| !listed.contains(node)).collect();
    assert!(missing.is_empty(), "nodes of the code that the page does not list: {missing:?}");
}

#[test]
fn every_record_that_the_page_shows_is_read_and_written_as_it_stands_there() {
    let page = page();
    let records = page.split("```json\n").skip(1).filter_map(|part| part.split_once("\n```"));
    let (mut states, mut hooks) = (Vec::new(), Vec::new());
    for (record, _) in records {
        if record.contains("\"calls\"") {
            let read = OnceCalls::parse(record.as_bytes());
            assert_eq!(String::from_utf8_lossy(&read.to_bytes()), record);
            hooks.extend(read.calls.iter().map(|call| call.hook));
            continue;
        }
        if record.contains("\"decided\"") {
            let read = DependencyRecord::parse(record.as_bytes()).expect("a record");
            assert_eq!(serde_json::to_string(&read).expect("it is JSON"), record);
            continue;
        }
        if record.contains("\"joined\"") {
            let read: ConfigurationRefusal = serde_json::from_str(record).expect("a note");
            assert_eq!(serde_json::to_string(&read).expect("it is JSON"), record);
            continue;
        }
        let read = FireRecord::parse(record.as_bytes());
        assert_eq!(String::from_utf8_lossy(&read.to_bytes()), record);
        states.extend(read.last.map(|begun| (begun.source, begun.state)));
    }
    states.dedup();
    assert_eq!(hooks, [Hook::Before, Hook::After]);
    assert!(states.len() > 4, "a record of each kind: {states:?}");
}
