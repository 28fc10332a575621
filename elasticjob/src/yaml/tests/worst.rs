//! Texts that take a reader much time: no text of a node may hold up a host.

use std::time::{Duration, Instant};

use super::*;
use crate::yaml::LIMITS_OF_CONFIGURATION;

/// The limit of these tests. A reader whose time grows with the square of the text takes minutes for one of these
/// texts. This reader takes some hundredths of a second in a release build; a debug build on a busy machine needs a
/// hundred times that.
const LONG: Duration = Duration::from_secs(20);
const LENGTH: usize = 200_000;

/// Parts that have a meaning in YAML.
const PARTS: [&str; 30] = [
    "[", "]", "{", "}", ",", ": ", "? ", "- ", "&a ", "*a ", "!t ", "!<", "\"", "'", "|\n", ">-\n", "#", "\n", " ",
    "  ", "a", "b c", "\\", "%TAG", "---\n", "...\n", "\t", ":", "\u{2028}", "中",
];

fn filled(unit: &str) -> String {
    unit.repeat(LENGTH / unit.len())
}

fn is_read_in_time(text: &str, name: &str) {
    let begun = Instant::now();
    let read = parse(text, LIMITS_OF_CONFIGURATION);
    let took = begun.elapsed();
    assert!(took < LONG, "{name}: {took:?}, {:?}", read.map(|_| ()));
}

#[test]
fn the_worst_texts_are_read_or_refused_in_time() {
    let indented: String = (0..600).map(|deep| format!("{}a:\n", " ".repeat(deep))).collect();
    let numbered = |line: &dyn Fn(usize) -> String| (0..LENGTH / 20).map(line).collect::<String>();
    for (name, text) in [
        ("brackets", format!("a: {}", filled("["))),
        ("maps", format!("a: {}", filled("{a: "))),
        ("lists", filled("- ")),
        ("keys of keys", filled("? ")),
        ("values of values", filled(": ")),
        ("indented", indented),
        ("closed nests", format!("[{}]", filled(&format!("{}{},", "[".repeat(60), "]".repeat(60))))),
        ("many values", format!("[{}]", filled("a,"))),
        ("many pairs", format!("[{}]", filled("a: b,"))),
        ("many keys", numbered(&|n| format!("key{n}: v\n"))),
        ("anchors", numbered(&|n| format!("- &a{n} x\n"))),
        ("aliases", format!("- &a {}\n{}", "x".repeat(1_000), filled("- *a\n"))),
        ("tags", filled("- !<tag:x> a\n")),
        ("directives", numbered(&|n| format!("%TAG !e{n}! tag:x\n")) + "--- a"),
        ("comments", format!("a:{}", filled("\n#"))),
        ("plain", format!("a: {}", filled("x"))),
        ("plain lines", format!("a: {}", filled("x\n "))),
        ("quoted", format!("a: \"{}\"", filled("\\u0041"))),
        ("quoted blanks", format!("a: '{}'", filled(" \n"))),
        ("not closed", format!("a: \"{}", filled("x "))),
        ("literal", format!("a: |\n{}", filled("  x\n"))),
        ("blank literal", format!("a: |\n{}", filled(" "))),
        ("old breaks", format!("a: |2\n{}", filled("\u{2028}"))),
        ("byte order marks", filled("\u{feff}")),
    ] {
        is_read_in_time(&text, name);
    }
}

#[test]
fn parts_repeated_at_random_are_read_or_refused_in_time() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..60 {
        let unit: String = (0..1 + random(6)).map(|_| PARTS[random(PARTS.len())]).collect();
        let start = ["", "a: ", "a:\n  ", "[", "{"][random(5)];
        is_read_in_time(&format!("{start}{}", filled(&unit)), &format!("{start:?} {unit:?}"));
    }
}
