//! Texts as words of a shell: names of jobs and servers may hold signs that a shell acts on.

/// The text as one word of a POSIX shell: within quotes, unless it has letters, digits and harmless signs alone. For commands
/// that people copy.
pub fn shell_word(text: &str) -> String {
    let is_harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/' | '@' | ',' | '+');
    match !text.is_empty() && text.chars().all(is_harmless) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_of_a_shell_and_nothing_in_it_is_run() {
        for (text, word) in [
            ("settle", "settle"),
            ("10.0.0.1@-@7", "10.0.0.1@-@7"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(reboot)`x`", "'$(reboot)`x`'"),
            ("it's", r"'it'\''s'"),
            ("报表", "'报表'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
