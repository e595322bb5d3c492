//! Decodes the header values and query strings of requests as API Gateway does.

use percent_encoding::percent_decode_str;

/// Decodes a header value as UTF-8, or as ISO 8859-1 if it is not valid UTF-8.
pub(crate) fn header_text(value: &[u8]) -> String {
    let latin1 = |_| value.iter().copied().map(char::from).collect();
    std::str::from_utf8(value).map_or_else(latin1, str::to_owned)
}

pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    })
}

fn decode(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}
