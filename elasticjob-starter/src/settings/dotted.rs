//! Keys that are written as one text: `elasticjob.jobs[my.job].props.script.command.line`.

/// One part of a dotted key. A part in brackets is taken as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub text: String,
    pub bracketed: bool,
}

impl Token {
    pub fn part(text: impl Into<String>) -> Self {
        Self { text: text.into(), bracketed: false }
    }

    pub fn bracketed(text: impl Into<String>) -> Self {
        Self { text: text.into(), bracketed: true }
    }
}

/// Splits a key at its dots and brackets.
pub(super) fn tokens(key: &str) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut rest = key;
    loop {
        if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']').ok_or("a '[' has no ']'")?;
            if inside.is_empty() {
                return Err("there is nothing between '[' and ']'");
            }
            tokens.push(Token::bracketed(inside));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return Err("a part between two dots is empty");
            }
            tokens.push(Token::part(&rest[..end]));
            rest = &rest[end..];
        }
        if rest.is_empty() {
            return Ok(tokens);
        }
        if !rest.starts_with('[') {
            rest = rest.strip_prefix('.').ok_or("a ']' is followed by neither '.' nor '['")?;
        }
    }
}

/// Joins the tokens again, with brackets only where they are needed.
pub(super) fn join(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(&token.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_split_and_brackets_hold_together() {
        let parsed = tokens("elasticjob.jobs[a.b].job-listener-types[0]").unwrap();
        let expected = [
            Token::part("elasticjob"),
            Token::part("jobs"),
            Token::bracketed("a.b"),
            Token::part("job-listener-types"),
            Token::bracketed("0"),
        ];
        assert_eq!(parsed, expected);
        assert_eq!(join(&parsed[1..]), "jobs.a.b.job-listener-types.0");
    }

    #[test]
    fn a_key_that_cannot_be_split_says_why() {
        for (key, reason) in [
            ("a..b", "empty"),
            (".a", "empty"),
            ("a.", "empty"),
            ("a[b", "no ']'"),
            ("a[]", "nothing"),
            ("a[b]c", "']'"),
        ] {
            assert!(tokens(key).unwrap_err().contains(reason), "{key}: {:?}", tokens(key));
        }
    }
}
