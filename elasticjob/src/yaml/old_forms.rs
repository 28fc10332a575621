//! Characters that SnakeYAML, which speaks YAML 1.1, writes as they are, and YAML 1.2 has no place for: the line breaks
//! U+0085, U+2028 and U+2029, with which lines of literal blocks end, and the byte order mark U+FEFF.

const OLD: [char; 4] = ['\u{85}', '\u{2028}', '\u{2029}', MARK];
const MARK: char = '\u{feff}';

/// A text with such characters in the form of YAML 1.2, and what they were.
pub(super) struct OldForms {
    text: String,
    /// What ended each line.
    ends: Vec<char>,
    /// A character that stands for a byte order mark, and nowhere else in the text.
    stand_in: char,
}

impl OldForms {
    /// `None` where a text has none of them.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.contains(OLD) {
            return None;
        }
        let stand_in = ('\u{e000}'..='\u{f8ff}').find(|c| !text.contains(*c))?;
        let mut written = String::with_capacity(text.len());
        let mut ends = Vec::new();
        // At the start it is not of the text.
        let mut characters = text.strip_prefix(MARK).unwrap_or(text).chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                '\r' if characters.peek() == Some(&'\n') => {}
                '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                    written.push('\n');
                    ends.push(if matches!(c, '\u{2028}' | '\u{2029}') { c } else { '\n' });
                }
                MARK => written.push(stand_in),
                c => written.push(c),
            }
        }
        // The parser tells the place of an empty block that ends the text in another way.
        written.push_str(if written.ends_with('\n') { "#" } else { "\n#" });
        Some(Self { text: written, ends, stand_in })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A scalar with its byte order marks.
    pub(super) fn restored(&self, scalar: &str) -> String {
        scalar.replace(self.stand_in, "\u{feff}")
    }

    /// A literal block, which has a break for each of its lines, with the breaks as they were. The parser places it in the
    /// first line after those that are empty.
    pub(super) fn restored_block(&self, scalar: &str, line: usize) -> String {
        let empty = scalar.len() - scalar.trim_start_matches('\n').len();
        let first = line.saturating_sub(1 + empty);
        let mut ends = self.ends.iter().skip(first);
        let restore = |c| if c == '\n' { *ends.next().unwrap_or(&'\n') } else { c };
        self.restored(&scalar.chars().map(restore).collect::<String>())
    }
}
