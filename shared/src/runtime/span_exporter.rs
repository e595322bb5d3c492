//! Sends finished spans to a collector with the OpenTelemetry protocol (OTLP over HTTP, as protobuf). The collector is
//! expected near the function, for example in an extension at `http://127.0.0.1:4318`, because Lambda freezes a process
//! that has responded. A request is sent while the invocation's response is, so that nobody waits for the collector. Its
//! result is read at the next export.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aws_smithy_runtime_api::client::http::HttpConnector;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;
use url::Url;

use crate::runtime::aws_http_client::AwsHttpClient;
use crate::runtime::config;
use crate::wire::otlp::{self, Attribute, FinishedSpan};

/// The maximum time that an export waits for the last one.
const EXPORT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long nothing is exported after a failure, so that a collector that hangs does not delay every request.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(30);
const TRACES_PATH: &str = "v1/traces";

pub(super) struct SpanExporter {
    url: String,
    client: AwsHttpClient,
    /// The attributes that describe the process.
    resource: Vec<Attribute>,
    in_progress: Mutex<Option<JoinHandle<Result<(), String>>>>,
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
        Some(Self { url, client, resource, in_progress: Mutex::new(None), paused_until: Mutex::new(None) })
    }

    /// Starts to send the spans, unless the last request has failed a short time ago. The future is boxed so that it is
    /// compiled only once.
    pub fn export<'a>(&'a self, spans: &'a [FinishedSpan]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Err(reason) = self.last_result().await {
                tracing::warn!(reason, "spans not exported");
                *lock(&self.paused_until) = Instant::now().checked_add(PAUSE_AFTER_FAILURE);
            }
            if lock(&self.paused_until).is_some_and(|end| Instant::now() < end) {
                return;
            }
            let body = otlp::encode_request(&self.resource, spans);
            let request = tokio::spawn(post(self.client.clone(), self.url.clone(), body));
            *lock(&self.in_progress) = Some(request);
            // The other tasks run now, so that an open connection takes the request before Lambda gets the response.
            tokio::task::yield_now().await;
        })
    }

    /// Returns the result of the last request, which has usually ended during the invocation. The time limit does not
    /// include the time for which Lambda has frozen the process.
    async fn last_result(&self) -> Result<(), String> {
        let Some(mut request) = lock(&self.in_progress).take() else { return Ok(()) };
        match tokio::time::timeout(EXPORT_TIMEOUT, &mut request).await {
            Ok(result) => result.unwrap_or_else(|error| Err(error.to_string())),
            Err(_) => {
                request.abort();
                Err("no response in time".to_owned())
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the reason if the collector has not accepted the spans.
async fn post(client: AwsHttpClient, url: String, body: Vec<u8>) -> Result<(), String> {
    let mut request = HttpRequest::new(SdkBody::from(body));
    request.set_method("POST").map_err(|error| error.to_string())?;
    request.set_uri(url).map_err(|error| error.to_string())?;
    request.headers_mut().insert("content-type", "application/x-protobuf");
    let response = client.call(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    // The connection can be used again when the body has been read.
    ByteStream::new(response.into_body()).collect().await.map_err(|error| error.to_string())?;
    if status.is_success() { Ok(()) } else { Err(format!("HTTP {}", status.as_u16())) }
}
