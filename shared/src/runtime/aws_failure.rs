//! A failed request to an AWS service: the details for the log, and the facts that decide whether a retry can succeed.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

#[derive(Debug)]
pub(crate) struct AwsFailure {
    /// The name of the service, for example `sqs`.
    #[expect(dead_code, reason = "read by Debug")]
    service: &'static str,
    pub code: Option<String>,
    #[expect(dead_code, reason = "read by Debug")]
    message: Option<String>,
    /// Whether no complete response arrived, for example because of a timeout.
    pub is_unanswered: bool,
}

impl AwsFailure {
    pub fn new<E: ProvideErrorMetadata>(service: &'static str, error: &SdkError<E>) -> Self {
        let is_unanswered =
            matches!(error, SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_));
        let (code, message) = (error.code().map(str::to_owned), error.message().map(str::to_owned));
        Self { service, code, message, is_unanswered }
    }
}
