//! Links of all documents: files, headings, and the index of the pages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::pages::{Page, pages_in, root};

/// All documents.
fn documents() -> Vec<PathBuf> {
    let folders = ["docs", "docs/guide"].map(|folder| pages_in(&root().join(folder)));
    let others = ["README.md", "CHANGELOG.md"].map(|name| root().join(name));
    folders.into_iter().flatten().chain(others).collect()
}

/// The targets of the links of a page.
fn links(page: &Page) -> impl Iterator<Item = &str> {
    page.text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// The names that links can have for the headings of a page.
fn headings(page: &Page) -> BTreeSet<String> {
    let lines = page.prose().filter(|line| line.starts_with('#'));
    lines.map(|line| heading(line.trim_start_matches('#').trim())).collect()
}

/// The name of a heading in a link, as GitHub makes it.
fn heading(title: &str) -> String {
    let kept = title.chars().filter(|character| character.is_alphanumeric() || [' ', '-', '_'].contains(character));
    kept.map(|character| if character == ' ' { '-' } else { character.to_ascii_lowercase() }).collect()
}

/// The problem of a link, if it leads nowhere.
fn broken(file: &Path, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (path, name) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { file.to_owned() } else { file.parent()?.join(path) };
    if !target.exists() {
        return Some(format!("{}: there is no {link}", file.display()));
    }
    let is_page = target.extension().is_some_and(|extension| extension == "md");
    if name.is_empty() || !is_page {
        return None;
    }
    let target = target.canonicalize().expect("it exists");
    let root = root().canonicalize().expect("the workspace has a path");
    let page = Page::read(&root_relative(&target, &root));
    (!headings(&page).contains(name)).then(|| format!("{}: {link} has no such heading", file.display()))
}

/// The path of a file as [`root`] has it.
fn root_relative(file: &Path, canonical_root: &Path) -> PathBuf {
    root().join(file.strip_prefix(canonical_root).expect("links stay in the repository"))
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut found = 0;
    let mut wrong = Vec::new();
    for file in documents() {
        let page = Page::read(&file);
        found += links(&page).count();
        wrong.extend(links(&page).filter_map(|link| broken(&file, link)));
    }
    assert!(found > 100, "the documents have links");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_link_to_a_heading_that_is_gone_is_found() {
    let readme = root().join("README.md");
    assert_eq!(broken(&readme, "docs/guide/failover-misfire.md#late-fires"), None);
    assert_eq!(broken(&readme, "#with-zookeeper"), None);
    for link in ["docs/guide/failover-misfire.md#early-fires", "docs/guide/none.md", "#nowhere"] {
        assert!(broken(&readme, link).is_some(), "{link}");
    }
}

#[test]
fn the_index_lists_every_page() {
    let index = Page::read(&root().join("docs/README.md"));
    let listed: BTreeSet<&str> = links(&index).collect();
    let folder = root().join("docs");
    for file in documents() {
        let Ok(inside) = file.strip_prefix(&folder) else { continue };
        let name = inside.display().to_string();
        assert!(name == "README.md" || listed.contains(name.as_str()), "docs/README.md does not list {name}");
    }
}

/// The files and folders that a page names in code style, from the top folder on.
fn named_paths(page: &Page) -> Vec<String> {
    const FOLDERS: [&str; 6] =
        ["docs/", "elasticjob/", "elasticjob-macros/", "elasticjob-starter/", "examples/", "tests/"];
    let spans = page.code_spans().into_iter();
    spans.filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)) && !span.contains(['*', ' '])).collect()
}

#[test]
fn the_files_that_developers_are_sent_to_exist() {
    for name in ["docs/howto.md", "docs/architecture.md"] {
        let page = Page::read(&root().join(name));
        let named = named_paths(&page);
        assert!(!named.is_empty(), "{name} names files");
        // `NAME` stands for a file to be written.
        for path in named.iter().filter(|path| !path.contains("NAME")) {
            assert!(root().join(path).exists(), "{name}: there is no {path}");
        }
    }
}
