//! The base URL of all endpoints, under which clients and telephony providers reach the service. It comes from the
//! configuration and never from the request's `Host` header, which the client chooses.

use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::http::Request;

/// A function cannot refer to the API whose routes refer to the function. The template therefore writes this
/// placeholder in place of the API's id, and the gateway adds the id to each request.
const API_ID_PLACEHOLDER: &str = "{api_id}";

#[derive(Clone)]
pub struct PublicBaseUrl(String);

impl Dependency for PublicBaseUrl {
    fn open(startup: &mut StartupContext) -> Self {
        Self::new(&startup.environment.required("PUBLIC_BASE_URL"))
    }
}

impl PublicBaseUrl {
    fn new(configured: &str) -> Self {
        Self(configured.trim_end_matches('/').to_owned())
    }

    /// Returns the base URL without a trailing slash. If none is configured, it is the address of the distribution
    /// through which the request came, or that of the API.
    pub fn of_request(&self, request: &Request) -> String {
        match request.distribution_host().filter(|_| self.0.contains(API_ID_PLACEHOLDER)) {
            Some(host) => format!("https://{host}"),
            None => self.0.replace(API_ID_PLACEHOLDER, &request.api_id()),
        }
    }

    /// Returns the URL of a request, as its sender must have written it.
    pub(crate) fn url_of_request(&self, request: &Request) -> String {
        self.of_request(request) + &request.path_and_query()
    }
}

/// Returns the URL of a channel's endpoint. The specification (A-2) writes it as
/// `{base_url}/<random_string>/<CHANNEL_PUBLIC_ID>`.
pub fn channel_endpoint(base_url: &str, secret: &str, channel_id: &str) -> String {
    format!("{base_url}/channel/{secret}/{channel_id}")
}

/// Returns the address at which a program fetches the events of a webhook.
pub fn webhook_endpoint(base_url: &str, secret: &str, account_id: &str, webhook_id: &str) -> String {
    format!("{base_url}/webhook/{secret}/{account_id}/{webhook_id}/events")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn host_header_does_not_change_the_base_url() {
        let event = json!({
            "version": "2.0", "routeKey": "POST /calls/{account_id}", "rawPath": "/calls/acc", "rawQueryString": "a=1",
            "headers": { "host": "evil.example", "x-forwarded-proto": "http", "x-viewer-host": "d1.example" },
            "requestContext": {
                "accountId": "1", "apiId": "a1b2", "domainName": "evil.example", "domainPrefix": "evil", "stage": "$default",
                "http": { "method": "POST", "path": "/calls/acc", "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1" },
                "requestId": "r", "routeKey": "POST /calls/{account_id}", "time": "", "timeEpoch": 0,
            },
            "isBase64Encoded": false,
        });
        let request = Request::of_event(event.to_string().as_bytes()).unwrap();
        for (configured, expected) in [
            ("https://chat.example.com", "https://chat.example.com"),
            ("https://chat.example.com/", "https://chat.example.com"),
            (
                "https://{api_id}.execute-api.eu-west-1.amazonaws.com",
                "https://a1b2.execute-api.eu-west-1.amazonaws.com",
            ),
        ] {
            let base_url = PublicBaseUrl::new(configured);
            assert_eq!(base_url.of_request(&request), expected, "{configured}");
            assert_eq!(base_url.url_of_request(&request), format!("{expected}/calls/acc?a=1"), "{configured}");
        }
        let request = request.through_distribution();
        let base_url = |configured: &str| PublicBaseUrl::new(configured).of_request(&request);
        assert_eq!(base_url("https://{api_id}.execute-api.eu-west-1.amazonaws.com"), "https://d1.example");
        assert_eq!(base_url("https://chat.example.com"), "https://chat.example.com");
    }
}
