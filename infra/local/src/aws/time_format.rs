//! The two time formats that AWS uses in event payloads.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

/// Formats a time as in access logs and in `requestContext.time`: `12/Mar/2026:19:03:58 +0000`.
pub(crate) fn access_log_time(at: OffsetDateTime) -> String {
    let format = format_description!("[day]/[month repr:short]/[year]:[hour]:[minute]:[second] +0000");
    at.format(&format).unwrap_or_default()
}

/// Formats a time in RFC 3339 format, without fractional seconds: `2026-03-12T19:03:58Z`.
pub(crate) fn rfc3339_time(at: OffsetDateTime) -> String {
    let whole_seconds = at.replace_nanosecond(0).unwrap_or(at);
    whole_seconds.format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_like_aws() {
        let at = OffsetDateTime::from_unix_timestamp(1_773_342_238).unwrap();
        let at = at + std::time::Duration::from_millis(7);
        assert_eq!(access_log_time(at), "12/Mar/2026:19:03:58 +0000");
        assert_eq!(rfc3339_time(at), "2026-03-12T19:03:58Z");
    }
}
