//! Keeping secrets out of what operators are shown.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde_yaml_ng::Value;

use crate::secret::Secret;

/// Parts of names whose values are secrets.
const WORDS: [&str; 9] =
    ["password", "passwd", "pwd", "secret", "webhook", "token", "credential", "accesskey", "digest"];

/// Whether a property holds a secret, judging by its name: passwords, tokens, and webhooks, whose address is one.
pub fn is_secret_key(key: &str) -> bool {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    WORDS.iter().any(|word| key.contains(word))
}

/// A document in YAML without its secrets: values of such names, and passwords inside of addresses.
pub(super) fn mask(document: &str) -> String {
    let masked = mask_lines(document);
    match serde_yaml_ng::from_str::<Value>(&masked) {
        Ok(value) if !holds_secrets(&value) => mask_addresses(&masked),
        // It is written in another way than one key a line.
        _ if is_suspect(document) => {
            format!("{} (it names secrets that cannot be masked one by one)", Secret::MASK)
        }
        _ => mask_addresses(document),
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

/// Users with passwords before a host, and parameters of addresses.
fn mask_addresses(text: &str) -> String {
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"(?i)(://)[^/@\s:'"]*:[^@\s'"]+@|([?&;][a-z0-9_.-]*(?:password|passwd|pwd|secret|token|access[_-]?key)[a-z0-9_.-]*=)[^&;\s'"]+"#;
        Regex::new(pattern).expect("a pattern that is known")
    });
    let replace = |found: &Captures<'_>| match (found.get(1), found.get(2)) {
        (Some(_), _) => format!("://{}@", Secret::MASK),
        (_, Some(name)) => format!("{}{}", name.as_str(), Secret::MASK),
        _ => Secret::MASK.to_owned(),
    };
    ADDRESS.replace_all(text, replace).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for key in ["email.password", "dingtalk.webhook", "dingtalk.secret", "apiToken", "access-key", "DB_PWD"] {
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
    fn what_cannot_be_masked_line_by_line_is_not_shown() {
        for document in
            ["{\"props\": {\"a.password\": \"hunter2\"}}", "props: {a.password: hunter2}\n", "  {password: [hunter2\n"]
        {
            let masked = mask(document);
            assert!(!masked.contains("hunter2"), "{masked}");
        }
    }
}
