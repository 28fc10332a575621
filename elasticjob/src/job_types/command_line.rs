//! Splits a command line into program and arguments, as ElasticJob's library does: blanks separate words, quotes of
//! either kind keep together what they enclose, and there is no other special character. No shell is involved.

/// The words of a command line.
///
/// # Errors
/// The text says what is wrong: a quote that is not closed, or no word at all.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut open: Option<(char, usize)> = None;
    for (place, character) in line.chars().enumerate() {
        match (open, character) {
            (Some((quote, _)), _) if character == quote => open = None,
            (None, '"' | '\'') => {
                open = Some((character, place));
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if let Some((quote, place)) = open {
        return Err(format!("the quote {quote} at character {} is not closed", place + 1));
    }
    words.extend(word);
    match words.first().map(String::as_str) {
        None | Some("") => Err("no program is named".to_owned()),
        Some(_) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_separate_and_quotes_keep_together() {
        let cases: [(&str, &[&str]); 7] = [
            ("echo", &["echo"]),
            ("  echo   a  b ", &["echo", "a", "b"]),
            ("sh -c 'a b' \"c 'd'\"", &["sh", "-c", "a b", "c 'd'"]),
            ("a'b c'd", &["ab cd"]),
            ("echo ''", &["echo", ""]),
            (r"echo \n $HOME *", &["echo", r"\n", "$HOME", "*"]),
            ("回声 北京", &["回声", "北京"]),
        ];
        for (line, words) in cases {
            assert_eq!(
                split(line).as_deref(),
                Ok(words.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice())
            );
        }
    }

    #[test]
    fn what_cannot_be_run_is_an_error() {
        assert_eq!(split("echo 'a"), Err("the quote ' at character 6 is not closed".to_owned()));
        assert_eq!(split("  "), Err("no program is named".to_owned()));
        assert_eq!(split("''"), Err("no program is named".to_owned()));
    }
}
