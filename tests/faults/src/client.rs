//! A client of the public API. A request may get no response, because the host may be killed in the meantime.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio::time::sleep;

/// How long to wait for a response. Every function of the HTTP API times out sooner.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(35);

#[derive(Clone)]
pub struct ApiClient {
    http: Client,
    base_url: String,
    token: Option<String>,
}

/// A response with its JSON body. The body is null if it is not JSON.
#[derive(Debug, Clone)]
pub struct ApiResponse {
    pub status: u16,
    pub body: Value,
}

impl ApiClient {
    pub fn new(base_url: &str) -> Self {
        let http = Client::builder().no_proxy().timeout(RESPONSE_TIMEOUT).build().unwrap();
        Self { http, base_url: base_url.to_owned(), token: None }
    }

    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.base_url) };
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn post(&self, path: &str, body: &Value, idempotency_key: Option<&str>) -> Option<ApiResponse> {
        let mut request = self.request(Method::POST, path).json(body);
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        send(request).await
    }

    pub async fn get(&self, path: &str) -> Option<ApiResponse> {
        send(self.request(Method::GET, path)).await
    }

    /// Sends a request while no fault is injected, and returns the response's body. A service that has just recovered
    /// may still fail, so up to 20 requests are sent while there is no response or the status is at least 500. Panics
    /// if no request succeeds.
    pub async fn must(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let mut last = None;
        for _ in 0..20 {
            let request = self.request(method.clone(), path);
            last = send(match body {
                Some(body) => request.json(body),
                None => request,
            })
            .await;
            match &last {
                Some(response) if (200..300).contains(&response.status) => return response.body.clone(),
                Some(response) if response.status < 500 => break,
                Some(_) | None => sleep(Duration::from_millis(250)).await,
            }
        }
        panic!("{method} {path}: {last:?}");
    }

    pub async fn must_get(&self, path: &str) -> Value {
        self.must(Method::GET, path, None).await
    }

    pub async fn must_post(&self, path: &str, body: &Value) -> Value {
        self.must(Method::POST, path, Some(body)).await
    }

    pub async fn must_put(&self, path: &str, body: &Value) -> Value {
        self.must(Method::PUT, path, Some(body)).await
    }
}

async fn send(request: RequestBuilder) -> Option<ApiResponse> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let text = response.text().await.ok()?;
    Some(ApiResponse { status, body: serde_json::from_str(&text).unwrap_or_default() })
}
