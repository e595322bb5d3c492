//! The HTTP client that the AWS service clients use. Spans are exported with it, too.
//!
//! It replaces the SDK's own HTTP client (`aws-smithy-http-client`), which includes HTTP/2 and therefore makes the
//! executable of every function larger (docs/benchmarks.md). All services are called with HTTP/1.1, so each concurrent
//! request has its own connection.

use std::sync::Arc;

use aws_smithy_runtime_api::client::connection::{CaptureSmithyConnection, ConnectionMetadata};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{Client, connect};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// The root certificates for calls to AWS. If the operating system's certificates were parsed instead, a process would
/// take more than 50 percent longer to start (docs/benchmarks.md).
const AMAZON_ROOT_CERTIFICATES: &[u8] = include_bytes!("amazon-root-certificates.pem");

/// An HTTP client whose clones share one pool of connections. It has no timeouts: the SDK's timeout for an attempt,
/// which `aws_config` sets, includes the time to connect.
#[derive(Clone, Debug)]
pub(crate) struct AwsHttpClient {
    client: Client<HttpsConnector<connect::HttpConnector>, SdkBody>,
}

impl AwsHttpClient {
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

/// Returns the root certificates in [`AMAZON_ROOT_CERTIFICATES`]. Leaves out any that cannot be read; a unit test
/// checks that all can be read.
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
            let mut request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
            let connection = capture_connection(&mut request);
            if let Some(capture) = request.extensions().get::<CaptureSmithyConnection>() {
                capture.set_connection_retriever(move || connection_metadata(&connection));
            }
            // The SDK treats an error of this kind as temporary and tries again.
            let response = client.request(request).await.map_err(|error| ConnectorError::io(error.into()))?;
            HttpResponse::try_from(response.map(SdkBody::from_body_1_x))
                .map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}

/// Returns the metadata with which the SDK can remove a connection from the pool after a temporary error, so that the
/// next attempt can reach another server. Returns `None` if there is no connection yet.
fn connection_metadata(captured: &CaptureConnection) -> Option<ConnectionMetadata> {
    captured.connection_metadata().as_ref()?;
    let captured = captured.clone();
    let remove = move || {
        if let Some(connection) = captured.connection_metadata().as_ref() {
            connection.poison();
        }
    };
    Some(ConnectionMetadata::builder().proxied(false).poison_fn(remove).build())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use aws_sdk_dynamodb::config::retry::RetryConfig;
    use aws_sdk_dynamodb::error::SdkError;
    use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::runtime::aws_config;

    /// Reads a request for the list of tables and responds with this status and an empty list.
    async fn answer(connection: &mut (impl AsyncRead + AsyncWrite + Unpin), status: u16) {
        assert!(connection.read(&mut [0; 4096]).await.unwrap() > 0);
        let response = format!("HTTP/1.1 {status} x\r\ncontent-length: 17\r\n\r\n{{\"TableNames\":[]}}");
        connection.write_all(response.as_bytes()).await.unwrap();
    }

    /// Starts a server. Its n-th connection responds to the given number of requests with the given status, and is then
    /// closed. Returns the server's URL and the counter of accepted connections.
    async fn start_server(connections: Vec<(u16, usize)>) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        tokio::spawn(async move {
            for (status, requests) in connections {
                let (mut connection, _) = listener.accept().await.unwrap();
                counter.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    for _ in 0..requests {
                        answer(&mut connection, status).await;
                    }
                });
            }
        });
        (url, accepted)
    }

    /// In production, DynamoDB can close a connection while Lambda has frozen the process.
    #[tokio::test]
    async fn connection_is_used_until_the_server_closes_it() {
        let (url, accepted) = start_server(vec![(200, 2), (200, 1), (200, 1)]).await;
        let client = aws_sdk_dynamodb::Client::new(&aws_config::of_local_server(url));
        for _ in 0..4 {
            assert_eq!(client.list_tables().send().await.unwrap().table_names(), [""; 0]);
        }
        assert_eq!(accepted.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn connection_is_dropped_after_a_temporary_error() {
        let (url, accepted) = start_server(vec![(503, usize::MAX), (200, 1)]).await;
        let client = aws_sdk_dynamodb::Client::new(&aws_config::of_local_server(url));
        client.list_tables().send().await.unwrap();
        assert_eq!(accepted.load(Ordering::Relaxed), 2);
    }

    /// Starts a server that presents the same self-signed certificate on every connection. Returns its URL and the
    /// certificate.
    async fn start_tls_server() -> (String, CertificateDer<'static>) {
        let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = identity.cert.der().clone();
        let key = identity.signing_key.serialize_der().try_into().unwrap();
        let config = rustls::ServerConfig::builder().with_no_client_auth();
        let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate.clone()], key).unwrap()));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                // The handshake fails if the client does not trust the certificate.
                let Ok(mut connection) = acceptor.accept(connection).await else { continue };
                answer(&mut connection, 200).await;
            }
        });
        (url, certificate)
    }

    #[tokio::test]
    async fn server_needs_a_trusted_certificate() {
        let (url, certificate) = start_tls_server().await;
        let mut trusted = RootCertStore::empty();
        trusted.add(certificate).unwrap();
        let trusting = ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth();
        for (http_client, is_trusted) in
            [(AwsHttpClient::new(trusting), true), (AwsHttpClient::with_amazon_certificates(), false)]
        {
            let config = aws_config::of_local_server(url.as_str()).to_builder().http_client(http_client).build();
            let result = aws_sdk_dynamodb::Client::new(&config).list_tables().send().await;
            assert_eq!(result.is_ok(), is_trusted, "{result:?}");
        }
    }

    #[tokio::test]
    async fn failed_tls_handshake_can_be_retried() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                drop(listener.accept().await);
            }
        });
        let config = aws_config::of_local_server(format!("https://localhost:{port}"));
        let config = config.to_builder().retry_config(RetryConfig::disabled()).build();
        let result = aws_sdk_dynamodb::Client::new(&config).list_tables().send().await;
        assert!(matches!(result, Err(SdkError::DispatchFailure(failure)) if failure.is_io()));
    }

    #[test]
    fn amazons_certificates_are_valid() {
        let text = std::str::from_utf8(AMAZON_ROOT_CERTIFICATES).unwrap();
        assert_eq!(text.matches("-----BEGIN CERTIFICATE-----").count(), 5);
        assert_eq!(amazon_root_certificates().len(), 5);
    }
}
