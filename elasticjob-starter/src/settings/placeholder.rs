//! Replaces `${NAME}` and `${NAME:default}` inside of values.

/// The result of looking a name up.
pub(super) enum Found {
    /// A value of the environment, taken as it is.
    Plain(String),
    /// A value of a file, which may have placeholders itself.
    Text(String),
    /// A variable of the environment whose value is not UTF-8 text.
    Garbled,
}

impl Found {
    /// The value of a variable of the environment.
    pub(super) fn variable(value: &Option<String>) -> Self {
        value.clone().map_or(Self::Garbled, Self::Plain)
    }
}

/// Replaces the placeholders of a text; `\${` means `${`.
///
/// # Errors
/// Says which placeholder has no value, refers to itself, or has no end. Values are not part of the text.
pub(super) fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<Found>) -> Result<String, String> {
    Expander { lookup, names: Vec::new() }.text(text)
}

struct Expander<'a> {
    lookup: &'a dyn Fn(&str) -> Option<Found>,
    /// The names whose values are being expanded.
    names: Vec<String>,
}

impl Expander<'_> {
    fn text(&mut self, text: &str) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if let Some(before) = rest[..at].strip_suffix('\\') {
                out.push_str(before);
                out.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            out.push_str(&rest[..at]);
            let inside = &rest[at + 2..];
            let end = closing(inside).ok_or("a `${` has no `}`; write `\\${` for a plain `${`")?;
            out.push_str(&self.placeholder(&inside[..end])?);
            rest = &inside[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn placeholder(&mut self, inside: &str) -> Result<String, String> {
        let (name, default) = match separator(inside) {
            Some(at) => (&inside[..at], Some(&inside[at + 1..])),
            None => (inside, None),
        };
        let name = self.text(name)?.trim().to_owned();
        if self.names.contains(&name) {
            return Err(format!("the placeholder `${{{name}}}` names itself: {} -> {name}", self.names.join(" -> ")));
        }
        match ((self.lookup)(&name), default) {
            (Some(Found::Plain(value)), _) => Ok(value),
            (Some(Found::Garbled), _) => Err(format!(
                "the environment variable `{name}` of the placeholder `${{{name}}}` is not UTF-8 text: set it in UTF-8"
            )),
            (Some(Found::Text(value)), _) => {
                self.names.push(name);
                let expanded = self.text(&value);
                self.names.pop();
                expanded
            }
            (None, Some(default)) => self.text(default),
            (None, None) => Err(format!(
                "the placeholder `${{{name}}}` has no value: set the environment variable or the key of that name, or \
                 give a default with `${{{name}:default}}`"
            )),
        }
    }
}

/// The end of a placeholder; placeholders inside of it are skipped.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '$' if rest.peek().is_some_and(|(_, next)| *next == '{') => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The first `:` that is not inside of an inner placeholder.
fn separator(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        expand(text, &|name| match name {
            "ZK" => Some(Found::Plain("zk:2181".to_owned())),
            "RAW" => Some(Found::Plain("a${b".to_owned())),
            "ENV" => Some(Found::Plain("TEST".to_owned())),
            "HOST_TEST" => Some(Found::Plain("test.host".to_owned())),
            "outer" => Some(Found::Text("<${inner}>".to_owned())),
            "inner" => Some(Found::Text("${ZK}".to_owned())),
            "loop" => Some(Found::Text("${back}".to_owned())),
            "back" => Some(Found::Text("${loop}".to_owned())),
            _ => None,
        })
    }

    #[test]
    fn placeholders_are_replaced_nested_with_defaults_and_escapes() {
        let cases = [
            ("plain $ {text}", "plain $ {text}"),
            ("${ZK}", "zk:2181"),
            ("a ${ZK} b ${NONE:x}", "a zk:2181 b x"),
            ("${NONE:}", ""),
            ("${NONE:localhost:2181}", "localhost:2181"),
            ("${NONE:${ZK}}", "zk:2181"),
            ("${NONE:${ALSO:deep}}!", "deep!"),
            ("${HOST_${ENV}}", "test.host"),
            ("${outer}", "<zk:2181>"),
            (r"\${ZK} ${ZK}", "${ZK} zk:2181"),
            ("${RAW}", "a${b"),
        ];
        for (text, expected) in cases {
            assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_placeholder_that_cannot_be_replaced_says_why() {
        for (text, reason) in [
            ("${NONE}", "`${NONE}` has no value"),
            ("${ZK", "has no `}`"),
            ("${loop}", "names itself: loop -> back -> loop"),
        ] {
            assert!(expanded(text).unwrap_err().contains(reason), "{text}: {:?}", expanded(text));
        }
        assert!(expanded("${loop}").unwrap_err().ends_with(": loop -> back -> loop"));
    }
}
