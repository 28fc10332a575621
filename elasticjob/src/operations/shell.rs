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

/// The text as an operand of a command of `elasticjob`: one that begins with a dash would be taken for an option. Operands come
/// last in their line.
pub fn shell_operand(text: &str) -> String {
    let word = shell_word(text);
    if text.starts_with('-') { format!("-- {word}") } else { word }
}

/// An option of a command of `elasticjob` with the text as its value: `--job settle`.
pub fn shell_option(option: &str, text: &str) -> String {
    let sign = if text.starts_with('-') { '=' } else { ' ' };
    format!("{option}{sign}{}", shell_word(text))
}

/// A command of `elasticjob`, to be pasted into a shell, with values in the place of the names in braces: those of options, and
/// operands after them. A name without a value is one that the reader fills in: `{item}` becomes `ITEM`.
pub fn shell_command(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = template.split('{');
    let mut before = parts.next().unwrap_or_default();
    let mut line = before.to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let option = before.trim_end().rsplit(' ').next().filter(|word| word.starts_with("--"));
        match (value(name), option) {
            (None, _) => line.push_str(&name.to_ascii_uppercase()),
            (Some(value), None) => line.push_str(&shell_operand(&value)),
            (Some(value), Some(option)) => {
                line.truncate(line.trim_end().len() - option.len());
                line.push_str(&shell_option(option, &value));
            }
        }
        line.push_str(rest);
        before = rest;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_values_as_options_and_operands_and_what_is_unknown_in_capitals() {
        let command = |template: &str, job: &str| {
            let value = |name: &str| match name {
                "job" => Some(job.to_owned()),
                "at" => Some("2026-11-21T03:00:00Z".to_owned()),
                _ => None,
            };
            shell_command(template, value)
        };
        for (template, plain, dashed) in [
            ("elasticjob trigger {job}", "elasticjob trigger settle", "elasticjob trigger -- --x"),
            ("elasticjob enable --job {job}", "elasticjob enable --job settle", "elasticjob enable --job=--x"),
            (
                "elasticjob enable --job {job} --item {item}",
                "elasticjob enable --job settle --item ITEM",
                "elasticjob enable --job=--x --item ITEM",
            ),
            (
                "elasticjob why --at {at} {job}",
                "elasticjob why --at 2026-11-21T03:00:00Z settle",
                "elasticjob why --at 2026-11-21T03:00:00Z -- --x",
            ),
            (
                "elasticjob trigger --server {job} {job}",
                "elasticjob trigger --server settle settle",
                "elasticjob trigger --server=--x -- --x",
            ),
            ("elasticjob jobs", "elasticjob jobs", "elasticjob jobs"),
        ] {
            assert_eq!((command(template, "settle"), command(template, "--x")), (plain.to_owned(), dashed.to_owned()));
        }
        assert_eq!(
            command("elasticjob config set {job} cron='EXPR'", "it's"),
            r"elasticjob config set 'it'\''s' cron='EXPR'"
        );
    }

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
