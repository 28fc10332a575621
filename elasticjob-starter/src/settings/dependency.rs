//! The long form of an item of `depends-on` in a file: `{job: extract, when: failed, items: same}`.

use elasticjob::config::Dependency;

use super::node::{Node, NodeValue};

/// The setting that has it.
pub(super) const DEPENDS_ON: &str = "depends-on";

/// What belongs there.
pub(super) const EXPECTED: &str = "text as `extract when failed`, or `{job: extract, when: failed, items: all}`";

/// The short form of such an item; `None` where it has other keys, or no job.
pub(super) fn short_form(fields: &[(String, Node)]) -> Option<String> {
    let (mut job, mut when, mut items) = (None, None, None);
    for (name, node) in fields {
        let NodeValue::Text(text) = &node.value else { return None };
        match name.as_str() {
            "job" => job = Some(text),
            "when" => when = Some(text),
            "items" => items = Some(text),
            _ => return None,
        }
    }
    Some(Dependency::short_form(job?, when.map(String::as_str), items.map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::super::node::Origin;
    use super::*;

    fn fields(fields: &[(&str, &str)]) -> Vec<(String, Node)> {
        let node = |text: &str| Node::text(Origin::place("file:1"), text);
        fields.iter().map(|(name, text)| ((*name).to_owned(), node(text))).collect()
    }

    #[test]
    fn the_long_form_says_what_the_short_one_does_and_takes_no_other_key() {
        let short = |of: &[(&str, &str)]| short_form(&fields(of));
        assert_eq!(short(&[("job", "extract")]).as_deref(), Some("extract"));
        assert_eq!(short(&[("when", "ended"), ("job", "extract")]).as_deref(), Some("extract when ended"));
        assert_eq!(short(&[("items", "same"), ("job", "extract")]).as_deref(), Some("extract items same"));
        let all = [("job", "extract"), ("items", "same"), ("when", "ended")];
        assert_eq!(short(&all).as_deref(), Some("extract when ended items same"));
        assert_eq!((short(&[("when", "ended")]), short(&[("job", "a"), ("item", "same")])), (None, None));
    }
}
