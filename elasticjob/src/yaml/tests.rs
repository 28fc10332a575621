mod worst;

use super::*;

const LIMITS: Limits = Limits { bytes: 1_000, nodes: 50 };

fn read(text: &str) -> Node {
    parse(text, LIMITS).unwrap_or_else(|error| panic!("{text:?}: {error}")).unwrap_or_else(|| panic!("{text:?}: empty"))
}

fn refused(text: &str) -> String {
    parse(text, LIMITS).unwrap_err().to_string()
}

/// A map with one key: its value.
fn value(text: &str) -> Node {
    match read(text).value {
        Value::Map(mut entries) if entries.len() == 1 => entries.remove(0).1,
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn an_empty_text_has_no_document() {
    for text in ["", "# nothing\n", "\n\n", "%YAML 1.1\n# no more\n"] {
        assert_eq!(parse(text, LIMITS).ok().flatten(), None, "{text:?}");
    }
}

#[test]
fn scalars_stay_as_they_are_written() {
    for (text, expected) in [
        ("a: 007", Some("007")),
        ("a: 1.10", Some("1.10")),
        ("a: True", Some("True")),
        ("a: 'it''s'", Some("it's")),
        ("a: \"\\u4e2d\\L\"", Some("中\u{2028}")),
        ("a: |-\n  two\n  lines\n", Some("two\nlines")),
        ("a: !!str", Some("")),
        ("a: '~'", Some("~")),
        ("a:", None),
        ("a: ~", None),
        ("a: NULL", None),
        ("a: []", None),
    ] {
        assert_eq!(value(text).text(), expected, "{text:?}");
    }
}

#[test]
fn what_yaml_1_1_writes_as_it_is_is_kept() {
    for (text, expected) in [
        ("a: |-\n  x\u{2028}  y\n", "x\u{2028}y"),
        ("b: 1\r\na: |-\n  x\u{2029}  y\r\n  z\n", "x\u{2029}y\nz"),
        ("a: |2+\n\u{2028}", "\u{2028}"),
        ("a: |2-\n\u{2028}   x\n", "\u{2028} x"),
        ("a: |\n  x\u{85}  y\n", "x\ny\n"),
        ("\u{feff}a: x\u{feff}y\n", "x\u{feff}y"),
    ] {
        let Value::Map(entries) = read(text).value else { panic!("{text:?}") };
        assert_eq!(entries.last().and_then(|(_, value)| value.text()), Some(expected), "{text:?}");
    }
}

#[test]
fn aliases_are_filled_in_and_know_their_own_place() {
    let node = value("a: [&x {k: v}, *x]");
    let Value::List(items) = node.value else { panic!("{node:?}") };
    assert_eq!(items[0], items[1]);
    assert_eq!(items[1].place, Place { line: 1, column: 16 });
    assert!(refused("a: &x [*x]").contains("inside of what it stands for"));
    assert!(refused("a: *x").contains("line 1, column 4"), "{}", refused("a: *x"));
}

#[test]
fn what_exceeds_a_limit_is_refused_with_the_limit() {
    assert!(refused(&" ".repeat(1_001)).contains("it has 1001 bytes, and at most 1000 are read"));
    assert!(refused(&"- \n".repeat(51)).contains("more than 50 values"));
    let bomb = format!("- &a {}\n{}", "x".repeat(300), "- *a\n".repeat(10));
    assert!(refused(&bomb).contains("1000 bytes in them, with what aliases stand for"));
    let nest = |open: &str, close: &str, deep: usize| format!("{}{}", open.repeat(deep), close.repeat(deep));
    let wide = Limits { bytes: 10_000, nodes: 10_000 };
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
        assert!(parse(&nest(open, close, 60), wide).is_ok(), "{open}");
        for deep in [70, 2_000] {
            let refused = parse(&nest(open, close, deep), wide).unwrap_err().to_string();
            assert!(refused.contains("nested more than 64 deep"), "{open}: {refused}");
        }
    }
}

#[test]
fn what_is_no_document_is_refused_with_its_place() {
    for (text, expected) in [
        ("a: b: c\n", "line 1, column 5: "),
        ("a: [1\nb: 2\n", "line "),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: a second document"),
        ("a: \"x\n", "line "),
    ] {
        let reason = refused(text);
        assert!(reason.starts_with(expected), "{text:?}: {reason}");
    }
}
