//! Characters that show nothing.

use std::ops::RangeInclusive;

/// The characters that Unicode has for formats and as fillers, and those that are to be ignored where they cannot be shown. Spaces and control
/// characters are not among them.
const INVISIBLE: &[RangeInclusive<char>] = &[
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Whether a reader sees something where this character is.
pub(super) fn is_visible(character: char) -> bool {
    let is_mark = INVISIBLE.iter().any(|invisible| invisible.contains(&character));
    !character.is_whitespace() && !character.is_control() && !is_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_marks_and_fillers_are_nothing_that_a_reader_sees() {
        for character in " \t\0\u{ad}\u{200b}\u{2060}\u{2800}\u{3000}\u{3164}\u{feff}\u{e0020}".chars() {
            assert!(!is_visible(character), "{character:?}");
        }
        for character in "a.é原👍٣".chars() {
            assert!(is_visible(character), "{character:?}");
        }
    }
}
