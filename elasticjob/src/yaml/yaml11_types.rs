//! The types that YAML 1.1 gives to plain scalars. SnakeYAML reads by these rules. So a text that looks like another
//! type has to be quoted, and a flag or a number may be written in more ways than YAML 1.2 knows.

/// Whether a plain scalar is read as text, not as null, a flag, a number, a time or a merge key.
pub(super) fn is_text(plain: &str) -> bool {
    !(matches!(plain, "" | "~" | "null" | "Null" | "NULL" | "<<")
        || flag(plain).is_some()
        || is_integer(plain)
        || is_float(plain)
        || is_timestamp(plain))
}

/// The flag that a plain scalar means.
pub(crate) fn flag(plain: &str) -> Option<bool> {
    match plain {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// The whole number that a plain scalar means: decimal, `0x`, `0b`, octal with a leading zero, with `_` anywhere.
/// `None` when it is no number or beyond 64 bits. Sexagesimal numbers (`1:30`) are left out.
pub(crate) fn integer(plain: &str) -> Option<i64> {
    if !is_integer(plain) || plain.contains(':') {
        return None;
    }
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unsigned(plain)),
    };
    let digits = digits.replace('_', "");
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits.as_str(), 10),
    };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

fn is_integer(plain: &str) -> bool {
    let digits = unsigned(plain);
    let made_of = |digits: &str, allowed: fn(u8) -> bool| {
        digits.bytes().any(allowed) && digits.bytes().all(|byte| byte == b'_' || allowed(byte))
    };
    match digits.as_bytes() {
        b"0" => true,
        [b'0', b'b', ..] => made_of(&digits[2..], |byte| matches!(byte, b'0' | b'1')),
        [b'0', b'x', ..] => made_of(&digits[2..], |byte| byte.is_ascii_hexdigit()),
        // Without a sign, this also matches texts that are no octal number after all: `08`, `0_`.
        [b'0', ..] if digits.len() == plain.len() => after_digits(digits).is_empty(),
        [b'0', ..] => made_of(&digits[1..], |byte| matches!(byte, b'0'..=b'7')),
        [b'1'..=b'9', ..] => after_sexagesimals(after_digits(digits)).is_empty(),
        _ => false,
    }
}

fn is_float(plain: &str) -> bool {
    let number = unsigned(plain);
    if matches!(number, ".inf" | ".Inf" | ".INF") || matches!(plain, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    if let Some(fraction) = number.strip_prefix('.') {
        let rest = after_digits(fraction);
        return rest.len() < fraction.len() && (rest.is_empty() || is_exponent(rest));
    }
    if !number.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let rest = after_digits(number);
    if rest.starts_with(':') {
        return after_sexagesimals(rest).strip_prefix('.').is_some_and(|fraction| after_digits(fraction).is_empty());
    }
    match rest.strip_prefix('.').map(after_digits) {
        Some(rest) => rest.is_empty() || is_exponent(rest),
        None => is_exponent(rest),
    }
}

fn is_timestamp(plain: &str) -> bool {
    let Some((year, rest)) = number(plain, 4..=4).and_then(|(year, rest)| Some((year, rest.strip_prefix('-')?))) else {
        return false;
    };
    let Some((month, rest)) = number(rest, 1..=2).and_then(|(month, rest)| Some((month, rest.strip_prefix('-')?)))
    else {
        return false;
    };
    let Some((day, rest)) = number(rest, 1..=2) else { return false };
    if rest.is_empty() {
        return [year, month, day] == [4, 2, 2];
    }
    is_time_of_day(match rest.strip_prefix(['T', 't']) {
        Some(rest) => rest,
        None if rest.starts_with([' ', '\t']) => rest.trim_start_matches([' ', '\t']),
        None => return false,
    })
}

fn is_time_of_day(text: &str) -> bool {
    let minute_and_second = |rest: &'_ str| -> Option<usize> {
        let (_, rest) = number(rest.strip_prefix(':')?, 2..=2)?;
        number(rest.strip_prefix(':')?, 2..=2).map(|(_, rest)| rest.len())
    };
    let Some(length) = number(text, 1..=2).and_then(|(_, rest)| minute_and_second(rest)) else { return false };
    let rest = &text[text.len() - length..];
    let rest =
        rest.strip_prefix('.').map_or(rest, |fraction| fraction.trim_start_matches(|c: char| c.is_ascii_digit()));
    let zone = rest.trim_start_matches([' ', '\t']);
    match zone.strip_prefix(['+', '-']).map(|offset| number(offset, 1..=2)) {
        None => rest.is_empty() || zone == "Z",
        Some(None) => false,
        Some(Some((_, ""))) => true,
        Some(Some((_, minutes))) => {
            matches!(minutes.strip_prefix(':').map(|minutes| number(minutes, 2..=2)), Some(Some((_, ""))))
        }
    }
}

/// How many digits a text starts with, within the allowed range, and the rest.
fn number(text: &str, allowed: std::ops::RangeInclusive<usize>) -> Option<(usize, &str)> {
    let count = text.bytes().take(*allowed.end()).take_while(u8::is_ascii_digit).count();
    allowed.contains(&count).then(|| (count, &text[count..]))
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn after_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_')
}

/// The rest after the parts `:0` to `:59` that a text starts with.
fn after_sexagesimals(mut text: &str) -> &str {
    while let Some(part) = text.strip_prefix(':') {
        text = match part.as_bytes() {
            [b'0'..=b'5', b'0'..=b'9', ..] => &part[2..],
            [b'0'..=b'9', ..] => &part[1..],
            _ => return text,
        };
    }
    text
}

fn is_exponent(text: &str) -> bool {
    text.strip_prefix(['e', 'E'])
        .map(unsigned)
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_another_type_is_no_text() {
        for plain in [
            "",
            "~",
            "Null",
            "<<",
            "yes",
            "OFF",
            "0",
            "-12",
            "1_000",
            "0b1_0",
            "0x1F",
            "017",
            "12:30:45",
            "1.",
            "1.5e3",
            "1e3",
            ".5",
            "08",
            "-.inf",
            ".NaN",
            "1:30.5",
            "2020-01-01",
            "2020-1-1T1:00:00",
            "2020-01-01 10:00:00.5 +08:00",
            "2020-01-01t10:00:00Z",
        ] {
            assert!(!is_text(plain), "{plain}");
        }
        for plain in [
            "yEs",
            "y",
            "nUll",
            "0o17",
            "-08",
            "1:60",
            "1,000",
            "2020-1-1",
            "2020-01-01 ",
            "2020-01-01 10:00",
            "-.nan",
            "1e",
            ".",
            "0x",
            "192.168.0.1",
            "GMT+8:00",
            "0/5",
            "2020-01-01T10:00:00+8:0",
        ] {
            assert!(is_text(plain), "{plain}");
        }
    }

    #[test]
    fn whole_numbers_are_read_in_every_notation_of_yaml_1_1() {
        for (plain, number) in
            [("0", 0), ("-1", -1), ("+7", 7), ("1_000", 1000), ("0x1F", 31), ("-0x10", -16), ("017", 15), ("0b101", 5)]
        {
            assert_eq!(integer(plain), Some(number), "{plain}");
        }
        for plain in ["", "1.0", "1:30", "08", "0x", "0b__", "99999999999999999999", "three"] {
            assert_eq!(integer(plain), None, "{plain}");
        }
    }
}
