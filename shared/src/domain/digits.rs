//! Numbers in cursors and search texts.

/// Parses a number that consists of digits only. `u64::from_str` would also accept a sign.
pub(crate) fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
