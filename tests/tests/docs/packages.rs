//! The contents that every published package has: a registry of packages shows them, or asks for them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::house_rules::root;

/// What the table `[package]` of a manifest has to set, itself or by the workspace.
const KEYS: [&str; 5] = ["description", "license", "readme", "keywords", "categories"];

/// The folders of the packages of the workspace that are published.
fn published() -> Vec<PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest of the workspace");
    let members = manifest.split_once("\nmembers = [").expect("the workspace has members").1;
    let members = members.split_once(']').expect("the list of members ends").0;
    let folders = members.split('"').skip(1).step_by(2).map(|member| root().join(member));
    folders.filter(|folder| !manifest_of(folder).contains("\npublish = false")).collect()
}

fn manifest_of(folder: &Path) -> String {
    let manifest = folder.join("Cargo.toml");
    fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()))
}

/// What a manifest lacks.
fn lacking(manifest: &str) -> Vec<&'static str> {
    let tables: Vec<&str> = manifest.split("\n[").map(|table| table.trim_start_matches('[')).collect();
    let package = tables.iter().find(|table| table.starts_with("package]")).copied().unwrap_or_default();
    let is_set = |key: &str| {
        package.lines().any(|line| {
            let rest = line.strip_prefix(key).filter(|rest| rest.starts_with([' ', '.', '=']));
            rest.and_then(|rest| rest.split_once('='))
                .is_some_and(|(_, value)| !["", "\"\"", "[]"].contains(&value.trim()))
        })
    };
    let mut lacking: Vec<&str> = KEYS.into_iter().filter(|key| !is_set(key)).collect();
    if !tables.iter().any(|table| table.starts_with("package.metadata.docs.rs]")) {
        lacking.push("[package.metadata.docs.rs]");
    }
    lacking
}

#[test]
fn every_published_package_has_its_licence_and_says_what_it_is() {
    let folders = published();
    assert!(folders.len() >= 9, "{folders:?}");
    let licence = fs::read_to_string(root().join("LICENSE")).expect("the licence");
    let mut wrong = Vec::new();
    for folder in &folders {
        let place = folder.strip_prefix(root()).expect("a package of the workspace").display();
        if fs::read_to_string(folder.join("LICENSE")).ok().as_ref() != Some(&licence) {
            wrong.push(format!("{place}/LICENSE is not that of the repository: make it a link to it"));
        }
        let lacking = lacking(&manifest_of(folder));
        if !lacking.is_empty() {
            wrong.push(format!("{place}/Cargo.toml lacks {}", lacking.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_gate_packs_every_published_package_together() {
    let gate = fs::read_to_string(root().join(".ci/packages")).expect("the gate");
    let packed = gate.lines().find(|line| line.trim_start().starts_with("-p elasticjob-syntax")).expect("its packages");
    let words: Vec<&str> = packed.split_whitespace().collect();
    for folder in published() {
        let manifest = manifest_of(&folder);
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).expect("a name");
        assert!(words.contains(&name), ".ci/packages does not pack {name}");
    }
}

#[test]
fn the_rule_about_manifests_sees_what_is_missing_or_empty() {
    let whole = "[package]\nname = \"a\"\ndescription = \"b\"\nlicense.workspace = true\nreadme = \"c\"\n\
                 keywords = [\"d\"]\ncategories = [\"e\"]\n\n[package.metadata.docs.rs]\nall-features = true\n";
    assert!(lacking(whole).is_empty(), "{:?}", lacking(whole));
    assert_eq!(lacking(&whole.replace("keywords = [\"d\"]", "keywords = []")), ["keywords"]);
    assert_eq!(lacking(&whole.replace("description = ", "# description = ")), ["description"]);
    // A key of another table is not one of the package.
    let elsewhere = whole.replace("categories = [\"e\"]\n", "") + "categories = [\"e\"]\n";
    assert_eq!(lacking(&elsewhere), ["categories"]);
    assert_eq!(lacking(whole.split("\n\n").next().unwrap()), ["[package.metadata.docs.rs]"]);
}
