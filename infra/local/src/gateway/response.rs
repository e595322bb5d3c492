//! The function's result as the caller sees it.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::refusal::Refusal;

/// A result with `statusCode`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    status_code: u16,
    #[serde(default)]
    headers: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    cookies: Option<Vec<String>>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: Option<bool>,
}

/// A result without `statusCode` is itself the body of a 200.
pub(super) fn response(result: &[u8]) -> Result<Response, Refusal> {
    let value: Value = serde_json::from_slice(result).map_err(|_| Refusal::Failed)?;
    if value.get("statusCode").is_some() {
        let answer: Answer = serde_json::from_value(value).map_err(|_| Refusal::Failed)?;
        return answer.response();
    }
    let body = match value {
        Value::String(text) => Body::from(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Body::from(result.to_owned())
        }
    };
    let mut response = Response::new(body);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

impl Answer {
    fn response(self) -> Result<Response, Refusal> {
        let mut response = Response::new(self.body()?);
        *response.status_mut() = StatusCode::from_u16(self.status_code).map_err(|_| Refusal::Failed)?;
        let headers = response.headers_mut();
        for (name, value) in self.header_lines() {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Refusal::Failed)?;
            let value = HeaderValue::from_str(&value).map_err(|_| Refusal::Failed)?;
            // The length of the body is the gateway's business.
            if name != header::CONTENT_LENGTH {
                headers.append(name, value);
            }
        }
        let text = HeaderValue::from_static("text/plain;charset=UTF-8");
        headers.entry(header::CONTENT_TYPE).or_insert(text);
        Ok(response)
    }

    fn body(&self) -> Result<Body, Refusal> {
        let body = self.body.as_deref().unwrap_or_default();
        if self.is_base64_encoded != Some(true) {
            return Ok(Body::from(body.to_owned()));
        }
        STANDARD.decode(body).map(Body::from).map_err(|_| Refusal::Failed)
    }

    fn header_lines(&self) -> Vec<(String, String)> {
        let lines = self.headers.iter().flatten().map(|(name, value)| (name.clone(), text(value)));
        let cookies = self.cookies.iter().flatten();
        let cookies = cookies.map(|cookie| ("set-cookie".to_owned(), cookie.clone()));
        lines.chain(cookies).collect()
    }
}

/// Header values may be numbers or booleans.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
