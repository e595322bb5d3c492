//! `AssumeRole` of STS. Like AWS, it answers a wrong external id and an unknown role with the same error.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::json;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{CustomerAws, SESSION_MS, Session};
use crate::aws::time_format::rfc3339_time;
use crate::faults::sts_rejection;
use crate::random_and_digest::random_hex;

const NAMESPACE: &str = "https://sts.amazonaws.com/doc/2011-06-15/";

pub(super) fn router() -> Router<CustomerAws> {
    Router::new().route("/sts/{function}", post(assume_role)).route("/sts/{function}/", post(assume_role))
}

async fn assume_role(
    State(aws): State<CustomerAws>,
    Path(function): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if let Err(unrecognized) = aws.access_keys.verify(&function, &headers) {
        return unrecognized.into_response();
    }
    aws.with_faults(sts_rejection, aws.assume(&function, &body)).await
}

impl CustomerAws {
    async fn assume(&self, function: &str, body: &str) -> Response {
        let parameters = form_parameters(body);
        let parameter = |name: &str| parameters.get(name).map(String::as_str).unwrap_or_default();
        let (role_arn, external_id) = (parameter("RoleArn"), parameter("ExternalId"));
        let policy = self.lock().roles.get(role_arn).cloned();
        if policy.as_ref().is_some_and(|policy| policy.is_silent) {
            self.record(json!({ "unanswered_role": role_arn }));
            std::future::pending::<()>().await;
        }
        let is_trusted = policy.is_some_and(|policy| policy.external_id == external_id);
        if parameter("Action") != "AssumeRole" || !is_trusted {
            return access_denied(function, role_arn);
        }
        let Ok(id) = random_hex::<8>() else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
        let access_key_id = format!("ASIA{}", id.to_ascii_uppercase());
        let expires_at_ms = self.clock.now_ms() + SESSION_MS;
        let session = Session { role_arn: role_arn.to_owned(), expires_at_ms };
        self.lock().sessions.insert(access_key_id.clone(), session);
        let seconds = i64::try_from(expires_at_ms / 1_000).unwrap_or_default();
        let expiration =
            rfc3339_time(OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH));
        let session_arn = format!("{role_arn}/{}", parameter("RoleSessionName"));
        xml(
            StatusCode::OK,
            &format!(
                "<AssumeRoleResponse xmlns=\"{NAMESPACE}\"><AssumeRoleResult><AssumedRoleUser>\
                 <AssumedRoleId>AROA:session</AssumedRoleId><Arn>{session_arn}</Arn></AssumedRoleUser><Credentials>\
                 <AccessKeyId>{access_key_id}</AccessKeyId><SecretAccessKey>local</SecretAccessKey>\
                 <SessionToken>local</SessionToken><Expiration>{expiration}</Expiration></Credentials>\
                 </AssumeRoleResult></AssumeRoleResponse>"
            ),
        )
    }
}

fn form_parameters(body: &str) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://localhost/?{body}"));
    url.map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default()
}

fn access_denied(function: &str, role_arn: &str) -> Response {
    let message = format!("User: {function} is not authorized to perform: sts:AssumeRole on resource: {role_arn}");
    xml(
        StatusCode::FORBIDDEN,
        &format!(
            "<ErrorResponse xmlns=\"{NAMESPACE}\"><Error><Type>Sender</Type><Code>AccessDenied</Code>\
             <Message>{message}</Message></Error><RequestId>{}</RequestId></ErrorResponse>",
            Uuid::now_v7()
        ),
    )
}

fn xml(status: StatusCode, body: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/xml")], body.to_owned()).into_response()
}
