//! The adapter to a plain HTTP gateway. Requests in both directions are signed with the same secret (Standard
//! Webhooks).

use std::time::Duration;

use serde_json::json;
use url::Url;

use crate::delivery::outbound_client::{AttemptFuture, OutboundClient};
use crate::delivery::signature;
use crate::delivery::signed_post::{JSON_CONTENT_TYPE, SignedPost, Signing};
use crate::delivery::telephony::{AcceptedIncomingCall, TelephonyProvider};
use crate::domain::calls::telephony::{CallOrder, IncomingCall, ProviderReport};
use crate::domain::deliveries::delivery::{Failure, Outcome};
use crate::error::Error;
use crate::runtime::http::{Request, Response};
use crate::wire::calls::call_gateway;
use crate::wire::fields::described::{ResultOk, Success};

pub(super) struct HttpGateway<'a> {
    pub url: &'a str,
    pub signing_secret: &'a str,
}

impl TelephonyProvider for HttpGateway<'_> {
    /// All attempts to place a call have the same `call_id`, by which the gateway recognises a repeated request.
    fn place<'a>(&'a self, order: &'a CallOrder<'a>, http: &'a OutboundClient, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            let url = Url::parse(self.url).map_err(Error::internal)?;
            let body = json!(call_gateway::CallOrder::from(order)).to_string().into_bytes();
            let (id, secrets) = (order.call_id.to_owned(), vec![self.signing_secret.to_owned()]);
            let post = SignedPost {
                url: Some(url),
                shown_url: None,
                body,
                content_type: JSON_CONTENT_TYPE,
                id,
                secrets,
                signing: Signing::Right,
                chunked: false,
                hidden: Vec::new(),
            };
            let result = http.post(&post, timeout).await?;
            Ok(result.into_outcome(|response| interpret_status(response.status)))
        })
    }

    fn parse_report(&self, request: &Request, _url: &str, call_id: &str) -> Result<ProviderReport, Error> {
        self.verify(request)?;
        call_gateway::parse_report(&request.json()?, call_id)
    }

    fn parse_incoming(&self, request: &Request, _url: &str) -> Result<IncomingCall, Error> {
        self.verify(request)?;
        call_gateway::parse_incoming(&request.json()?)
    }

    fn report_response(&self) -> Response {
        Response::ok(Success { result: ResultOk::Ok })
    }

    fn incoming_response(&self, accepted: Option<&AcceptedIncomingCall<'_>>) -> Response {
        Response::ok(match accepted {
            Some(AcceptedIncomingCall { telephony, call_id, call, report_url }) => {
                call_gateway::IncomingCallRouting::new(telephony, call_id, call, report_url)
            }
            None => call_gateway::IncomingCallRouting::rejected(),
        })
    }
}

impl HttpGateway<'_> {
    fn verify(&self, request: &Request) -> Result<(), Error> {
        signature::verify(self.signing_secret, request.headers(), request.body()?)
    }
}

/// Interprets the status of a response. Client errors other than 408 and 429 are final: a retry would fail as well.
pub(super) fn interpret_status(status: u16) -> Outcome {
    match status {
        200..=299 => Outcome::Delivered,
        408 | 429 => Outcome::Retry(format!("HTTP {status}")),
        400..=499 => Outcome::Rejected(Failure { code: None, message: format!("HTTP {status}"), hidden: false }),
        _ => Outcome::Retry(format!("HTTP {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_temporary_error_is_retried() {
        let rejected = |status| matches!(interpret_status(status), Outcome::Rejected(_));
        let retried = |status| matches!(interpret_status(status), Outcome::Retry(_));
        assert!([200, 201, 202, 204].into_iter().all(|status| interpret_status(status) == Outcome::Delivered));
        assert!([400, 401, 404, 422].into_iter().all(rejected));
        assert!([302, 408, 429, 500, 503].into_iter().all(retried));
    }
}
