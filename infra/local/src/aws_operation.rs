//! Which operation a request in one of AWS's JSON protocols asks for.

use axum::http::HeaderMap;

/// `GetItem` of `X-Amz-Target: DynamoDB_20120810.GetItem`, when that is the service; empty when the header says nothing
/// of the kind.
pub(crate) fn operation<'h>(headers: &'h HeaderMap, service: &str) -> &'h str {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.strip_prefix(service)?.strip_prefix('.'));
    operation.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_that_of_the_service_alone() {
        for (target, expected) in [
            (Some("AmazonSQS.SendMessage"), "SendMessage"),
            (Some("AmazonSQS"), ""),
            (Some("AmazonSQSX.SendMessage"), ""),
            (Some("DynamoDB_20120810.GetItem"), ""),
            (None, ""),
        ] {
            let header = target.map(|target| ("x-amz-target".parse().unwrap(), target.parse().unwrap()));
            assert_eq!(operation(&HeaderMap::from_iter(header), "AmazonSQS"), expected, "{target:?}");
        }
    }
}
