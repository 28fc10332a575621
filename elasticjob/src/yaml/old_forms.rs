//! Characters that SnakeYAML, which follows YAML 1.1, writes as they are, and that YAML 1.2 does not allow: the line
//! breaks U+0085, U+2028 and U+2029, which end lines of literal blocks, and the byte order mark U+FEFF.

const OLD: [char; 4] = ['\u{85}', '\u{2028}', '\u{2029}', MARK];
const MARK: char = '\u{feff}';

/// A text with such characters, rewritten for YAML 1.2, with the original characters.
pub(super) struct OldForms {
    text: String,
    /// The character that ended each line.
    ends: Vec<char>,
    /// A character that replaces byte order marks, and that the original text does not have.
    stand_in: char,
}

impl OldForms {
    /// `None` where a text has no such character.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.contains(OLD) {
            return None;
        }
        let stand_in = ('\u{e000}'..='\u{f8ff}').find(|c| !text.contains(*c))?;
        let mut written = String::with_capacity(text.len());
        let mut ends = Vec::new();
        // A mark at the start does not belong to the text.
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
        // Without this the parser reports another place for an empty block at the end of the text.
        written.push_str(if written.ends_with('\n') { "#" } else { "\n#" });
        Some(Self { text: written, ends, stand_in })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A scalar with its byte order marks restored.
    pub(super) fn restored(&self, scalar: &str) -> String {
        scalar.replace(self.stand_in, "\u{feff}")
    }

    /// A literal block with its original line breaks; it has one break for each of its lines. The parser reports the
    /// first line that is not empty as the place of the block.
    pub(super) fn restored_block(&self, scalar: &str, line: usize) -> String {
        let empty = scalar.len() - scalar.trim_start_matches('\n').len();
        let first = line.saturating_sub(1 + empty);
        let mut ends = self.ends.iter().skip(first);
        let restore = |c| if c == '\n' { *ends.next().unwrap_or(&'\n') } else { c };
        self.restored(&scalar.chars().map(restore).collect::<String>())
    }
}
