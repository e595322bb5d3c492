//! The configuration of the clients of AWS services.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, SharedCredentialsProvider};
use aws_types::SdkConfig;

use crate::runtime::aws_http_client::AwsHttpClient;
use crate::runtime::config;

/// The maximum number of attempts that the SDK makes for one call, including the first.
const MAX_ATTEMPTS: u32 = 3;

/// Returns the configuration that all clients share, with one pool of connections. It sets the timeouts of operations
/// and of their attempts, because the SDK has none by default.
pub(crate) fn read() -> SdkConfig {
    let timeout = config::aws_call_timeout();
    let timeouts =
        TimeoutConfig::builder().operation_attempt_timeout(timeout / MAX_ATTEMPTS).operation_timeout(timeout).build();
    let region = config::aws_region();
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http_client(&region))
        .region(Region::new(region))
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS));
    config.set_credentials_provider(config::aws_credentials().map(SharedCredentialsProvider::new));
    config.build()
}

/// Whether the endpoints in a region use certificates issued by Amazon Trust Services. The European Sovereign Cloud,
/// China and the isolated partitions use others, so the operating system's certificates are trusted there.
fn has_amazon_certificates(region: &str) -> bool {
    !region.starts_with("cn-") && !region.starts_with("eusc-") && !region.contains("-iso")
}

pub(crate) fn http_client(region: &str) -> AwsHttpClient {
    if has_amazon_certificates(region) {
        AwsHttpClient::with_amazon_certificates()
    } else {
        AwsHttpClient::with_system_certificates()
    }
}

/// Returns the configuration for the client of one service. `service` is its name in the environment variables that can
/// replace its endpoint URL, such as `DYNAMODB`.
pub(crate) fn for_service(config: &SdkConfig, service: &str) -> SdkConfig {
    let mut config = config.to_builder();
    config.set_endpoint_url(config::aws_endpoint_url(service));
    config.build()
}

/// Returns the configuration with which a test's client calls a server on this machine. The server accepts any
/// credentials.
pub fn of_local_server(url: impl Into<String>) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "test");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(AwsHttpClient::with_amazon_certificates())
        .endpoint_url(url)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_partitions_use_system_certificates() {
        assert!(["us-east-1", "eu-central-1", "us-gov-west-1"].into_iter().all(has_amazon_certificates));
        assert!(!["cn-north-1", "us-iso-east-1", "eusc-de-east-1"].into_iter().any(has_amazon_certificates));
    }
}
