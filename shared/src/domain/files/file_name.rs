//! The names of files: what a browser may write to a disk, and the header that carries it.

use std::fmt::Write as _;

use crate::domain::files::file_type::{FileFamily, FileType};

/// In bytes of UTF-8. S3 keeps at most 2 KB of metadata, in which each byte takes up to three.
const MAX_NAME_BYTES: usize = 200;
const MAX_EXTENSION_BYTES: usize = 20;
const DEFAULT_NAME: &str = "file";

/// The name of a file without a path, and without characters that could hide its extension or break a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    pub fn new(name: &str) -> Self {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let visible: String = last.chars().filter(|letter| is_allowed(*letter)).collect();
        let name = visible.trim_matches(|letter: char| letter == '.' || letter.is_whitespace());
        Self(if name.is_empty() { DEFAULT_NAME.to_owned() } else { shortened(name) })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name for a header or metadata of S3, which are ASCII.
    pub fn percent_encoded(&self) -> String {
        self.0.bytes().fold(String::new(), |mut encoded, byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
            encoded
        })
    }

    /// Returns the `Content-Disposition` of the file (RFC 6266). Only images, audio and video are shown.
    pub fn content_disposition(&self, file_type: FileType) -> String {
        let kind = if file_type.family() == FileFamily::Download { "attachment" } else { "inline" };
        format!("{kind}; filename*=UTF-8''{}", self.percent_encoded())
    }
}

/// Control characters end a header, the characters for the direction of text show `exe.png` for `gnp.exe`, and the
/// others are not allowed in the names of files of some operating systems.
fn is_allowed(letter: char) -> bool {
    let has_no_width = matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{feff}');
    let sets_direction = matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    !letter.is_control() && !has_no_width && !sets_direction && !"<>:\"|?*".contains(letter)
}

/// Shortens the part before the extension.
fn shortened(name: &str) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    let extension = name.rfind('.').and_then(|start| name.get(start..)).unwrap_or_default();
    let extension = if extension.len() <= MAX_EXTENSION_BYTES { extension } else { "" };
    let stem = name.get(..name.floor_char_boundary(MAX_NAME_BYTES - extension.len())).unwrap_or_default();
    format!("{stem}{extension}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_no_path_and_hides_nothing() {
        for (name, expected) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Windows\\cmd.exe", "cmd.exe"),
            ("a\r\nSet-Cookie: x=1", "aSet-Cookie x=1"),
            ("photo\u{202e}gnp.exe", "photognp.exe"),
            ("ünï\u{200b}.txt", "ünï.txt"),
            (" ..hidden. ", "hidden"),
            ("a\"b.png", "ab.png"),
            ("", "file"),
            ("...", "file"),
            ("/", "file"),
        ] {
            assert_eq!(FileName::new(name).as_str(), expected, "{name:?}");
        }
    }

    #[test]
    fn long_name_keeps_its_extension() {
        let name = FileName::new(&format!("{}.png", "ü".repeat(300)));
        assert!(name.as_str().ends_with("ü.png") && name.as_str().len() <= MAX_NAME_BYTES, "{name:?}");
        assert_eq!(FileName::new(&"a".repeat(900)).as_str().len(), MAX_NAME_BYTES);
    }

    #[test]
    fn only_media_are_shown() {
        let name = FileName::new("ü 1.png");
        assert_eq!(name.content_disposition(FileType::Png), "inline; filename*=UTF-8''%C3%BC%201.png");
        assert_eq!(name.content_disposition(FileType::Pdf), "attachment; filename*=UTF-8''%C3%BC%201.png");
    }
}
