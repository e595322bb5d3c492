//! The configuration of the clients of AWS services.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region, SharedCredentialsProvider};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_types::SdkConfig;
use aws_types::sdk_config::SharedHttpClient;

use crate::runtime::config;

/// The maximum number of times that the SDK tries a call.
const MAX_ATTEMPTS: u32 = 3;

/// Parsing the certificates of the operating system would make the start of a process more than half as long again
/// (docs/benchmarks.md).
const AMAZON_ROOT_CERTIFICATES: &[u8] = include_bytes!("amazon-root-certificates.pem");

/// Returns the configuration that all clients share, with one pool of connections. It sets timeouts, because the SDK has
/// none by default.
pub(crate) fn read() -> SdkConfig {
    let timeout = config::aws_call_timeout();
    let timeouts =
        TimeoutConfig::builder().operation_attempt_timeout(timeout / MAX_ATTEMPTS).operation_timeout(timeout).build();
    let region = config::aws_region();
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http_client(trust_store(&region)))
        .region(Region::new(region))
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS));
    config.set_credentials_provider(config::aws_credentials().map(SharedCredentialsProvider::new));
    config.build()
}

/// Returns whether the endpoints in a region have certificates of Amazon Trust Services. The European Sovereign Cloud,
/// China and the isolated partitions use other certificates, so the operating system's certificates are trusted there.
fn has_amazon_certificates(region: &str) -> bool {
    !region.starts_with("cn-") && !region.starts_with("eusc-") && !region.contains("-iso")
}

fn trust_store(region: &str) -> TrustStore {
    if has_amazon_certificates(region) {
        TrustStore::empty().with_pem_certificate(AMAZON_ROOT_CERTIFICATES)
    } else {
        TrustStore::default()
    }
}

fn http_client(trust_store: TrustStore) -> SharedHttpClient {
    let builder = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc));
    match TlsContext::builder().with_trust_store(trust_store).build() {
        Ok(context) => builder.tls_context(context).build_https(),
        // This cannot happen: this version of the builder never fails.
        Err(_) => builder.build_https(),
    }
}

/// Returns the configuration for the client of a service, such as `DYNAMODB`.
pub(crate) fn for_service(config: &SdkConfig, service: &str) -> SdkConfig {
    let mut config = config.to_builder();
    config.set_endpoint_url(config::aws_endpoint_url(service));
    config.build()
}

/// Returns the configuration of a client for a server on this machine.
#[cfg(test)]
pub(crate) fn of_local_server(url: String) -> SdkConfig {
    let credentials = aws_sdk_dynamodb::config::Credentials::new("test", "test", None, None, "test");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(url)
        .build()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use aws_sdk_dynamodb::error::SdkError;

    use super::*;

    /// Calls an endpoint that closes every connection during the TLS handshake. Returns whether the call failed while
    /// connecting.
    async fn fails_to_connect(trust_store: TrustStore) -> bool {
        let server = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let config = of_local_server(format!("https://localhost:{}", server.local_addr().unwrap().port()))
            .to_builder()
            .retry_config(RetryConfig::disabled())
            .http_client(http_client(trust_store))
            .build();
        let close_connections = async {
            loop {
                drop(server.accept().await);
            }
        };
        let client = aws_sdk_dynamodb::Client::new(&config);
        let call = async { client.list_tables().send().await };
        tokio::select! {
            () = close_connections => false,
            result = call => matches!(result, Err(SdkError::DispatchFailure(_))),
        }
    }

    /// The client reads the certificates when it connects, and panics if one is invalid.
    #[tokio::test]
    async fn amazons_certificates_are_valid() {
        assert!(fails_to_connect(trust_store("us-east-1")).await);
        let text = std::str::from_utf8(AMAZON_ROOT_CERTIFICATES).unwrap();
        assert_eq!(text.matches("-----BEGIN CERTIFICATE-----").count(), 5);
    }

    #[test]
    fn other_partitions_use_system_certificates() {
        assert!(["us-east-1", "eu-central-1", "us-gov-west-1"].into_iter().all(has_amazon_certificates));
        assert!(!["cn-north-1", "us-iso-east-1", "eusc-de-east-1"].into_iter().any(has_amazon_certificates));
    }
}
