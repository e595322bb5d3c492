//! Converts a function's result to the HTTP response for the client (payload format 2.0).

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::error_response::GatewayError;

/// A function's result that has a `statusCode`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionResponse {
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

/// Returns the HTTP response for a function's result. A result without a `statusCode` becomes the body of a 200
/// response with the content type `application/json`. If the result is a string, the body is the string's text.
pub(super) fn http_response(result: &[u8]) -> Result<Response, GatewayError> {
    let value: Value = serde_json::from_slice(result).map_err(|_| GatewayError::FunctionFailed)?;
    if value.get("statusCode").is_some() {
        let response: FunctionResponse = serde_json::from_value(value).map_err(|_| GatewayError::FunctionFailed)?;
        return response.into_http();
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

impl FunctionResponse {
    fn into_http(self) -> Result<Response, GatewayError> {
        let mut response = Response::new(self.decode_body()?);
        *response.status_mut() = StatusCode::from_u16(self.status_code).map_err(|_| GatewayError::FunctionFailed)?;
        let headers = response.headers_mut();
        for (name, value) in self.headers_and_cookies() {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| GatewayError::FunctionFailed)?;
            let value = HeaderValue::from_str(&value).map_err(|_| GatewayError::FunctionFailed)?;
            // The gateway computes the body length itself.
            if name != header::CONTENT_LENGTH {
                headers.append(name, value);
            }
        }
        let plain_text = HeaderValue::from_static("text/plain;charset=UTF-8");
        headers.entry(header::CONTENT_TYPE).or_insert(plain_text);
        Ok(response)
    }

    fn decode_body(&self) -> Result<Body, GatewayError> {
        let body = self.body.as_deref().unwrap_or_default();
        if self.is_base64_encoded != Some(true) {
            return Ok(Body::from(body.to_owned()));
        }
        STANDARD.decode(body).map(Body::from).map_err(|_| GatewayError::FunctionFailed)
    }

    /// Returns the names and values of all headers, with one `set-cookie` header for each cookie.
    fn headers_and_cookies(&self) -> Vec<(String, String)> {
        let headers = self.headers.iter().flatten().map(|(name, value)| (name.clone(), header_text(value)));
        let cookies = self.cookies.iter().flatten();
        let cookies = cookies.map(|cookie| ("set-cookie".to_owned(), cookie.clone()));
        headers.chain(cookies).collect()
    }
}

/// Returns a header value as text. Functions can also return numbers and booleans as header values.
fn header_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
