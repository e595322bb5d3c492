//! The interface to telephony providers, which connect agents and visitors by phone (docs/telephony.md). The account's
//! telephony settings determine which of the two adapters is used.

mod http_gateway;
mod twilio;

use std::time::Duration;

use crate::delivery::outbound_client::{AttemptFuture, OutboundClient};
use crate::delivery::telephony::http_gateway::HttpGateway;
use crate::delivery::telephony::twilio::Twilio;
use crate::domain::calls::phone_call::Call;
use crate::domain::calls::telephony::{CallOrder, IncomingCall, ProviderReport, ProviderSettings, Telephony};
use crate::error::Error;
use crate::runtime::http::{Request, Response};

pub(crate) struct AcceptedIncomingCall<'a> {
    pub telephony: &'a Telephony,
    pub call_id: &'a str,
    pub call: &'a Call,
    pub report_url: &'a str,
}

pub(crate) trait TelephonyProvider: Send + Sync {
    /// Sends the order to call the agent and the visitor. An error means that nothing was sent; a failed request is an
    /// outcome.
    fn place<'a>(&'a self, order: &'a CallOrder<'a>, http: &'a OutboundClient, timeout: Duration) -> AttemptFuture<'a>;

    /// Parses a report about the progress of a call. Fails with `InvalidSignature` unless the provider has signed the
    /// request, and with another error if the request cannot be parsed. `url` is the URL of the request as the provider
    /// must have written it.
    fn parse_report(&self, request: &Request, url: &str, call_id: &str) -> Result<ProviderReport, Error>;

    /// Parses a request that announces an incoming call. The errors are those of [`parse_report`](Self::parse_report).
    fn parse_incoming(&self, request: &Request, url: &str) -> Result<IncomingCall, Error>;

    fn report_response(&self) -> Response;

    /// Returns the response to an incoming call. The response rejects the call if `accepted` is `None` or the call has
    /// no agent. Otherwise, it contains the agent's phone number.
    fn incoming_response(&self, accepted: Option<&AcceptedIncomingCall<'_>>) -> Response;
}

pub(crate) fn adapter(settings: &ProviderSettings) -> Box<dyn TelephonyProvider + '_> {
    match settings {
        ProviderSettings::Http { url, signing_secret } => Box::new(HttpGateway { url, signing_secret }),
        ProviderSettings::Twilio { api_url, account_sid, auth_token } => {
            Box::new(Twilio { api_url, account_sid, auth_token })
        }
    }
}
