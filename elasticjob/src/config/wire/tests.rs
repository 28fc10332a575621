use std::path::Path;

use super::*;

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/wire").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A text, and the documents that SnakeYAML 1.33 writes with it as a property, as value and key of a map, and in a list.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
    property: String,
    prop: String,
    key: String,
    item: String,
}

fn written(text: &str) -> Written {
    let document = |fill: &dyn Fn(&mut emit::Document)| {
        let mut document = emit::Document::default();
        fill(&mut document);
        document.into_string()
    };
    Written {
        text: text.to_owned(),
        property: document(&|document| document.text("jobParameter", text)),
        prop: document(&|document| document.map("props", [("key", text)])),
        key: document(&|document| document.map("props", [(text, "value")])),
        item: document(&|document| document.list("jobListenerTypes", [text])),
    }
}

#[test]
fn texts_are_written_as_snakeyaml_writes_them() {
    let (mut count, mut wrong) = (0, Vec::new());
    for line in golden("snakeyaml.jsonl").lines() {
        let expected: Written = serde_json::from_str(line).unwrap();
        let actual = written(&expected.text);
        count += 1;
        if actual != expected {
            wrong.push(format!("{expected:#?}\n{actual:#?}"));
        }
    }
    assert!(count >= 500, "only {count} texts");
    assert!(wrong.is_empty(), "{} of {count} differ, the first: {}", wrong.len(), wrong[0]);
}
