//! The house rules: what the code must not contain, and which room of the library imports which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The modules that compute and do nothing else: the same inputs give the same outputs, which is what lets the simulator
/// replay a history from its seed.
const PURE: [&str; 19] = [
    "carried",
    "texts",
    "clock",
    "fire",
    "job_status",
    "sharding",
    "schedule",
    "engine",
    "config",
    "type_registry",
    "registry/layout",
    "registry/tree",
    "registry/group_commit",
    "registry/mirror",
    "yaml",
    "ident",
    "secret",
    "escaped",
    "problems",
];

/// What pure modules do not name, and why.
const IMPURE: [(&[&str], &str); 9] = [
    (&["HashMap"], "its order differs from run to run: take a BTreeMap"),
    (&["HashSet"], "its order differs from run to run: take a BTreeSet"),
    (&["tokio"], "a pure module neither waits nor spawns"),
    (&["async"], "a pure module does not wait"),
    (&["await"], "a pure module does not wait"),
    (&["rand"], "chance comes in as an argument"),
    (&["RandomState"], "chance comes in as an argument"),
    (&["thread"], "a pure module has no threads"),
    (&[":", ":", "now"], "the time comes in as an argument"),
];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the workspace")
}

/// All files of the repository, without what git ignores: the build output, and what is hidden but `.ci`.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let entry = entry.expect("an entry of a folder");
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().expect("what an entry is");
        if name == "target" || (name.starts_with('.') && name != ".ci") {
            continue;
        }
        if kind.is_dir() {
            files.extend(files_below(&entry.path()));
        } else if kind.is_file() && !name.ends_with(".swp") {
            files.push(entry.path());
        }
    }
    files
}

/// The files of a module, which is `name.rs`, `name/` or both; without those that hold only tests.
pub fn sources_of(module: &str) -> Vec<PathBuf> {
    let source = root().join("elasticjob/src");
    let mut files = Vec::new();
    let folder = source.join(module);
    if folder.is_dir() {
        files.extend(files_below(&folder));
    }
    files.push(source.join(format!("{module}.rs")));
    files.retain(|file| {
        let inside = file.strip_prefix(&source).expect("a file of the source folder");
        file.is_file()
            && file.extension().is_some_and(|extension| extension == "rs")
            && !inside.iter().any(|part| part == "tests" || part == "tests.rs")
    });
    files
}

/// The code as a flat list of words, without comments, texts and what is compiled for tests only.
fn words(code: &str) -> Vec<String> {
    code_of(code, false)
}

/// The code without what is compiled for tests only, and without the `#` of attributes.
pub fn code_of_programs(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut kept = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                let is_test_only = matches!(tokens.peek(), Some(TokenTree::Group(attribute))
                    if attribute.stream().to_string().replace(' ', "") == "cfg(test)");
                if is_test_only {
                    // The item ends with its braces, or with a semicolon where it has none.
                    let ends_item = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(punct) => punct.as_char() == ';',
                        _ => false,
                    };
                    while tokens.next().is_some_and(|token| !ends_item(&token)) {}
                }
            }
            TokenTree::Group(group) => {
                kept.push(Group::new(group.delimiter(), code_of_programs(group.stream())).into());
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

/// The words of the code, or its texts instead.
fn code_of(code: &str, texts: bool) -> Vec<String> {
    fn collect(tokens: TokenStream, texts: bool, into: &mut Vec<String>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => collect(group.stream(), texts, into),
                TokenTree::Literal(literal) if texts => into.push(literal.to_string()),
                TokenTree::Ident(ident) if !texts => into.push(ident.to_string()),
                TokenTree::Punct(punct) if !texts => into.push(punct.as_char().to_string()),
                _ => {}
            }
        }
    }
    let mut into = Vec::new();
    collect(code_of_programs(code.parse().expect("valid Rust")), texts, &mut into);
    into
}

/// What of [`IMPURE`] the code names.
fn impurities(code: &str) -> Vec<String> {
    let words = words(code);
    let names = |pattern: &[&str]| words.windows(pattern.len()).any(|window| window == pattern);
    let broken = IMPURE.iter().filter(|(pattern, _)| names(pattern));
    broken.map(|(pattern, why)| format!("`{}`: {why}", pattern.concat())).collect()
}

#[test]
fn pure_modules_name_no_clock_no_chance_no_task_and_no_unordered_collection() {
    let mut broken = Vec::new();
    for module in PURE {
        let files = sources_of(module);
        assert!(!files.is_empty(), "the pure module `{module}` is gone: name the one that took its place in PURE");
        for file in files {
            let code = fs::read_to_string(&file).expect("readable source");
            let place = file.strip_prefix(root()).expect("a file of the workspace").display().to_string();
            broken.extend(impurities(&code).into_iter().map(|what| format!("{place} names {what}")));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_purity_rule_sees_code_and_neither_comments_nor_texts_nor_tests() {
    for (impure, count) in [
        ("use std::collections::HashMap;", 1),
        ("fn f() { let now = Instant::now(); std::thread::sleep(x); }", 2),
        ("async fn f() { g().await }", 2),
        ("#[cfg(test)] use a::b; fn f() { tokio::spawn(x) }", 1),
        ("#[derive(Debug)] struct S { set: HashSet<u8> }", 1),
    ] {
        assert_eq!(impurities(impure).len(), count, "{impure}: {:?}", impurities(impure));
    }
    for pure in [
        "// HashMap\n/// tokio\nfn f() -> &'static str { \"Instant::now\" }",
        "#[cfg(test)]\nmod tests { use std::collections::HashMap; }",
        "fn f(now: Instant, brand: Thread) { now; thread_id }",
    ] {
        assert!(impurities(pure).is_empty(), "{pure}: {:?}", impurities(pure));
    }
}

#[test]
fn a_program_for_which_no_tests_are_built_has_none() {
    let mut seen = 0;
    for manifest in files_below(root()).iter().filter(|file| file.ends_with("Cargo.toml")) {
        let text = fs::read_to_string(manifest).expect("a manifest that can be read");
        for program in text.split("\n[").filter(|table| table.starts_with("[bin]]") && table.contains("\ntest = false"))
        {
            let value = |key: &str| {
                let line = program.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
                line.map(|value| value.trim_matches('"').to_owned())
            };
            let name = value("name").expect("a program has a name");
            let file = value("path").unwrap_or_else(|| format!("src/bin/{name}.rs"));
            let file = manifest.parent().expect("a manifest is in a folder").join(file);
            let code = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert!(!code.contains("test]") && !code.contains("cfg(test)"), "{}", file.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} programs");
}

#[test]
fn no_file_names_a_path_of_the_machine_it_was_written_on() {
    let root = root().canonicalize().expect("the workspace has a path");
    let mut private: Vec<String> = ["home", "Users", "root"].iter().map(|folder| format!("/{folder}/")).collect();
    // A root such as `/src` is too short to be taken for the folder of a user.
    if root.components().count() > 2 {
        private.push(root.display().to_string());
    }
    let mut broken = Vec::new();
    for file in files_below(&root) {
        // What is no text, for example a picture, names nothing.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for (number, line) in text.lines().enumerate() {
            if private.iter().any(|path| line.contains(path.as_str())) {
                broken.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_example_in_the_documentation_is_compiled() {
    let fence = "`".repeat(3);
    let mut broken = Vec::new();
    for file in files_below(root()) {
        if file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("readable source");
        let is_ignored = |line: &str| {
            let doc = line.trim_start().trim_start_matches(['/', '!']).trim_start();
            doc.strip_prefix(&fence).is_some_and(|kind| kind.split(',').any(|word| word.trim() == "ignore"))
        };
        let lines = text.lines().enumerate().filter(|(_, line)| is_ignored(line));
        broken.extend(lines.map(|(number, _)| format!("{}:{}", file.display(), number + 1)));
    }
    assert!(broken.is_empty(), "examples that are not even compiled:\n{}", broken.join("\n"));
}

/// The macros of `tracing` that log.
const LOGGING: [&str; 6] = ["error", "warn", "info", "debug", "trace", "event"];

/// Whether the code takes a macro that logs from `tracing` itself.
fn logs_unguarded(code: &str) -> bool {
    let words = words(code);
    let places =
        (0..words.len()).filter(|place| words[*place..].starts_with(&["tracing".into(), ":".into(), ":".into()]));
    places.into_iter().any(|place| {
        let named: Vec<&str> = words[place + 3..].iter().map(String::as_str).take(12).collect();
        let list: Vec<&str> = match named.as_slice() {
            // What is imported together stands there with commas.
            [_, ",", ..] => named.split(|word| *word == ";").next().unwrap_or_default().to_vec(),
            [name, ..] => vec![name],
            [] => vec![],
        };
        list.iter().any(|name| LOGGING.contains(name))
    })
}

#[test]
fn what_the_library_logs_never_unwinds_into_it() {
    let mut broken = Vec::new();
    let starter = ["src", "cli/src", "cloud/src", "console/src", "openmetrics/src", "ports/src"]
        .map(|part| format!("elasticjob-starter/{part}"));
    for folder in starter.iter().map(String::as_str).chain(["elasticjob/src"]) {
        for file in files_below(&root().join(folder)) {
            let place = file.strip_prefix(root()).expect("a file of the workspace").display().to_string();
            let is_code = file.extension().is_some_and(|extension| extension == "rs");
            if is_code
                && place != "elasticjob/src/log.rs"
                && logs_unguarded(&fs::read_to_string(&file).expect("source"))
            {
                broken.push(place);
            }
        }
    }
    let remedy = "take the macros of elasticjob::log (in the starter of elasticjob::__private::log)";
    assert!(broken.is_empty(), "a subscriber that panics would end these; {remedy}: {}", broken.join(", "));
}

#[test]
fn the_rule_about_the_log_sees_imports_and_paths() {
    for code in ["use tracing::warn;", "use ::tracing::{info, warn};", "fn f() { tracing::error!(\"x\") }"] {
        assert!(logs_unguarded(code), "{code}");
    }
    for code in
        ["use crate::log::{error, warn};", "use tracing::field::{Field, Visit};", "mod tracing { fn error() {} }"]
    {
        assert!(!logs_unguarded(code), "{code}");
    }
}

/// The folders of a job in the registry center, and the one module that knows what is in them.
const FOLDERS: [&str; 7] = ["guarantee", "instances", "leader", "servers", "sessions", "sharding", "trigger"];
const LAYOUT: &str = "elasticjob/src/registry/layout/";

/// The texts in the code, without those of tests, that spell a node of a job: `sharding/0`, `/job/sharding/0`.
fn spelt_nodes(code: &str) -> Vec<String> {
    let is_node = |text: &&String| {
        let text = text.trim_matches('"');
        let relative = text.strip_prefix('/').and_then(|rest| rest.split_once('/')).map_or(text, |(_, rest)| rest);
        FOLDERS.iter().any(|folder| relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    code_of(code, true).iter().filter(is_node).cloned().collect()
}

/// The tests of whole processes spell the nodes, on purpose: they read the registry as an operator does.
#[test]
fn one_module_spells_the_nodes_of_a_job() {
    let mut broken = Vec::new();
    // The console is not among them: the addresses of its pages have the same words.
    let starter = ["src", "cli/src", "cloud/src"].map(|part| format!("elasticjob-starter/{part}"));
    for folder in starter.iter().map(String::as_str).chain(["elasticjob/src", "tests/src"]) {
        for file in files_below(&root().join(folder)) {
            let place = file.strip_prefix(root()).expect("a file of the workspace").display().to_string();
            let is_test = place.split(['/', '.']).any(|part| part == "tests") && !place.starts_with("tests/src");
            if is_test || !place.ends_with(".rs") || place.starts_with(LAYOUT) {
                continue;
            }
            let code = fs::read_to_string(&file).expect("readable source");
            broken.extend(spelt_nodes(&code).into_iter().map(|text| format!("{place} spells {text}")));
        }
    }
    assert!(broken.is_empty(), "take the path from {LAYOUT}:\n{}", broken.join("\n"));
}

#[test]
fn the_rule_about_nodes_sees_paths_in_code_and_neither_words_nor_tests() {
    for code in ["f(\"sharding/0\")", "f(format!(\"/{job}/leader/election\"))", "f(\"/job/servers/{ip}\")"] {
        assert_eq!(spelt_nodes(code).len(), 1, "{code}");
    }
    for code in
        ["f(\"sharding\")", "f(\"a job/sharding/0\")", "#[cfg(test)] mod tests { fn f() { g(\"sharding/0\") } }"]
    {
        assert!(spelt_nodes(code).is_empty(), "{code}");
    }
}

/// The longest file that a reader finds his way in.
const MOST_LINES: usize = 500;

#[test]
fn no_file_has_more_lines_than_a_reader_takes_in() {
    let folders = ["elasticjob", "elasticjob-macros", "elasticjob-starter", "examples", "tests"];
    let files = folders.iter().flat_map(|folder| files_below(&root().join(folder)));
    let sources = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    let long = sources.filter(|file| fs::read_to_string(file).expect("source").lines().count() > MOST_LINES);
    let long: Vec<PathBuf> = long.collect();
    assert!(long.is_empty(), "split these, each along what it is about: {long:?}");
}

/// The page with the picture of the house: the rooms on their floors, what each imports, and the imports that run up.
const PICTURE: &str = "docs/architecture.md";

/// The rooms: the modules of the library that are compiled for programs.
fn rooms() -> BTreeSet<String> {
    let library = fs::read_to_string(root().join("elasticjob/src/lib.rs")).expect("readable source");
    let words = words(&library);
    let names = words.windows(2).filter(|pair| pair[0] == "mod").map(|pair| &pair[1]);
    names.map(|name| name.trim_start_matches('_').to_owned()).collect()
}

/// The rooms that the code of a room imports.
fn imports(room: &str, rooms: &BTreeSet<String>) -> BTreeSet<String> {
    let mut imported = BTreeSet::new();
    for file in sources_of(room) {
        let words = words(&fs::read_to_string(&file).expect("readable source"));
        for (place, window) in words.windows(4).enumerate() {
            let is_path = window[..3] == ["crate", ":", ":"];
            // A macro names its parts for the place where it is used.
            let in_macro = place > 0 && words[place - 1] == "$";
            let name = window[3].trim_start_matches('_');
            if is_path && !in_macro && name != room && rooms.contains(name) {
                imported.insert(name.to_owned());
            }
        }
    }
    imported
}

/// The cells of the rows of tables whose first cell is a name in code style, in a section of the page.
fn rows<'p>(page: &'p str, section: &str) -> Vec<(String, Vec<&'p str>)> {
    let (_, text) = page.split_once(&format!("## {section}\n")).unwrap_or_else(|| panic!("{PICTURE} has no {section}"));
    let lines = text.lines().take_while(|line| !line.starts_with("## "));
    let rows = lines.filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    rows.map(|(name, rest)| (name.to_owned(), rest.split(" | ").collect())).collect()
}

fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_picture_of_the_house_has_every_room_and_every_import() {
    let page = fs::read_to_string(root().join(PICTURE)).expect("the page can be read");
    let rooms = rooms();
    let mut wrong = Vec::new();
    let drawn: BTreeMap<String, Vec<&str>> = rows(&page, "Where things live").into_iter().collect();
    for room in &rooms {
        let code = imports(room, &rooms);
        let cell = code.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match drawn.get(room.as_str()) {
            None => wrong.push(format!("the table has no row for `{room}`, which imports {cell}")),
            Some(cells) if cells.last().is_none_or(|last| names(last) != code) => {
                wrong.push(format!("`{room}` imports {cell}"));
            }
            Some(_) => {}
        }
    }
    let unknown = drawn.keys().filter(|name| !name.contains("->") && !rooms.contains(*name));
    wrong.extend(unknown.map(|name| format!("there is no module `{name}`")));
    assert!(wrong.is_empty(), "{PICTURE}, Where things live:\n{}", wrong.join("\n"));
}

#[test]
fn a_room_imports_rooms_of_lower_floors_or_the_page_says_why() {
    let page = fs::read_to_string(root().join(PICTURE)).expect("the page can be read");
    let rooms = rooms();
    // A line of the picture: the number of the floor, its rooms, and what they are for.
    let mut floors: BTreeMap<String, u32> = BTreeMap::new();
    for line in page.lines().filter_map(|line| line.trim().strip_prefix('│')) {
        let cells: Vec<&str> = line.split('│').map(str::trim).collect();
        let Some(Ok(floor)) = cells.first().map(|cell| cell.parse()) else { continue };
        floors.extend(cells[1].split_whitespace().map(|room| (room.to_owned(), floor)));
    }
    assert_eq!(floors.keys().cloned().collect::<BTreeSet<_>>(), rooms, "the rooms of the picture");
    let mut up = BTreeSet::new();
    for room in &rooms {
        let above = imports(room, &rooms).into_iter().filter(|other| floors[other] >= floors[room]);
        up.extend(above.map(|other| format!("{room} -> {other}")));
    }
    let explained =
        rows(&page, "Where things live").into_iter().map(|(name, _)| name).filter(|name| name.contains("->"));
    assert_eq!(up, explained.collect(), "imports that run up, in the code and on the page");
}
