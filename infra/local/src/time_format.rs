//! The two notations of time that events use.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

/// As in access logs: `12/Mar/2026:19:03:58 +0000`.
pub(crate) fn log_time(at: OffsetDateTime) -> String {
    let format = format_description!("[day]/[month repr:short]/[year]:[hour]:[minute]:[second] +0000");
    at.format(&format).unwrap_or_default()
}

/// Whole seconds: `2026-03-12T19:03:58Z`.
pub(crate) fn iso_time(at: OffsetDateTime) -> String {
    let whole = at.replace_nanosecond(0).unwrap_or(at);
    whole.format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_aws_writes_them() {
        let at = OffsetDateTime::from_unix_timestamp(1_773_342_238).unwrap();
        let at = at + std::time::Duration::from_millis(7);
        assert_eq!(log_time(at), "12/Mar/2026:19:03:58 +0000");
        assert_eq!(iso_time(at), "2026-03-12T19:03:58Z");
    }
}
