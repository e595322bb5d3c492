//! Whole numbers in texts that callers send.

/// Parses a number that consists of ASCII digits only. `u64::from_str` would also accept a leading `+`.
pub(crate) fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Parses a number in the only form in which the service writes it: digits without leading zeros. Paths and cursors
/// contain numbers in this form, so that each resource or position has exactly one text representation.
pub(crate) fn parse_canonical_number(text: &str) -> Option<u64> {
    parse_digits(text).filter(|_| text == "0" || !text.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_number_has_no_sign_and_no_leading_zero() {
        let max = u64::MAX.to_string();
        for (text, number) in [("0", Some(0)), ("17", Some(17)), (max.as_str(), Some(u64::MAX))] {
            assert_eq!(parse_canonical_number(text), number, "{text}");
        }
        for text in ["", "+5", "-0", "00", "007", " 7", "7 ", "1.0", "18446744073709551616", "\u{661}"] {
            assert_eq!(parse_canonical_number(text), None, "{text}");
        }
    }
}
