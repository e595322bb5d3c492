//! The AWS account and region that the local host reports, and the ARNs of its resources.

/// The AWS account id of the local host. It has twelve digits, as on AWS, but no real account has this id.
pub(crate) const AWS_ACCOUNT_ID: &str = "000000000000";

pub(crate) const REGION: &str = "us-east-1";

pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{AWS_ACCOUNT_ID}:function:{name}")
}

pub(crate) fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{AWS_ACCOUNT_ID}:table/{name}")
}

/// Returns the ARN of a table's stream. On AWS, its last part is the time when the stream was enabled; here it is
/// constant.
pub(crate) fn table_stream_arn(table: &str) -> String {
    format!("{}/stream/2026-01-01T00:00:00.000", table_arn(table))
}

pub(crate) fn role_arn(name: &str) -> String {
    format!("arn:aws:iam::{AWS_ACCOUNT_ID}:role/{name}")
}

/// Returns the ARN for a request method on the connections of a WebSocket API. As in policies, the ARN stands for all
/// connections, because connection ids are not known in advance.
pub(crate) fn connections_arn(api_id: &str, stage: &str, method: &str) -> String {
    format!("arn:aws:execute-api:{REGION}:{AWS_ACCOUNT_ID}:{api_id}/{stage}/{method}/@connections/*")
}

/// Returns the ARN that identifies a running function in IAM error messages.
pub(crate) fn role_session_arn(function: &str) -> String {
    format!("arn:aws:sts::{AWS_ACCOUNT_ID}:assumed-role/{function}/{function}")
}

pub(crate) fn identity_arn(domain: &str) -> String {
    format!("arn:aws:ses:{REGION}:{AWS_ACCOUNT_ID}:identity/{domain}")
}

pub(crate) fn rule_arn(name: &str) -> String {
    format!("arn:aws:events:{REGION}:{AWS_ACCOUNT_ID}:rule/{name}")
}
