//! Sends e-mails with SES. One request of its API is signed and sent here, because its SDK would be a large client for
//! it. SES builds the MIME message from the parts of the request, so no text can end a header.

use std::time::Duration;

use aws_sigv4::http_request::{SignableBody, SigningSettings};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::domain::email::mailbox::Mailbox;
use crate::domain::email::outgoing::OutgoingEmail;
use crate::error::Error;
use crate::runtime::aws_http_client::AwsHttpClient;
use crate::runtime::aws_signer::{AwsSigner, UnsignedRequest};
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::mail_domain::MailDomain;
use crate::runtime::{aws_config, config};

/// The name in front of the domain of the sender's address.
const SENDER: &str = "chat";
const PATH: &str = "/v2/email/outbound-emails";
/// The types of errors that are about the e-mail itself. Others, with the same status, are about the stack, for example
/// because AWS has paused it.
const PERMANENT_ERRORS: [&str; 2] = ["BadRequestException", "MessageRejected"];
/// What the message of an error of these types contains if it is about the stack: its domain is not verified, or its
/// account is in the sandbox of SES.
const NOT_VERIFIED: &str = "not verified";
/// A response that comes later is lost, and the e-mail is sent twice. This leaves time for the other calls before the
/// timeout of `deliver-email`.
const MIN_TIMEOUT: Duration = Duration::from_secs(10);

/// What became of an e-mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendResult {
    Sent,
    /// SES will never accept it, for example because of its recipient.
    Rejected,
}

#[derive(Clone)]
pub struct EmailSender {
    mail_domain: MailDomain,
    url: String,
    signer: AwsSigner,
    client: AwsHttpClient,
    timeout: Duration,
}

impl Dependency for EmailSender {
    fn open(startup: &mut StartupContext) -> Self {
        let region = config::aws_region();
        let endpoint = config::aws_endpoint_url("SESV2");
        let endpoint = endpoint.unwrap_or_else(|| format!("https://email.{region}.amazonaws.com"));
        Self {
            mail_domain: MailDomain::open(startup),
            url: endpoint + PATH,
            client: aws_config::http_client(&region),
            signer: AwsSigner::new("ses", region),
            timeout: config::aws_call_timeout().max(MIN_TIMEOUT),
        }
    }
}

impl EmailSender {
    /// Returns `None` if the stack sends no e-mails.
    #[must_use]
    pub fn mail_domain(&self) -> Option<&str> {
        self.mail_domain.get()
    }

    /// Sends an e-mail. The future is boxed so that it is compiled only once.
    ///
    /// # Errors
    /// Fails if SES does not respond, is busy or limits the rate, or refuses the request as such, for example while the
    /// domain is not verified. A later request can succeed.
    pub fn send<'a>(&'a self, email: &'a OutgoingEmail) -> BoxFuture<'a, Result<SendResult, Error>> {
        Box::pin(async move {
            let domain = self.mail_domain().ok_or_else(|| Error::internal("no domain for e-mails"))?;
            let from = Mailbox::parse(&format!("{SENDER}@{domain}"));
            let from = from.ok_or_else(|| Error::internal("the domain for e-mails is not valid"))?;
            let body = request_body(email, &from, domain).to_string();
            let result = self.result_of(self.signed_request(&body)?);
            tokio::time::timeout(self.timeout, result).await.map_err(Error::unavailable)?
        })
    }

    async fn result_of(&self, request: HttpRequest) -> Result<SendResult, Error> {
        let response = self.client.call(request).await.map_err(Error::unavailable)?;
        let status = response.status().as_u16();
        if (200..=299).contains(&status) {
            return Ok(SendResult::Sent);
        }
        let error_type = response.headers().get("x-amzn-errortype").unwrap_or_default().to_owned();
        let body = ByteStream::new(response.into_body()).collect().await.map_err(Error::unavailable)?.into_bytes();
        if status == 400 && is_permanent(&error_type, &String::from_utf8_lossy(&body)) {
            return Ok(SendResult::Rejected);
        }
        // The message can contain an address, which no log may.
        Err(Error::unavailable(format!("SES responded with {status}")))
    }

    fn signed_request(&self, body: &str) -> Result<HttpRequest, Error> {
        let headers = [("content-type", "application/json")];
        let request = UnsignedRequest { method: "POST", url: &self.url, headers: &headers };
        let body = (SdkBody::from(body), SignableBody::Bytes(body.as_bytes()));
        self.signer.signed_request(request, body, SigningSettings::default())
    }
}

/// Whether the error is about the e-mail itself, so that a later request would fail, too.
fn is_permanent(error_type: &str, body: &str) -> bool {
    let is_about_email = PERMANENT_ERRORS.iter().any(|permanent| error_type.starts_with(permanent));
    is_about_email && !body.to_ascii_lowercase().contains(NOT_VERIFIED)
}

/// Returns the body of `SendEmail`. All e-mails of a thread name the same message, which was never sent: mail programs
/// show them together, and the service stores no ids.
fn request_body(email: &OutgoingEmail, from: &Mailbox, domain: &str) -> Value {
    let OutgoingEmail { sender_name, to, reply_to, subject, text, html, thread } = email;
    let thread = format!("<{thread}@{domain}>");
    let utf8 = |data: &str| json!({ "Data": data, "Charset": "UTF-8" });
    let header = |name: &str, value: &str| json!({ "Name": name, "Value": value });
    let mut headers = vec![header("In-Reply-To", &thread), header("References", &thread)];
    if reply_to.is_none() {
        // Nobody reads an auto-reply.
        headers.push(header("Auto-Submitted", "auto-generated"));
    }
    json!({
        "FromEmailAddress": from.with_name(sender_name),
        "Destination": { "ToAddresses": [to.as_str()] },
        "ReplyToAddresses": reply_to.iter().map(Mailbox::as_str).collect::<Vec<_>>(),
        "Content": {
            "Simple": {
                "Subject": utf8(subject),
                "Body": { "Text": utf8(text), "Html": utf8(html) },
                "Headers": headers,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn unverified_domain_is_no_reason_to_drop_an_email() {
        let not_verified = r#"{"message":"Email address is not verified. The following identities failed the check"}"#;
        for (error_type, body, expected) in [
            ("MessageRejected", r#"{"message":"Address is invalid"}"#, true),
            ("BadRequestException:http://internal.amazon.com/", "", true),
            ("MessageRejected", not_verified, false),
            ("AccountSuspendedException", "", false),
        ] {
            assert_eq!(is_permanent(error_type, body), expected, "{error_type} {body}");
        }
    }

    #[test]
    fn request_has_both_bodies_and_a_thread() {
        let mailbox = |address: &str| Mailbox::parse(address).unwrap();
        let email = OutgoingEmail {
            sender_name: "Bücher".into(),
            to: mailbox("ada@example.com"),
            reply_to: Some(mailbox("reply+x@mail.example.com")),
            subject: "Hello".into(),
            text: "Hi".into(),
            html: "<p>Hi</p>".into(),
            thread: "chat-1.acc".into(),
        };
        let body = request_body(&email, &mailbox("chat@mail.example.com"), "mail.example.com");
        assert_eq!(body["FromEmailAddress"], "=?UTF-8?B?QsO8Y2hlcg==?= <chat@mail.example.com>");
        assert_eq!(body["ReplyToAddresses"], json!(["reply+x@mail.example.com"]));
        let headers = &body["Content"]["Simple"]["Headers"];
        assert_eq!(headers[1], json!({ "Name": "References", "Value": "<chat-1.acc@mail.example.com>" }));
        let body = request_body(&OutgoingEmail { reply_to: None, ..email }, &mailbox("a@b.example"), "b.example");
        assert_eq!(body["Content"]["Simple"]["Headers"][2]["Value"], "auto-generated");
        assert_eq!(body["ReplyToAddresses"], json!([]));
    }
}
