//! The HTTP client of the clients of AWS services.
//!
//! It replaces the one of the SDK (`aws-smithy-http-client`), which contains HTTP/2. DynamoDB and SQS are called with
//! HTTP/1.1, and without HTTP/2 every program is smaller (docs/benchmarks.md).

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Parsing the certificates of the operating system would make the start of a process more than half as long again
/// (docs/benchmarks.md).
const AMAZON_ROOT_CERTIFICATES: &[u8] = include_bytes!("amazon-root-certificates.pem");

/// A pool of connections. Clones share it. The client has no timeouts of its own: the timeout of an attempt, which
/// `aws_config` sets, includes the time to connect.
#[derive(Clone, Debug)]
pub(crate) struct AwsHttpClient {
    client: Client<HttpsConnector<connect::HttpConnector>, SdkBody>,
}

impl AwsHttpClient {
    /// Returns a client that trusts the certificates of Amazon Trust Services only.
    pub(crate) fn with_amazon_certificates() -> Self {
        Self::new(ClientConfig::builder().with_root_certificates(amazon_root_certificates()).with_no_client_auth())
    }

    /// Returns a client that trusts the certificates of the operating system, or Amazon's if there are none.
    pub(crate) fn with_system_certificates() -> Self {
        match ClientConfig::builder().with_native_roots() {
            Ok(config) => Self::new(config.with_no_client_auth()),
            Err(error) => {
                tracing::error!(%error, "the operating system has no certificates");
                Self::with_amazon_certificates()
            }
        }
    }

    fn new(tls: ClientConfig) -> Self {
        let mut connector = connect::HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector);
        Self { client }
    }
}

/// Returns Amazon's certificates. A unit test checks that all of them can be read.
fn amazon_root_certificates() -> Arc<RootCertStore> {
    let mut certificates = RootCertStore::empty();
    certificates
        .add_parsable_certificates(CertificateDer::pem_slice_iter(AMAZON_ROOT_CERTIFICATES).filter_map(Result::ok));
    Arc::new(certificates)
}

impl HttpClient for AwsHttpClient {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for AwsHttpClient {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = self.client.clone();
        HttpConnectorFuture::new(async move {
            let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
            // The SDK repeats a request after every error of this kind.
            let response = client.request(request).await.map_err(|error| ConnectorError::io(error.into()))?;
            HttpResponse::try_from(response.map(SdkBody::from_body_1_x))
                .map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn amazons_certificates_are_valid() {
        let text = std::str::from_utf8(AMAZON_ROOT_CERTIFICATES).unwrap();
        assert_eq!(text.matches("-----BEGIN CERTIFICATE-----").count(), 5);
        assert_eq!(amazon_root_certificates().len(), 5);
    }
}
