//! The URLs at which function processes reach the local services. Each function has its own URLs, so that the host can
//! count its requests and check its permissions.

use uuid::Uuid;

#[derive(Debug, Clone)]
pub(crate) struct ServiceEndpoints {
    /// The base URL of the Runtime API, SQS, STS, SES and EventBridge.
    pub private_base_url: String,
    pub dynamodb_base_url: String,
    /// The base URL of S3, which browsers can reach.
    pub s3_base_url: String,
}

impl ServiceEndpoints {
    pub fn sdk_variables(&self, function: &str) -> [(&'static str, String); 7] {
        [
            // The timeout is longer than the functions' default, because other programs can keep the machine busy.
            ("AWS_CALL_TIMEOUT_SECONDS", "9".to_owned()),
            ("AWS_ENDPOINT_URL_DYNAMODB", format!("{}/{function}", self.dynamodb_base_url)),
            ("AWS_ENDPOINT_URL_EVENTBRIDGE", format!("{}/events/{function}", self.private_base_url)),
            // Not below a path of the function, because the browsers' forms and links have the same base URL. S3
            // recognizes the function by its signature.
            ("AWS_ENDPOINT_URL_S3", self.s3_base_url.clone()),
            ("AWS_ENDPOINT_URL_SESV2", format!("{}/ses/{function}", self.private_base_url)),
            ("AWS_ENDPOINT_URL_STS", format!("{}/sts/{function}", self.private_base_url)),
            ("AWS_ENDPOINT_URL_SQS", format!("{}/sqs/{function}", self.private_base_url)),
        ]
    }

    /// Returns the value of `AWS_LAMBDA_RUNTIME_API` for a process. On AWS, it is a host and port without a scheme.
    /// Here, it includes a scheme, because the runtime would not accept a base path without one.
    pub fn runtime_api(&self, process: Uuid) -> String {
        format!("{}/runtime/{process}", self.private_base_url)
    }
}
