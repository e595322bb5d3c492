//! `SendEmail` of the SES API, version 2, with simple content.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::LocalSes;
use super::sent_emails::SentEmail;
use crate::aws::arn::identity_arn;
use crate::aws::iam::Permission;

const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SendEmail {
    from_email_address: String,
    destination: Destination,
    #[serde(default)]
    reply_to_addresses: Vec<String>,
    content: Content,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Destination {
    to_addresses: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Content {
    simple: Simple,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Simple {
    subject: Text,
    body: Body,
    #[serde(default)]
    headers: Vec<Header>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Body {
    text: Text,
    html: Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Text {
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Header {
    name: String,
    value: String,
}

pub(super) fn router() -> Router<LocalSes> {
    Router::new().route("/ses/{function}/v2/email/outbound-emails", post(send_email))
}

async fn send_email(
    State(ses): State<LocalSes>,
    Path(function): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if let Err(refused) = ses.access_keys.verify(&function, &headers) {
        return refused.into_response();
    }
    let request: SendEmail = match serde_json::from_str(&body) {
        Ok(request) => request,
        Err(error) => return bad_request(&format!("the request is not valid: {error}")),
    };
    let Some(domain) = domain_of(&request.from_email_address) else {
        return bad_request("the sender has no address");
    };
    let permission = Permission { action: "ses:SendEmail".to_owned(), resource: identity_arn(domain) };
    if let Err(denied) = ses.roles.authorize(&function, &[permission]) {
        return denied.into_response();
    }
    if request.destination.to_addresses.iter().any(|address| !address.is_ascii()) {
        return bad_request("Local address contains non-ASCII characters");
    }
    let id = Uuid::now_v7().to_string();
    ses.emails.add(request.into_email(&id, ses.clock.now_ms()));
    Json(json!({ "MessageId": id })).into_response()
}

impl SendEmail {
    fn into_email(self, id: &str, at_ms: u64) -> SentEmail {
        let Simple { subject, body, headers } = self.content.simple;
        SentEmail {
            id: id.to_owned(),
            at_ms,
            from: self.from_email_address,
            to: self.destination.to_addresses,
            reply_to: self.reply_to_addresses,
            subject: subject.data,
            text: body.text.data,
            html: body.html.data,
            headers: headers.into_iter().map(|Header { name, value }| (name, value)).collect(),
        }
    }
}

/// Returns the domain of an address with or without a name in front of it.
fn domain_of(address: &str) -> Option<&str> {
    let (_, domain) = address.rsplit_once('@')?;
    Some(domain.trim_end_matches('>')).filter(|domain| !domain.is_empty())
}

fn bad_request(message: &str) -> Response {
    (StatusCode::BAD_REQUEST, [(ERROR_TYPE, "BadRequestException")], Json(json!({ "message": message })))
        .into_response()
}
