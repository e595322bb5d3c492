//! Delivers an e-mail to the service: stores its source in the bucket and invokes the function that receives e-mails.

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::LocalSes;
use super::sent_emails::SentEmail;
use crate::random_and_digest::random_hex;

/// The function that the template's receipt rule invokes, and the folder of its bucket.
const FUNCTION: &str = "receive-email";
const BUCKET: &str = "Files";
const FOLDER: &str = "mail";
/// The checks of SES, all of which a reply from the page has passed.
const CHECKS: [&str; 5] = ["spf", "dkim", "dmarc", "spam", "virus"];

#[derive(Deserialize)]
struct Delivery {
    raw: String,
    recipients: Vec<String>,
    /// The results of checks that are not `PASS`, such as `{"spf": "FAIL"}`.
    #[serde(default)]
    verdicts: Map<String, Value>,
}

pub(super) fn router() -> Router<LocalSes> {
    Router::new().route("/_local/mail/receive", post(receive))
}

async fn receive(State(ses): State<LocalSes>, Json(delivery): Json<Delivery>) -> Result<Json<Value>, StatusCode> {
    ses.deliver(delivery).await.map(Json)
}

impl LocalSes {
    /// Delivers a reply of the recipient of an e-mail.
    pub(super) async fn reply(&self, email: &SentEmail, text: &str) -> Result<(), StatusCode> {
        let raw = reply_source(email, text, &random_id()?);
        let delivery = Delivery { raw, recipients: email.reply_to.clone(), verdicts: Map::new() };
        self.deliver(delivery).await.map(drop)
    }

    async fn deliver(&self, delivery: Delivery) -> Result<Value, StatusCode> {
        let Delivery { raw, recipients, verdicts } = delivery;
        let id = random_id()?;
        let stored = self.objects.store(BUCKET, &format!("{FOLDER}/{id}"), raw.into_bytes());
        stored.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        let mut receipt = Map::from_iter([("recipients".to_owned(), json!(recipients))]);
        for check in CHECKS {
            let status = verdicts.get(check).cloned().unwrap_or_else(|| json!("PASS"));
            receipt.insert(format!("{check}Verdict"), json!({ "status": status }));
        }
        let notification = json!({ "mail": { "messageId": id }, "receipt": receipt });
        let event = json!({ "Records": [{ "eventSource": "aws:ses", "eventVersion": "1.0", "ses": notification }] });
        let invoked = self.functions.invoke(FUNCTION, event.to_string().into()).await;
        invoked.map_err(|_| StatusCode::BAD_GATEWAY)?;
        Ok(json!({ "id": id }))
    }
}

fn random_id() -> Result<String, StatusCode> {
    random_hex::<20>().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns the source of a reply as a mail program writes it, with the e-mail quoted below the text.
fn reply_source(email: &SentEmail, text: &str, id: &str) -> String {
    let from = email.to.first().map(String::as_str).unwrap_or_default();
    let to = email.reply_to.first().map(String::as_str).unwrap_or_default();
    let quoted: String = email.text.lines().map(|line| format!("> {line}\r\n")).collect();
    let text: String = text.lines().map(|line| format!("{line}\r\n")).collect();
    format!(
        "From: <{from}>\r\nTo: <{to}>\r\nSubject: Re: {}\r\nMessage-ID: <{id}@mail.localhost>\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\
         {text}\r\nOn Sat, Nov 22, 2025 at 9:35 AM {} wrote:\r\n\r\n{quoted}",
        email.subject.replace(['\r', '\n'], " "),
        email.from.replace(['\r', '\n'], " "),
    )
}
