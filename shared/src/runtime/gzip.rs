//! Adds text in front of a file that was compressed when the service was built. The text of a response differs from
//! request to request and is short, so it is not worth a compressor.

/// The length of a gzip header without optional fields. zlib writes such headers.
const HEADER_BYTES: usize = 10;
/// The checksum and the length of the uncompressed content.
const TRAILER_BYTES: usize = 8;

/// Returns a gzip file with `text` followed by the content of `gzip`, a gzip file without optional header fields, whose
/// content is `identity`. Returns `None` if `gzip` is no such file, or if the text is longer than 65,535 bytes.
pub(crate) fn prepend(text: &[u8], gzip: &[u8], identity: &[u8]) -> Option<Vec<u8>> {
    let (header, rest) = gzip.split_at_checked(HEADER_BYTES)?;
    let (blocks, _) = rest.split_at_checked(rest.len().checked_sub(TRAILER_BYTES)?)?;
    let [0x1f, 0x8b, _, 0, ..] = header else { return None };
    let length = u16::try_from(text.len()).ok()?;
    // A stored block (RFC 1951, section 3.2.4), which is not the last one. It ends at a byte boundary, so the file's
    // blocks can follow. They refer to earlier content by its distance, which the text in front does not change.
    let stored = [&[0], &length.to_le_bytes()[..], &(!length).to_le_bytes(), text].concat();
    let total = u32::try_from(text.len() + identity.len()).ok()?;
    let checksum = crc32(text.iter().chain(identity));
    Some([header, &stored, blocks, &checksum.to_le_bytes(), &total.to_le_bytes()].concat())
}

fn crc32<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    !bytes.fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"loader loader loader\n";
    /// `TEXT`, compressed with `gzip -9n`.
    const GZIP: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\xc9OLI-R\xc8A\xa6\xb8\0\x92\xfa&\x9b\x15\0\0\0";
    /// `x=1;` in a stored block, the block of `GZIP`, and the checksum and length of both. `gunzip` accepts this file.
    const EXPECTED: &[u8] =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\0\x04\0\xfb\xffx=1;\xcb\xc9OLI-R\xc8A\xa6\xb8\0)%\xd6\xce\x19\0\0\0";

    #[test]
    fn text_is_put_before_the_blocks_of_the_file() {
        assert_eq!(prepend(b"x=1;", GZIP, TEXT).as_deref(), Some(EXPECTED));
    }

    #[test]
    fn other_files_and_long_texts_are_refused() {
        let named = [&GZIP[..3], &[8], &GZIP[4..]].concat();
        for file in [b"".as_slice(), b"plain text, which is long enough", &GZIP[..12], &named] {
            assert_eq!(prepend(b"x=1;", file, TEXT), None);
        }
        assert_eq!(prepend(&[b' '; 65_536], GZIP, TEXT), None);
    }
}
