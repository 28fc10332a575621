//! Secrets inside of texts that are none themselves: addresses, command lines, parameters, errors.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use super::{Secret, keys};

/// A text without the secrets in it: users with passwords before a host, parameters of addresses and command lines, and
/// values in JSON.
pub(crate) fn mask_inside(text: &str) -> String {
    static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
        let word = keys::pattern();
        // Names go on to both sides of such a word.
        let name = format!("[a-z0-9_.-]*{word}[a-z0-9_.-]*");
        let user = r#"(?P<user>://)[^/@\s:'"]*:[^@\s'"]+@"#;
        // In YAML and JSON, quotes may be escaped, or doubled.
        let quoted = r#"\\+"[^"\n]*"|"[^"\n]*"|'+[^'\n]+'+"#;
        let parameter = format!(r#"(?P<parameter>(?:^|[\s?&;,='"]){name}=)(?:{quoted}|[^&;\s'"]+)"#);
        // An option that has no value is followed by another one.
        let option = format!(r#"(?P<option>(?:^|[\s'"])--?{name}[ \t]+)(?:{quoted}|[^-&;\s'"][^&;\s'"]*)"#);
        let value = r#"(?:\\"[^"]*"|"(?:[^"\\]|\\.)*"|[\[{][^\]}]*[\]}]|[^\s,}\]"']+)"#;
        let json = format!(r#"(?P<escape>\\?)(?P<json>"[a-z0-9_. -]*{word}[a-z0-9_. -]*\\?"[ \t]*:[ \t]*){value}"#);
        Regex::new(&format!("(?im){user}|{parameter}|{option}|{json}")).expect("a pattern that is known")
    });
    let replace = |found: &Captures<'_>| {
        let part = |group| found.name(group).map_or("", |part| part.as_str());
        if found.name("user").is_some() {
            return format!("://{}@", Secret::MASK);
        }
        if found.name("json").is_some() {
            return format!(r#"{0}{1}{0}"{2}{0}""#, part("escape"), part("json"), Secret::MASK);
        }
        format!("{}{}{}", part("parameter"), part("option"), Secret::MASK)
    };
    SECRETS.replace_all(text, replace).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_at_the_start_of_a_text_inside_of_it_and_in_json() {
        for (text, masked) in [
            ("token=hunter2&all=1", "token=***&all=1"),
            ("'api_token=hunter2'", "'api_token=***'"),
            ("0=password=hunter2", "0=password=***"),
            ("run.sh --access-key=hunter2 --full", "run.sh --access-key=*** --full"),
            (
                "cannot GET http://h/x?all=1&access_token=hunter2: refused",
                "cannot GET http://h/x?all=1&access_token=*** refused",
            ),
            ("http://sa:hunter2@h/x", "http://***@h/x"),
            (r#"{"user": "sa", "apiToken": "hunter2", "a": 1}"#, r#"{"user": "sa", "apiToken": "***", "a": 1}"#),
            (r#"{"password":"a\"hunter2"}"#, r#"{"password":"***"}"#),
            (r#"{"pwd":12,"secrets":["hunter2","hunter2"]}"#, r#"{"pwd":"***","secrets":"***"}"#),
            (r#""{\"secret\": \"hunter2\", \"a\": 1}""#, r#""{\"secret\": \"***\", \"a\": 1}""#),
        ] {
            assert_eq!(mask_inside(text), masked);
        }
    }

    #[test]
    fn secrets_of_command_lines_may_be_quoted_or_stand_apart() {
        for (text, masked) in [
            ("run --password='hunter 2' -v", "run --password=*** -v"),
            (r#"DB_PWD="hunter 2" run"#, "DB_PWD=*** run"),
            (r#"{"error":"run --api-key=\"hunter 2\" failed"}"#, r#"{"error":"run --api-key=*** failed"}"#),
            ("'run --password=''hunter 2'' -v'", "'run --password=*** -v'"),
            ("run --password hunter2 -v", "run --password *** -v"),
            ("run -token 'hunter 2'", "run -token ***"),
            ("run --no-password --full", "run --no-password --full"),
        ] {
            assert_eq!(mask_inside(text), masked);
        }
    }

    #[test]
    fn a_text_without_secrets_stays_as_it_is() {
        for text in [
            "0=Beijing,1=Shanghai",
            "invalid token: expected a word",
            "http://h:8080/x?all=1",
            r#"{"last":{"attempt":{"term":1},"error":"boom"}}"#,
        ] {
            assert_eq!(mask_inside(text), text);
        }
    }
}
