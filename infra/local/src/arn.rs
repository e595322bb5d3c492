//! The account and region that everything on this machine claims to be in.

/// AWS accounts have twelve digits; this one is nobody's.
pub(crate) const ACCOUNT: &str = "000000000000";

/// Where the local SQS says its queues are, too.
pub(crate) const REGION: &str = "us-east-1";

pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}")
}

pub(crate) fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}")
}

pub(crate) fn role_arn(name: &str) -> String {
    format!("arn:aws:iam::{ACCOUNT}:role/{name}")
}

/// A function, as IAM calls it.
pub(crate) fn role_session_arn(function: &str) -> String {
    format!("arn:aws:sts::{ACCOUNT}:assumed-role/{function}/{function}")
}

pub(crate) fn rule_arn(name: &str) -> String {
    format!("arn:aws:events:{REGION}:{ACCOUNT}:rule/{name}")
}
