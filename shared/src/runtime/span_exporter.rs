//! Sends finished spans to a collector with the OpenTelemetry protocol (OTLP over HTTP, as protobuf). The collector is
//! expected near the function, for example in an extension at `http://127.0.0.1:4318`, because the invocation ends only
//! after the request.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_smithy_runtime_api::client::http::HttpConnector;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use futures_util::future::BoxFuture;
use url::Url;

use crate::runtime::aws_http_client::AwsHttpClient;
use crate::runtime::config;
use crate::wire::otlp::{self, Attribute, FinishedSpan};

/// The maximum duration of a request to the collector.
const EXPORT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long nothing is exported after a failure, so that a collector that hangs does not delay every request.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(30);
const TRACES_PATH: &str = "v1/traces";

pub(super) struct SpanExporter {
    url: String,
    client: AwsHttpClient,
    /// The attributes that describe the process.
    resource: Vec<Attribute>,
    paused_until: Mutex<Option<Instant>>,
}

impl SpanExporter {
    /// `endpoint` is the collector's base URL, as in the variable `OTEL_EXPORTER_OTLP_ENDPOINT` of OpenTelemetry.
    /// Returns `None`, and logs it, if it is not a URL.
    pub fn new(endpoint: &str) -> Option<Self> {
        let base = Url::parse(endpoint).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(base) = base else {
            tracing::error!("spans are not exported: the address of the collector is not an http(s) URL");
            return None;
        };
        let client = match base.scheme() {
            // The certificates of the operating system take time to parse.
            "https" => AwsHttpClient::with_system_certificates(),
            _ => AwsHttpClient::with_amazon_certificates(),
        };
        let url = format!("{}/{TRACES_PATH}", base.as_str().trim_end_matches('/'));
        let resource = vec![
            ("service.name", config::function_name().as_str().into()),
            ("service.namespace", config::stack_name().as_str().into()),
            ("service.version", env!("CARGO_PKG_VERSION").into()),
            ("cloud.provider", "aws".into()),
            ("cloud.region", config::aws_region().as_str().into()),
        ];
        Some(Self { url, client, resource, paused_until: Mutex::new(None) })
    }

    /// Sends the spans once. After a failure, the spans of the next seconds are dropped. The future is boxed so that it
    /// is compiled only once.
    pub fn export<'a>(&'a self, spans: &'a [FinishedSpan]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if self.paused_until().is_some_and(|end| Instant::now() < end) {
                return;
            }
            let body = otlp::encode_request(&self.resource, spans);
            let sent = tokio::time::timeout(EXPORT_TIMEOUT, self.post(body)).await;
            if let Err(reason) = sent.unwrap_or_else(|_| Err("no response in time".to_owned())) {
                tracing::warn!(reason, spans = spans.len(), "spans not exported");
                let end = Instant::now().checked_add(PAUSE_AFTER_FAILURE);
                *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner) = end;
            }
        })
    }

    fn paused_until(&self) -> Option<Instant> {
        *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason if the collector has not accepted the spans.
    async fn post(&self, body: Vec<u8>) -> Result<(), String> {
        let mut request = HttpRequest::new(SdkBody::from(body));
        request.set_method("POST").map_err(|error| error.to_string())?;
        request.set_uri(self.url.as_str()).map_err(|error| error.to_string())?;
        request.headers_mut().insert("content-type", "application/x-protobuf");
        let response = self.client.call(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        // The connection can be used again when the body has been read.
        ByteStream::new(response.into_body()).collect().await.map_err(|error| error.to_string())?;
        if status.is_success() { Ok(()) } else { Err(format!("HTTP {}", status.as_u16())) }
    }
}
