//! House rules of templates.

use std::fs;
use std::path::Path;

use crate::assets;

/// The files of a folder of this package, with those below it: name and text.
fn files(folder: &str) -> Vec<(String, String)> {
    fn add(folder: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            match path.is_dir() {
                true => add(&path, files),
                false => files.push((path.display().to_string(), fs::read_to_string(&path).expect("it is a text"))),
            }
        }
    }
    let mut files = Vec::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} is empty");
    files
}

/// What stands between `before` and the next quote.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}

/// What is wrong with a template.
fn faults(template: &str) -> Vec<&'static str> {
    let squeezed: String = template.split_whitespace().collect();
    let mut faults = Vec::new();
    let mut look = |is_there: bool, fault| {
        if is_there {
            faults.push(fault)
        }
    };
    look(squeezed.contains("|safe") || squeezed.contains("escape("), "a text that is not escaped");
    look(template.contains(" style="), "a style in the page");
    look(template.contains("<style"), "a style sheet in the page");
    look(squeezed.contains("<script>"), "a script in the page");
    let attributes = template.split(" on").skip(1).filter_map(|rest| rest.split_once('=')).map(|(name, _)| name);
    look(attributes.into_iter().any(|name| name.chars().all(|c| c.is_ascii_lowercase())), "a script in an attribute");
    look(template.contains("javascript:"), "a script in an address");
    let mut reasons = template.split("name=\"reason\"").skip(1).filter_map(|rest| rest.split('>').next());
    let limit = "maxlength=\"{{ crate::access::LONGEST_REASON }}\"";
    look(reasons.any(|rest| !rest.contains(limit)), "a reason without its limit, or with a number of its own");
    look(template.contains("href=\"/") || template.contains("action=\"/"), "an address without the base path");
    faults
}

#[test]
fn templates_escape_all_texts_and_have_no_style_or_script_inside() {
    for (name, template) in files("templates") {
        assert_eq!(faults(&template), Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn faults_of_templates_are_found() {
    for bad in [
        "{{ name | safe }}",
        "{{ name|escape(\"none\") }}",
        "<p style=\"left: 1px\">",
        "<style>",
        "<script >",
        "<p onclick=\"x()\">",
        "<a href=\"javascript:x()\">",
        "<a href=\"/r\">",
        "<input name=\"reason\" maxlength=\"200\">",
    ] {
        assert_eq!(faults(bad).len(), 1, "{bad}");
    }
    assert!(faults("<p>one = two, on {{ a == b }}</p>").is_empty());
}

#[test]
fn no_code_marks_a_text_of_others_as_html() {
    let allowed = ["time.rs", "tests.rs"];
    for (name, code) in files("src") {
        let may = allowed.iter().any(|allowed| name.ends_with(allowed));
        assert!(may || !(code.contains("Safe(") || code.contains("HtmlSafe")), "{name}");
    }
}

#[test]
fn every_asset_that_a_template_names_is_there() {
    let mut found = 0;
    for (name, template) in files("templates") {
        for asset in quoted(&template, "layout.asset(\"") {
            assert!(!assets::address(asset).contains("missing"), "{name}: {asset}");
            found += 1;
        }
    }
    assert!(found > 1);
}

#[test]
fn the_style_sheet_asks_for_nothing_else() {
    for (name, sheet) in files("assets").into_iter().filter(|(name, _)| name.ends_with(".css")) {
        assert!(!sheet.contains("url(") && !sheet.contains("@import"), "{name}");
        assert_eq!(sheet.matches('{').count(), sheet.matches('}').count(), "{name}");
    }
}
