//! The pages at `/mail`: the list of sent e-mails, and each e-mail with a form for a reply. The HTML of an e-mail is
//! shown in a frame without scripts, forms and remote content.

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use time::OffsetDateTime;
use time::macros::format_description;

use super::LocalSes;
use super::sent_emails::SentEmail;
use crate::http::request_text::query_pairs;

const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";
const EMAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; \
    frame-ancestors 'self'";
const STYLES: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
    table{border-collapse:collapse;width:100%}th,td{text-align:start;padding:.4rem .6rem;border-bottom:1px solid #ccc}\
    iframe{width:100%;height:24rem;border:1px solid #ccc}textarea{width:100%;min-height:6rem;font:inherit}\
    pre{white-space:pre-wrap;background:#f4f4f4;padding:1rem}dt{font-weight:600}dd{margin:0 0 .4rem}\
    @media(prefers-color-scheme:dark){body{background:#16181d;color:#eee}a{color:#9cf}pre{background:#23262d}\
    iframe{background:#fff}}";

pub(super) fn router() -> Router<LocalSes> {
    Router::new()
        .route("/mail", get(list))
        .route("/mail/{id}", get(show))
        .route("/mail/{id}/html", get(show_html))
        .route("/mail/{id}/reply", axum::routing::post(reply))
        .route(
            "/_local/mail",
            get(async |State(ses): State<LocalSes>| Json(json!({ "emails": ses.emails.newest_first() }))),
        )
}

async fn list(State(ses): State<LocalSes>) -> Response {
    let row = |email: SentEmail| {
        let SentEmail { id, at_ms, to, subject, .. } = email;
        let (at, to, subject) = (escaped(&utc(at_ms)), escaped(&to.join(", ")), escaped(&subject));
        format!("<tr><td>{at}</td><td>{to}</td><td><a href=\"/mail/{id}\">{subject}</a></td></tr>")
    };
    let rows: String = ses.emails.newest_first().into_iter().map(row).collect();
    let body = match rows.as_str() {
        "" => "<p>No e-mails have been sent.</p>".to_owned(),
        rows => format!("<table><tr><th>Time (UTC)</th><th>To</th><th>Subject</th></tr>{rows}</table>"),
    };
    page("Sent e-mails", &body)
}

async fn show(State(ses): State<LocalSes>, Path(id): Path<String>) -> Response {
    let Some(email) = ses.emails.get(&id) else { return StatusCode::NOT_FOUND.into_response() };
    let SentEmail { id, at_ms, from, to, reply_to, subject, text, headers, .. } = email;
    let addresses =
        [("From", from), ("To", to.join(", ")), ("Reply-To", reply_to.join(", ")), ("Time (UTC)", utc(at_ms))];
    let addresses = addresses.into_iter().map(|(name, value)| (name.to_owned(), value));
    let facts = addresses.chain(headers).filter(|(_, value)| !value.is_empty());
    let facts: String =
        facts.map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escaped(&name), escaped(&value))).collect();
    let form = format!(
        "<form method=\"post\" action=\"/mail/{id}/reply\"><label for=\"text\">Reply as the recipient</label>\
         <textarea id=\"text\" name=\"text\" required></textarea><p><button>Reply</button></p></form>"
    );
    let form = if reply_to.is_empty() { "<p>Nobody reads replies to this e-mail.</p>".to_owned() } else { form };
    let body = format!(
        "<p><a href=\"/mail\">All e-mails</a></p><dl>{facts}</dl>\
         <iframe title=\"HTML\" sandbox src=\"/mail/{id}/html\"></iframe><h2>Text</h2><pre>{}</pre>{form}",
        escaped(&text)
    );
    page(&subject, &body)
}

async fn show_html(State(ses): State<LocalSes>, Path(id): Path<String>) -> Response {
    match ses.emails.get(&id) {
        Some(email) => html(email.html, EMAIL_POLICY),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn reply(State(ses): State<LocalSes>, Path(id): Path<String>, form: String) -> Response {
    let Some(email) = ses.emails.get(&id) else { return StatusCode::NOT_FOUND.into_response() };
    let text = query_pairs(&form).into_iter().find_map(|(name, value)| (name == "text").then_some(value));
    match ses.reply(&email, &text.unwrap_or_default()).await {
        Ok(()) => Redirect::to(&format!("/mail/{id}")).into_response(),
        Err(status) => status.into_response(),
    }
}

fn page(title: &str, body: &str) -> Response {
    let title = escaped(title);
    html(
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLES}</style></head>\
             <body><h1>{title}</h1>{body}</body></html>"
        ),
        PAGE_POLICY,
    )
}

fn html(document: String, policy: &'static str) -> Response {
    let mut response = Html(document).into_response();
    response.headers_mut().extend([
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]);
    response
}

fn utc(ms: u64) -> String {
    let at = OffsetDateTime::UNIX_EPOCH + std::time::Duration::from_millis(ms);
    at.format(format_description!("[year]-[month]-[day] [hour]:[minute]:[second]")).unwrap_or_default()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
