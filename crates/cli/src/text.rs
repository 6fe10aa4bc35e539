//! Texts of other programs and systems, as their bytes say how to read them.

/// The text of a file, by the mark that it may begin with: what a shell of Windows writes is UTF-16, and what an editor of it writes
/// has the mark of UTF-8, which is no part of the text.
pub fn text_of(bytes: &[u8]) -> String {
    let of_units = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|it| unit([it[0], it[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, text @ ..] => of_units(text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] => of_units(text, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pip freeze >requirements.txt` in PowerShell, and a package.json of an editor's.
    #[test]
    fn a_text_is_read_by_the_mark_that_it_begins_with() {
        let utf_16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}flask é\r\n".encode_utf16().flat_map(unit).collect()
        };
        assert_eq!(text_of(&utf_16(u16::to_le_bytes)), "flask é\r\n");
        assert_eq!(text_of(&utf_16(u16::to_be_bytes)), "flask é\r\n");
        assert_eq!(text_of(b"\xef\xbb\xbf{}"), "{}");
        assert_eq!(text_of("é".as_bytes()), "é");
        // Of what is cut within a letter, and of other encodings, as much as there is.
        assert_eq!(text_of(b"\xff\xfea\0b"), "a");
        assert_eq!(text_of(b"a\xe9"), "a\u{fffd}");
        assert_eq!(text_of(b""), "");
    }
}
