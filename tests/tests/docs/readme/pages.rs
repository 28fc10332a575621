//! The pages for users, and their parts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// README.md has fewer lines than this; a manual stands in `docs/guide`.
const README_LINES: usize = 180;

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the workspace")
}

/// A page in Markdown.
pub struct Page {
    /// Its path below the top folder.
    pub name: String,
    pub text: String,
}

impl Page {
    pub fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.strip_prefix(root()).expect("a file of the repository").display().to_string();
        Self { name, text }
    }

    pub fn readme() -> Self {
        Self::read(&root().join("README.md"))
    }

    /// README.md, the pages of the guide, and what is written by hand of the page of settings.
    pub fn for_users() -> Vec<Self> {
        let guide = pages_in(&root().join("docs/guide"));
        assert!(guide.len() > 3, "the guide has pages");
        let settings =
            Self::read(&root().join("docs/settings.md")).between("## Where they come from", "## The program");
        [Self::readme(), settings].into_iter().chain(guide.iter().map(|file| Self::read(file))).collect()
    }

    /// The part of the page from a heading to another one.
    fn between(self, from: &str, to: &str) -> Self {
        let part = self.text.split_once(from).and_then(|(_, rest)| rest.split_once(to));
        let (text, _) = part.unwrap_or_else(|| panic!("{} has {from} before {to}", self.name));
        Self { text: text.to_owned(), ..self }
    }

    /// The blocks of code in a language; the empty name is that of blocks without one.
    pub fn blocks(&self, language: &str) -> Vec<String> {
        let mut blocks = Vec::new();
        let mut lines = self.text.lines();
        while let Some(opening) = lines.find_map(|line| line.strip_prefix("```")) {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if opening == language {
                blocks.push(block.join("\n") + "\n");
            }
        }
        blocks
    }

    /// The texts in code style in paragraphs and tables.
    pub fn code_spans(&self) -> BTreeSet<String> {
        let text = self.prose().collect::<Vec<_>>().join(" ");
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// The lines outside of blocks of code.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let mut in_block = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.starts_with("```");
            in_block ^= is_fence;
            !in_block && !is_fence
        })
    }
}

/// The pages in a folder, in the order of their names.
pub fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.expect("an entry of a folder").path());
    let mut pages: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages
}

#[test]
fn the_readme_is_a_first_page_and_no_manual() {
    let lines = Page::readme().text.lines().count();
    assert!(lines < README_LINES, "README.md has {lines} lines: move details to docs/guide");
}
