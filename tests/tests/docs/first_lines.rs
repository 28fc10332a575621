//! The first lines of the documentation: lists of items and of modules show these alone.

use std::fs;

use crate::house_rules::{files_below, root};

/// The packages whose public items users read about, by their sources.
const READ_BY_USERS: [&str; 9] = [
    "elasticjob/src",
    "elasticjob-macros/src",
    "elasticjob-macros/syntax/src",
    "elasticjob-starter/src",
    "elasticjob-starter/cli/src",
    "elasticjob-starter/cloud/src",
    "elasticjob-starter/console/src",
    "elasticjob-starter/openmetrics/src",
    "elasticjob-starter/ports/src",
];

/// Words with which a line asks, and does not say what the item is. A `bool` may begin with `Whether`.
const ASKING: [&str; 4] = ["What", "How", "Who", "Which"];

/// The first lines of the documentation of a file and of its public items that begin with a word that asks.
fn asking_docs(code: &str) -> Vec<String> {
    let mut first = None;
    let mut in_attribute = false;
    // How far the variants of the public enum are indented that the line is in.
    let mut variants_at = None;
    let mut asking = Vec::new();
    let mut note = |line: &str| {
        let word = line.split(' ').next().unwrap_or_default();
        if ASKING.contains(&word) {
            asking.push(line.to_owned());
        }
    };
    if let Some(head) = code.strip_prefix("//! ").and_then(|text| text.lines().next()) {
        note(head);
    }
    for (indent, line) in code.lines().map(|line| (line.len() - line.trim_start().len(), line.trim())) {
        let is_variant = variants_at == Some(indent) && line.starts_with(char::is_uppercase);
        if line.starts_with("pub enum ") {
            variants_at = line.ends_with('{').then_some(indent + 4);
        } else if line == "}" && variants_at.is_some_and(|at| indent < at) {
            variants_at = None;
        }
        if let Some(doc) = line.strip_prefix("/// ") {
            first.get_or_insert(doc);
        } else if in_attribute || line.starts_with("#[") || line == "///" {
            in_attribute = (in_attribute || line.starts_with("#[")) && !line.ends_with(']');
        } else if let Some(first) = first.take().filter(|_| is_variant || line.starts_with("pub ")) {
            note(first);
        }
    }
    asking
}

#[test]
fn the_first_line_about_a_public_item_says_what_it_is() {
    let mut broken = Vec::new();
    for file in READ_BY_USERS.iter().flat_map(|folder| files_below(&root().join(folder))) {
        if file.extension().is_some_and(|extension| extension == "rs") {
            let code = fs::read_to_string(&file).expect("readable source");
            broken.extend(asking_docs(&code).into_iter().map(|line| format!("{}: {line}", file.display())));
        }
    }
    let remedy = "begin with a noun, or with a verb for what a function does";
    assert!(broken.is_empty(), "{remedy}:\n{}", broken.join("\n"));
}

#[test]
fn the_rule_about_first_lines_sees_heads_items_fields_and_variants_and_neither_private_ones_nor_later_lines() {
    for code in [
        "//! What it is.",
        "/// How it ends.\npub struct End;",
        "struct A {\n    /// Who did it.\n    #[serde(\n        default\n    )]\n    pub by: String,\n}",
        "pub enum End {\n    A,\n    /// How it ends.\n    #[default]\n    B { how: u8 },\n}",
        "/// Which one.\n///\n/// More.\n#[must_use]\npub fn one() {}",
    ] {
        assert_eq!(asking_docs(code).len(), 1, "{code}");
    }
    for code in [
        "/// How it ends.\nstruct End;",
        "/// How it ends.\npub(crate) struct End;",
        "pub enum End {\n    A,\n}\nenum B {\n    /// How it ends.\n    C,\n}",
        "/// The end.\n/// What else it is.\npub struct End;",
        "/// Whether it ended.\npub fn ended() -> bool {}",
        "/// Whatever it is.\npub fn any() {}",
    ] {
        assert!(asking_docs(code).is_empty(), "{code}");
    }
}
