//! Keeping secrets out of what operators are shown.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde_yaml_ng::Value;

use crate::secret::Secret;

/// Parts of names whose values are secrets.
const WORDS: [&str; 10] =
    ["password", "passwd", "pwd", "secret", "webhook", "token", "credential", "accesskey", "digest", "httpdata"];

/// Whether a property holds a secret, judging by its name: passwords, tokens, webhooks, whose address is one, and the
/// body of requests, which may have any of them.
pub fn is_secret_key(key: &str) -> bool {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    WORDS.iter().any(|word| key.contains(word))
}

/// A document in YAML without its secrets: values of such names, also of those inside of other values, and passwords
/// inside of addresses.
pub(super) fn mask(document: &str) -> String {
    let masked = mask_lines(document);
    match serde_yaml_ng::from_str::<Value>(&masked) {
        Ok(value) if !holds_secrets(&value) => mask_inside(&masked),
        // It is written in another way than one key a line.
        _ if is_suspect(document) => {
            format!("{} (it names secrets that cannot be masked one by one)", Secret::MASK)
        }
        _ => mask_inside(document),
    }
}

fn mask_lines(document: &str) -> String {
    let mut masked = String::new();
    // How far the line of the secret is indented: what is further in goes on with it.
    let mut inside: Option<usize> = None;
    for line in document.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if inside.is_some_and(|secret| indent > secret || line.trim().is_empty()) {
            continue;
        }
        inside = None;
        match line.trim_end().split_once(": ").or_else(|| line.trim_end().split_once(":")) {
            Some((key, value)) if is_secret_key(key) && !value.trim().is_empty() => {
                inside = Some(indent);
                masked.push_str(&format!("{key}: '{}'\n", Secret::MASK));
            }
            _ => masked.push_str(line),
        }
    }
    masked
}

fn holds_secrets(value: &Value) -> bool {
    match value {
        Value::Mapping(map) => map.iter().any(|(key, value)| match value {
            Value::Mapping(_) | Value::Sequence(_) | Value::Tagged(_) => holds_secrets(value),
            Value::Null => false,
            Value::String(text) if text.is_empty() || text == Secret::MASK => false,
            _ => key.as_str().is_some_and(is_secret_key),
        }),
        Value::Sequence(list) => list.iter().any(holds_secrets),
        Value::Tagged(tagged) => holds_secrets(&tagged.value),
        _ => false,
    }
}

fn is_suspect(document: &str) -> bool {
    document.lines().any(is_secret_key)
}

/// Inside of values: users with passwords before a host, parameters of addresses and command lines, and JSON.
fn mask_inside(text: &str) -> String {
    static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
        let word = "(?:password|passwd|pwd|secret|webhook|token|credential|access[_.-]?key|digest)";
        let user = r#"(://)[^/@\s:'"]*:[^@\s'"]+@"#;
        // Names go on to both sides of such a word.
        let parameter = format!(r#"((?:^|[\s?&;,='"])[a-z0-9_.-]*{word}[a-z0-9_.-]*=)[^&;\s'"]+"#);
        // In YAML, quotes may be escaped themselves.
        let value = r#"(?:\\"[^"]*"|"(?:[^"\\]|\\.)*"|[\[{][^\]}]*[\]}]|[^\s,}\]"']+)"#;
        let json = format!(r#"(\\?)("[a-z0-9_. -]*{word}[a-z0-9_. -]*\\?"[ \t]*:[ \t]*){value}"#);
        Regex::new(&format!("(?im){user}|{parameter}|{json}")).expect("a pattern that is known")
    });
    let replace = |found: &Captures<'_>| {
        let part = |group| found.get(group).map_or("", |part| part.as_str());
        match (found.get(1), found.get(2)) {
            (Some(_), _) => format!("://{}@", Secret::MASK),
            (_, Some(name)) => format!("{}{}", name.as_str(), Secret::MASK),
            _ => format!(r#"{0}{1}{0}"{2}{0}""#, part(3), part(4), Secret::MASK),
        }
    };
    SECRETS.replace_all(text, replace).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for key in
            ["email.password", "dingtalk.webhook", "dingtalk.secret", "apiToken", "access-key", "DB_PWD", "http.data"]
        {
            assert!(is_secret_key(key), "{key}");
        }
        for key in ["streaming.process", "script.command.line", "email.host", "http.url"] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn values_of_secrets_are_masked_and_nothing_else_is() {
        let document = "cron: 0 0 3 * * ?\nprops:\n  email.host: h\n  email.password: |-\n    two\n    lines\n  'wechat.webhook': 'https://x?key=abc'\nstaticSharding: false\n";
        let masked = "cron: 0 0 3 * * ?\nprops:\n  email.host: h\n  email.password: '***'\n  'wechat.webhook': '***'\nstaticSharding: false\n";
        assert_eq!(mask(document), masked);
        let plain = "jobName: a\nprops:\n  k: v\n";
        assert_eq!(mask(plain), plain);
    }

    #[test]
    fn the_data_source_of_a_java_job_is_masked() {
        let document = "jobExtraConfigurations:\n- !!org.a.B\n  storage: !!org.a.C\n    props:\n      password: hunter2\n      jdbcUrl: jdbc:mysql://sa:hunter2@db/x?user=sa&password=hunter2\n  type: RDB\n";
        let masked = mask(document);
        assert!(!masked.contains("hunter2"), "{masked}");
        assert!(masked.contains("jdbc:mysql://***@db/x?user=sa&password=***") && masked.ends_with("  type: RDB\n"));
    }

    #[test]
    fn the_body_of_requests_is_masked() {
        let document = "props:\n  http.data: |-\n    hunter2\n    hunter2\n  http.method: POST\n";
        assert_eq!(mask(document), "props:\n  http.data: '***'\n  http.method: POST\n");
        assert!(!mask("props: {http.data: hunter2}\n").contains("hunter2"));
    }

    #[test]
    fn names_of_secrets_are_known_at_the_start_of_a_value_and_in_json() {
        for (value, masked) in [
            ("token=hunter2&all=1", "token=***&all=1"),
            ("'api_token=hunter2'", "'api_token=***'"),
            ("0=password=hunter2", "0=password=***"),
            ("run.sh --access-key=hunter2 --full", "run.sh --access-key=*** --full"),
            (r#"'{"user": "sa", "apiToken": "hunter2", "a": 1}'"#, r#"'{"user": "sa", "apiToken": "***", "a": 1}'"#),
            (r#"'{"password":"a\"hunter2"}'"#, r#"'{"password":"***"}'"#),
            (r#"'{"pwd":12,"secrets":["hunter2","hunter2"]}'"#, r#"'{"pwd":"***","secrets":"***"}'"#),
            (r#""{\"secret\": \"hunter2\", \"a\": 1}""#, r#""{\"secret\": \"***\", \"a\": 1}""#),
            ("0=Beijing,1=Shanghai", "0=Beijing,1=Shanghai"),
        ] {
            assert_eq!(mask(&format!("jobParameter: {value}\n")), format!("jobParameter: {masked}\n"));
        }
    }

    #[test]
    fn what_cannot_be_masked_line_by_line_is_not_shown() {
        for document in
            ["{\"props\": {\"a.password\": \"hunter2\"}}", "props: {a.password: hunter2}\n", "  {password: [hunter2\n"]
        {
            let masked = mask(document);
            assert!(!masked.contains("hunter2"), "{masked}");
        }
    }
}
