//! The outputs of processes, as text.

/// The end of an output as text, whose bytes are counted as the process wrote them: the text has as many. A byte that belongs to no
/// character is `?`. At the beginning such bytes are left out, as the cut may have divided a character.
pub(crate) fn text(end: &[u8]) -> String {
    let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let rest = end.iter().take(char::MAX.len_utf8() - 1).take_while(is_rest).count();
    let mut text = String::with_capacity(end.len());
    for part in end[rest..].utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|_| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_as_many_bytes_as_the_process_wrote_and_no_part_of_a_character() {
        let output = "an end \u{4e2d}\u{6587}".as_bytes();
        assert_eq!(text(output), "an end \u{4e2d}\u{6587}");
        for cut in 0..output.len() {
            let text = text(&output[cut..]);
            assert!(!text.contains('?'), "{text}");
            let left = output.len() - cut;
            assert!(text.len() <= left && text.len() + 2 >= left, "{cut}: {text}");
        }
        let binary = [b'a', 0xff, 0xfe, 0xe4, 0xb8, b'b', 0x80, 0x80, 0x80, 0x80, 0xe4];
        assert_eq!(text(&binary), "a????b?????");
        assert_eq!(text(&[0x80; 5]), "??", "three of them may be the rest of a character");
    }
}
