//! Keeps secrets out of documents that are shown.

use super::{Secret, is_secret_key, mask_inside};
use crate::yaml::{self, Node, Value};

/// A YAML document without its secrets: without the values whose names mean a secret, also inside of other values, and
/// without passwords in addresses.
pub(crate) fn mask_document(document: &str) -> String {
    let masked = mask_lines(document);
    match yaml::parse(&masked, yaml::LIMITS_OF_CONFIGURATION) {
        Ok(root) if !root.as_ref().is_some_and(holds_secrets) => mask_inside(&masked),
        // The document does not have one key a line.
        _ if is_suspect(document) => {
            format!("{} (it names secrets that cannot be masked one by one)", Secret::MASK)
        }
        _ => mask_inside(document),
    }
}

fn mask_lines(document: &str) -> String {
    let mut masked = String::new();
    // The indentation of the secret's line: lines that are indented further continue the secret.
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

fn holds_secrets(node: &Node) -> bool {
    match &node.value {
        Value::Map(entries) => entries.iter().any(|(key, value)| match &value.value {
            Value::Map(_) | Value::List(_) => holds_secrets(value),
            Value::Scalar { .. } => {
                let is_shown = value.text().is_some_and(|text| !text.is_empty() && text != Secret::MASK);
                is_shown && key.text().is_some_and(is_secret_key)
            }
        }),
        Value::List(items) => items.iter().any(holds_secrets),
        Value::Scalar { .. } => false,
    }
}

fn is_suspect(document: &str) -> bool {
    document.lines().any(is_secret_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_masked_and_nothing_else_is() {
        let document = "cron: 0 0 3 * * ?\nprops:\n  email.host: h\n  email.password: |-\n    two\n    lines\n  'wechat.webhook': 'https://x?key=abc'\nstaticSharding: false\n";
        let masked = "cron: 0 0 3 * * ?\nprops:\n  email.host: h\n  email.password: '***'\n  'wechat.webhook': '***'\nstaticSharding: false\n";
        assert_eq!(mask_document(document), masked);
        let plain = "jobName: a\nprops:\n  k: v\n";
        assert_eq!(mask_document(plain), plain);
    }

    #[test]
    fn the_data_source_of_a_java_job_is_masked() {
        let document = "jobExtraConfigurations:\n- !!org.a.B\n  storage: !!org.a.C\n    props:\n      password: hunter2\n      jdbcUrl: jdbc:mysql://sa:hunter2@db/x?user=sa&password=hunter2\n  type: RDB\n";
        let masked = mask_document(document);
        assert!(!masked.contains("hunter2"), "{masked}");
        assert!(masked.contains("jdbc:mysql://***@db/x?user=sa&password=***") && masked.ends_with("  type: RDB\n"));
    }

    #[test]
    fn the_body_of_requests_is_masked() {
        let document = "props:\n  http.data: |-\n    hunter2\n    hunter2\n  http.method: POST\n";
        assert_eq!(mask_document(document), "props:\n  http.data: '***'\n  http.method: POST\n");
        assert!(!mask_document("props: {http.data: hunter2}\n").contains("hunter2"));
    }

    #[test]
    fn secrets_inside_of_values_are_masked_however_they_are_quoted() {
        for (value, masked) in [
            ("token=hunter2&all=1", "token=***&all=1"),
            ("'api_token=hunter2'", "'api_token=***'"),
            ("'{\"user\": \"sa\", \"apiToken\": \"hunter2\"}'", "'{\"user\": \"sa\", \"apiToken\": \"***\"}'"),
            (r#""{\"secret\": \"hunter2\", \"a\": 1}""#, r#""{\"secret\": \"***\", \"a\": 1}""#),
            ("0=Beijing,1=Shanghai", "0=Beijing,1=Shanghai"),
        ] {
            assert_eq!(mask_document(&format!("jobParameter: {value}\n")), format!("jobParameter: {masked}\n"));
        }
    }

    #[test]
    fn what_cannot_be_masked_line_by_line_is_not_shown() {
        for document in
            ["{\"props\": {\"a.password\": \"hunter2\"}}", "props: {a.password: hunter2}\n", "  {password: [hunter2\n"]
        {
            let masked = mask_document(document);
            assert!(!masked.contains("hunter2"), "{masked}");
        }
    }
}
