//! The configuration of the clients of AWS services.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region, SharedCredentialsProvider};
use aws_smithy_http_client::Builder as HttpClientBuilder;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_types::SdkConfig;

use crate::runtime::config;

/// The maximum number of times that the SDK tries a call.
const MAX_ATTEMPTS: u32 = 3;

/// Returns the configuration that all clients share, with one pool of connections. It sets timeouts, because the SDK has
/// none by default.
pub(crate) fn read() -> SdkConfig {
    let timeout = config::aws_call_timeout();
    let timeouts =
        TimeoutConfig::builder().operation_attempt_timeout(timeout / MAX_ATTEMPTS).operation_timeout(timeout).build();
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(config::aws_region()))
        .http_client(HttpClientBuilder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc)).build_https())
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS));
    config.set_credentials_provider(config::aws_credentials().map(SharedCredentialsProvider::new));
    config.build()
}

/// Returns the configuration for the client of a service, such as `DYNAMODB`.
pub(crate) fn for_service(config: &SdkConfig, service: &str) -> SdkConfig {
    let mut config = config.to_builder();
    config.set_endpoint_url(config::aws_endpoint_url(service));
    config.build()
}
