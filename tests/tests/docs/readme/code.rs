//! Code of the pages: each block is taken from an example, or is the example of README.md, which is built.

use std::fs;

use super::pages::{Page, root};

/// The comment before a block of code that is taken from a file.
const FROM: &str = "<!-- from ";

#[test]
fn code_of_the_pages_is_the_same_in_an_example() {
    let mut found = 0;
    for page in Page::for_users() {
        let mut taken = 0;
        for part in page.text.split(FROM).skip(1) {
            let (file, rest) = part.split_once(" -->\n```rust\n").expect("a file and its code");
            let (code, _) = rest.split_once("```").expect("the end of the code");
            let source = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(source.contains(code), "{file} does not have the code that {} shows:\n{code}", page.name);
            taken += 1;
        }
        // The example of README.md is built and run.
        let built = usize::from(page.name == "README.md");
        let blocks = page.blocks("rust").len();
        assert_eq!(blocks, taken + built, "{}: a block of rust says which example it is from", page.name);
        found += taken;
    }
    assert!(found > 3, "the guide shows code of examples");
}

#[test]
fn every_example_is_listed_in_the_guide() {
    let page = Page::read(&root().join("docs/guide/jobs.md"));
    let entries = fs::read_dir(root().join("examples/src/bin")).expect("the folder of the examples");
    for entry in entries {
        let name = entry.expect("an entry of a folder").file_name().to_string_lossy().into_owned();
        assert!(page.text.contains(&format!("](../../examples/src/bin/{name})")), "{} does not list {name}", page.name);
    }
}
