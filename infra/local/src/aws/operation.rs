//! Reads a request's operation from the `X-Amz-Target` header, which AWS's JSON protocols use.

use axum::http::HeaderMap;

/// Returns the operation named in the header. For example, returns `GetItem` for
/// `X-Amz-Target: DynamoDB_20120810.GetItem` if `service` is `DynamoDB_20120810`. Returns an empty string if the header
/// is missing or names another service.
pub(crate) fn operation_name<'h>(headers: &'h HeaderMap, service: &str) -> &'h str {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.strip_prefix(service)?.strip_prefix('.'));
    operation.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_of_another_service_is_empty() {
        for (target, expected) in [
            (Some("AmazonSQS.SendMessage"), "SendMessage"),
            (Some("AmazonSQS"), ""),
            (Some("AmazonSQSX.SendMessage"), ""),
            (Some("DynamoDB_20120810.GetItem"), ""),
            (None, ""),
        ] {
            let header = target.map(|target| ("x-amz-target".parse().unwrap(), target.parse().unwrap()));
            assert_eq!(operation_name(&HeaderMap::from_iter(header), "AmazonSQS"), expected, "{target:?}");
        }
    }
}
