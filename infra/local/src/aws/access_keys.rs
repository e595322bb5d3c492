//! The AWS access keys of the functions, and the key of the programs that started the host, such as tests. Each
//! function has its own key, which identifies the function at a URL that all functions call. The keys are random, so no
//! other program on this machine can guess them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::random_and_digest::{RandomError, random_hex};

#[derive(Debug, Clone)]
pub(crate) struct AccessKeys {
    /// The access key id of each function.
    of_functions: Arc<BTreeMap<String, String>>,
    of_tools: Arc<str>,
    /// The secret access key that all access keys have.
    secret: Arc<str>,
}

/// A request is not signed with the access key of the function in whose name it is made.
#[derive(Debug)]
pub(crate) struct UnrecognizedClient;

impl AccessKeys {
    pub fn generate<'f>(functions: impl Iterator<Item = &'f str>) -> Result<Self, RandomError> {
        let key = |function: &str| -> Result<_, RandomError> { Ok((function.to_owned(), new_access_key_id()?)) };
        let of_functions = Arc::new(functions.map(key).collect::<Result<_, _>>()?);
        Ok(Self { of_functions, of_tools: random_hex::<16>()?.into(), secret: random_hex::<20>()?.into() })
    }

    /// Returns the access key id of a function, or an empty string if there is no such function.
    pub fn of_function(&self, function: &str) -> &str {
        self.of_functions.get(function).map_or("", String::as_str)
    }

    pub fn secret(&self) -> &str {
        &self.secret
    }

    pub fn function(&self, access_key_id: &str) -> Option<&str> {
        self.of_functions.iter().find_map(|(function, id)| (id == access_key_id).then_some(function.as_str()))
    }

    /// Fails unless the request is signed with the access key of the function.
    pub fn verify(&self, function: &str, headers: &HeaderMap) -> Result<(), UnrecognizedClient> {
        let signer = access_key_id(headers).and_then(|id| self.function(id));
        if signer == Some(function) { Ok(()) } else { Err(UnrecognizedClient) }
    }

    /// Returns the key that tests and benchmarks have in their URLs. It permits everything.
    pub fn of_tools(&self) -> &str {
        &self.of_tools
    }
}

impl IntoResponse for UnrecognizedClient {
    fn into_response(self) -> Response {
        let body = json!({
            "__type": "com.amazon.coral.service#UnrecognizedClientException",
            "message": "The security token included in the request is invalid.",
        });
        (StatusCode::FORBIDDEN, Json(body)).into_response()
    }
}

/// Returns a random id in the format of temporary access keys.
fn new_access_key_id() -> Result<String, RandomError> {
    Ok(format!("ASIA{}", random_hex::<8>()?.to_ascii_uppercase()))
}

/// Returns the access key id in the `Authorization` header of a signed request (Signature Version 4). The signature is
/// not checked, because the access key id is secret enough on one machine.
pub(crate) fn access_key_id(headers: &HeaderMap) -> Option<&str> {
    let authorization = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (_, credential) = authorization.strip_prefix("AWS4-HMAC-SHA256")?.split_once("Credential=")?;
    credential.split('/').next()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn access_key_identifies_its_function() {
        let keys = AccessKeys::generate(["a", "b"].into_iter()).unwrap();
        let headers =
            |authorization: String| HeaderMap::from_iter([(header::AUTHORIZATION, authorization.parse().unwrap())]);
        let signed = |id: &str| {
            headers(format!(
                "AWS4-HMAC-SHA256 Credential={id}/20260312/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=00"
            ))
        };
        assert_eq!(keys.function(access_key_id(&signed(keys.of_function("b"))).unwrap()), Some("b"));
        assert_eq!(keys.function(access_key_id(&signed("ASIA0000000000000000")).unwrap()), None);
        assert_eq!(access_key_id(&headers("Bearer Credential=x/y".to_owned())), None);
        assert_eq!(access_key_id(&HeaderMap::new()), None);
        assert!(keys.verify("b", &signed(keys.of_function("b"))).is_ok());
        for (function, signature) in [("b", signed(keys.of_function("a"))), ("", signed("")), ("b", HeaderMap::new())] {
            assert!(keys.verify(function, &signature).is_err(), "{function}");
        }
    }
}
