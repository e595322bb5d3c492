//! The adapter to Twilio's voice API. Twilio signs its requests with the auth token of the customer's Twilio account.

use std::time::Duration;

use url::Url;

use crate::delivery::outbound_client::{AttemptFuture, FormPost, OutboundClient};
use crate::delivery::telephony::http_gateway::interpret_status;
use crate::delivery::telephony::{AcceptedIncomingCall, TelephonyProvider};
use crate::domain::calls::telephony::{CallOrder, IncomingCall, ProviderReport};
use crate::domain::deliveries::delivery::Outcome;
use crate::error::Error;
use crate::runtime::http::{Request, Response};
use crate::wire::calls::twilio::{self, Form};

const SIGNATURE_HEADER: &str = "x-twilio-signature";

pub(super) struct Twilio<'a> {
    pub api_url: &'a str,
    pub account_sid: &'a str,
    pub auth_token: &'a str,
}

impl TelephonyProvider for Twilio<'_> {
    /// Twilio does not recognise a repeated request, and would call again. An attempt whose response was lost is
    /// therefore repeated only if Twilio has not reported the call in the meantime (see
    /// `TelephonyReceiver::has_accepted`).
    fn place<'a>(&'a self, order: &'a CallOrder<'a>, http: &'a OutboundClient, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            let (user, password) = (self.account_sid, self.auth_token);
            let post = FormPost { url: self.calls_url()?, form: twilio::order_form(order), user, password, timeout };
            let result = http.post_form(post).await?;
            Ok(result.into_outcome(|response| match interpret_status(response.status) {
                Outcome::Rejected(failure) => {
                    Outcome::Rejected(twilio::parse_rejection(&response.body).unwrap_or(failure))
                }
                outcome @ (Outcome::Delivered | Outcome::Retry(_)) => outcome,
            }))
        })
    }

    fn parse_report(&self, request: &Request, url: &str, _call_id: &str) -> Result<ProviderReport, Error> {
        twilio::parse_report(&self.verified_form(request, url)?, &request.path_segment("leg"))
    }

    fn parse_incoming(&self, request: &Request, url: &str) -> Result<IncomingCall, Error> {
        twilio::parse_incoming(&self.verified_form(request, url)?)
    }

    /// When a `<Dial>` ends, Twilio sends a report and executes the response as TwiML, so every response is TwiML.
    fn report_response(&self) -> Response {
        Response::xml(twilio::empty_twiml())
    }

    fn incoming_response(&self, accepted: Option<&AcceptedIncomingCall<'_>>) -> Response {
        Response::xml(match accepted {
            Some(AcceptedIncomingCall { telephony, call, report_url, .. }) => {
                twilio::incoming_twiml(telephony, call, report_url)
            }
            None => twilio::rejection_twiml(),
        })
    }
}

impl Twilio<'_> {
    fn calls_url(&self) -> Result<Url, Error> {
        let mut url = Url::parse(self.api_url).map_err(Error::internal)?;
        let path = ["2010-04-01", "Accounts", self.account_sid, "Calls.json"];
        url.path_segments_mut().map_err(|()| Error::internal("endpoint"))?.pop_if_empty().extend(path);
        Ok(url)
    }

    fn verified_form(&self, request: &Request, url: &str) -> Result<Form, Error> {
        let form = Form::parse(request.body()?);
        let signature = request.header(SIGNATURE_HEADER).ok_or(Error::InvalidSignature)?;
        if form.has_signature(signature, url, self.auth_token) { Ok(form) } else { Err(Error::InvalidSignature) }
    }
}
