//! `docs/state-machine.md` says what the code says: its tables are made from the states and rules in the source and what
//! is written there about each of them, and its diagrams have the same states.
//!
//! After a change of the source, `ELASTICJOB_WRITE_DOCS=1 cargo test -p elasticjob-tests --test docs state_machine` writes the
//! tables again. Diagrams are drawn by hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta};

const PAGE: &str = "docs/state-machine.md";
/// Where the page ends a table that was made.
const END: &str = "<!-- end of table -->\n";

/// The enums that the page has a table of, with their files.
const ENUMS: [(&str, &str); 14] = [
    ("SessionState", "elasticjob/src/registry/mod.rs"),
    ("Phase", "elasticjob/src/engine/state/membership.rs"),
    ("Activity", "elasticjob/src/job_status.rs"),
    ("Stage", "elasticjob/src/engine/state/runs.rs"),
    ("RoundStage", "elasticjob/src/engine/state/listener_round.rs"),
    ("Call", "elasticjob/src/engine/state/listener_round.rs"),
    ("CallState", "elasticjob/src/engine/once_calls.rs"),
    ("StopReason", "elasticjob/src/fire/reasons.rs"),
    ("CancelReason", "elasticjob/src/fire/reasons.rs"),
    ("ExecutionSource", "elasticjob/src/fire.rs"),
    ("FireState", "elasticjob/src/fire.rs"),
    ("SkipReason", "elasticjob/src/fire/skip_reason.rs"),
    ("Step", "elasticjob/src/engine/rules/mod.rs"),
    ("Meanwhile", "elasticjob/src/engine/rules/mod.rs"),
];
/// Of these, the ones that the page has a diagram of.
const DIAGRAMS: [&str; 4] = ["Phase", "Stage", "RoundStage", "FireState"];
/// The folder of the rules; each stands in the file of its module.
const RULES: &str = "elasticjob/src/engine/rules";

fn read(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the workspace");
    fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn items(file: &str) -> Vec<Item> {
    syn::parse_file(&read(file)).unwrap_or_else(|error| panic!("{file}: {error}")).items
}

/// The first paragraph of a doc comment in one line, with the texts of links instead of the links.
fn first_paragraph(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(text) => match &text.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let paragraph: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    without_links(&paragraph.join(" "))
}

/// Replaces `[text](target)` and `[text]` by `text` where the text is code.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let (code, after) = link.split_once("`]").unwrap_or_else(|| panic!("a link that does not end in '{text}'"));
        plain.push_str(&format!("{before}`{code}`"));
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

/// The variants of an enum with what is written about each.
fn variants(name: &str) -> Vec<(String, String)> {
    let (_, file) = ENUMS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no enum {name} in ENUMS"));
    let found = items(file).into_iter().find_map(|item| match item {
        Item::Enum(item) if item.ident == name => Some(item),
        _ => None,
    });
    let found = found.unwrap_or_else(|| panic!("{file} has no enum {name}"));
    found.variants.iter().map(|variant| (variant.ident.to_string(), first_paragraph(&variant.attrs))).collect()
}

/// A row of a table.
type Row = Vec<String>;

/// The rules in the order in which they are asked: what is written about each, what becomes of the later ones while it
/// needs data, and why it stands there.
fn rules() -> Vec<Row> {
    let list = items(&format!("{RULES}/mod.rs")).into_iter().find_map(|item| match item {
        Item::Const(item) if item.ident == "RULES" => match *item.expr {
            Expr::Array(list) => Some(list.elems),
            _ => None,
        },
        _ => None,
    });
    let list = list.expect("the list of the rules");
    let rules = list.iter().map(|rule| {
        let Expr::Call(rule) = rule else { panic!("a rule is a call") };
        let [Expr::Path(path), Expr::Path(meanwhile), Expr::Lit(ExprLit { lit: Lit::Str(why), .. })] =
            rule.args.iter().collect::<Vec<_>>()[..]
        else {
            panic!("a rule has a function, what becomes of the later ones, and a reason");
        };
        let meanwhile = meanwhile.path.get_ident().expect("a plain name");
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let [module, function] = names.as_slice() else { panic!("{names:?} is not a module and a function") };
        let function_in = |item| match item {
            Item::Fn(item) if item.sig.ident == function => Some(item),
            _ => None,
        };
        let found = files_of(module).iter().flat_map(|file| items(file)).find_map(function_in);
        let found = found.unwrap_or_else(|| panic!("{RULES}/{module} has no function {function}"));
        let says = first_paragraph(&found.attrs);
        vec![format!("`{}`", names.join("::")), says, why.value(), format!("`{meanwhile}`")]
    });
    rules.collect()
}

/// The file of a module of rules, and those of the modules below it.
fn files_of(module: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the workspace");
    let below = fs::read_dir(root.join(format!("{RULES}/{module}"))).into_iter().flatten();
    let names =
        below.map(|file| file.expect("the folder can be read").file_name().into_string().expect("a plain name"));
    let below = names.map(|name| format!("{RULES}/{module}/{name}"));
    [format!("{RULES}/{module}.rs")].into_iter().chain(below).collect()
}

fn table(name: &str) -> String {
    let (head, rows): (Row, Vec<Row>) = match name {
        "RULES" => (
            ["`RULES`", "What it does", "Why it stands there", "While it needs data"].map(str::to_owned).into(),
            rules(),
        ),
        _ => {
            let rows = variants(name).into_iter().map(|(entry, says)| vec![format!("`{entry}`"), says]);
            (vec![format!("`{name}`"), String::new()], rows.collect())
        }
    };
    assert!(!rows.is_empty(), "{name} has entries");
    let line = |cells: &Row| format!("|{}\n", cells.iter().map(|cell| format!(" {cell} |")).collect::<String>());
    let mut made = line(&head).replace("|  |", "| |") + "|" + &"---|".repeat(head.len()) + "\n";
    for row in rows {
        let is_good = |cell: &String| !cell.is_empty() && !cell.contains('|');
        assert!(row.iter().all(is_good), "{name} needs a line of documentation: {row:?}");
        made.push_str(&line(&row));
    }
    made
}

/// The page with its tables generated again, and the names of the tables.
fn with_tables(page: &str) -> (String, BTreeSet<String>) {
    let mut names = BTreeSet::new();
    let mut parts = page.split("<!-- table of ");
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").expect("a table has a name");
        let (_, rest) = rest.split_once(END).unwrap_or_else(|| panic!("the table of {name} has no end"));
        made.push_str(&format!("<!-- table of {name} -->\n{}{END}{rest}", table(name)));
        names.insert(name.to_owned());
    }
    (made, names)
}

#[test]
fn the_tables_of_the_page_are_those_of_the_code() {
    let page = read(PAGE);
    let (made, names) = with_tables(&page);
    let wanted: BTreeSet<String> = ENUMS.iter().map(|(name, _)| *name).chain(["RULES"]).map(str::to_owned).collect();
    assert_eq!(names, wanted, "the tables that {PAGE} has to have");
    if made == page {
        return;
    }
    if std::env::var_os("ELASTICJOB_WRITE_DOCS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
        fs::write(file, made).expect("the page can be written");
        return;
    }
    let differing: Vec<String> = made
        .lines()
        .filter(|line| !page.lines().any(|known| known == *line))
        .map(|line| format!("missing: {line}"))
        .chain(
            page.lines().filter(|line| !made.lines().any(|known| known == *line)).map(|line| format!("gone: {line}")),
        )
        .collect();
    panic!("{PAGE} does not say what the code says; ELASTICJOB_WRITE_DOCS=1 writes it again\n{}", differing.join("\n"));
}

/// The names on both sides of the arrows of a diagram.
fn states(diagram: &str) -> BTreeSet<String> {
    let arrows = diagram.lines().filter_map(|line| line.split_once("-->"));
    let sides = arrows.flat_map(|(from, to)| [from, to.split(':').next().unwrap_or_default()]);
    sides.map(str::trim).filter(|state| *state != "[*]").map(str::to_owned).collect()
}

#[test]
fn the_diagrams_of_the_page_have_the_states_of_the_code() {
    let page = read(PAGE);
    let mut drawn = BTreeSet::new();
    for part in page.split("<!-- diagram of ").skip(1) {
        let (name, rest) = part.split_once(" -->\n```mermaid\n").expect("a diagram has a name");
        let (diagram, _) = rest.split_once("```").expect("the end of the diagram");
        let of_code: BTreeSet<String> = variants(name).into_iter().map(|(variant, _)| variant).collect();
        assert_eq!(states(diagram), of_code, "{name}");
        drawn.insert(name.to_owned());
    }
    assert_eq!(drawn, DIAGRAMS.map(str::to_owned).into(), "the diagrams that {PAGE} has to have");
}

#[test]
fn links_of_doc_comments_become_plain_code() {
    let linked = "Makes [`begin`](super::begin) of [`Fire`] and more.";
    assert_eq!(without_links(linked), "Makes `begin` of `Fire` and more.");
}
