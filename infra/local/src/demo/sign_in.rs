//! Links that open the console and sign in the demo agent or the demo admin. Each link contains a code that works once
//! and only on this machine. The code is in the fragment of the URL, which browsers do not send, so it appears in no
//! log.
//!
//! The terminal shows a link for the agent. When a link of this run is opened and the shown link is no longer valid,
//! the terminal shows a new one. The demo site creates the other links.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::account::DemoAccount;
use super::local_caller::LocalCaller;
use super::welcome::console_url;
use crate::api_client::{self, ApiClient};
use crate::random_and_digest::{RandomError, random_hex};
use crate::terminal;

const CODE_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Creates links and serves the endpoint that exchanges their codes for a session. The host needs the route before the
/// demo account exists, so the account is connected later. Until then, no code is accepted. Clones share all data.
#[derive(Clone, Default)]
pub struct SignInLinks(Arc<SignInState>);

#[derive(Default)]
struct SignInState {
    logins: OnceLock<DemoLogins>,
    codes: Mutex<Codes>,
}

struct DemoLogins {
    api: ApiClient,
    demo: DemoAccount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoUser {
    Agent,
    Admin,
}

/// The codes of this run by their text, including used and expired ones.
#[derive(Default)]
struct Codes(BTreeMap<String, Code>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Code {
    user: DemoUser,
    /// Whether the terminal shows the link with this code.
    is_printed: bool,
    state: CodeState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeState {
    ValidUntil(OffsetDateTime),
    Used,
}

#[derive(Deserialize)]
struct SignInRequest {
    code: String,
}

/// The reasons why a code does not sign in its user. The user sees these messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Rejection {
    #[error("code must be a string")]
    InvalidBody,
    #[error("this sign-in link is not from this run of the host; the terminal shows the current one")]
    UnknownCode,
    #[error("this sign-in link has already been used; the terminal shows a new one")]
    UsedCode,
    #[error("this sign-in link has expired; the terminal shows a new one")]
    ExpiredCode,
    #[error("the user cannot be signed in; try again")]
    Unavailable,
}

impl SignInLinks {
    /// Only the first call has an effect.
    pub fn connect(&self, api: ApiClient, demo: &DemoAccount) {
        let _ = self.0.logins.set(DemoLogins { api, demo: demo.clone() });
    }

    /// Creates the demo agent's sign-in link, which contains a new code. The caller prints the link.
    pub fn create(&self, base_url: &str) -> Result<String, RandomError> {
        let code = self.codes().create(DemoUser::Agent, true, OffsetDateTime::now_utc())?;
        Ok(format!("{}#code={code}", console_url(base_url)))
    }

    /// Creates a code for the demo site. The terminal does not show it.
    pub(super) fn create_code(&self, user: DemoUser) -> Result<String, RandomError> {
        self.codes().create(user, false, OffsetDateTime::now_utc())
    }

    pub fn router(self) -> Router {
        Router::new().route("/_local/sign-in", post(sign_in)).with_state(self)
    }

    /// Redeems the code and signs in its user. Returns the response of the login endpoint. If the login fails, the code
    /// stays valid.
    async fn redeem(&self, logins: &DemoLogins, code: &str) -> Result<Value, Rejection> {
        let previous = self.codes().mark_used(code, OffsetDateTime::now_utc())?;
        logins.log_in(previous.user).await.map_err(|_| {
            self.codes().0.insert(code.to_owned(), previous);
            Rejection::Unavailable
        })
    }

    /// Prints a new link if no printed code is valid.
    fn replace_last_link(&self, base_url: &str) {
        if self.codes().has_valid_printed_code(OffsetDateTime::now_utc()) {
            return;
        }
        // Without random numbers, no link is printed, but the agent can still sign in with the password.
        if let Ok(link) = self.create(base_url) {
            terminal::print_line(&format!("To sign in to the console again:   {link}"));
        }
    }

    fn codes(&self) -> MutexGuard<'_, Codes> {
        self.0.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DemoLogins {
    async fn log_in(&self, user: DemoUser) -> Result<Value, api_client::Error> {
        let (email, password) = match user {
            DemoUser::Agent => (&self.demo.agent_email, &self.demo.agent_password),
            DemoUser::Admin => (&self.demo.admin_email, &self.demo.admin_password),
        };
        self.api.post("/agent/login", None, &json!({"email": email, "password": password})).await
    }
}

impl Codes {
    fn create(&mut self, user: DemoUser, is_printed: bool, now: OffsetDateTime) -> Result<String, RandomError> {
        let text = random_hex::<16>()?;
        let state = CodeState::ValidUntil(now + CODE_LIFETIME);
        self.0.insert(text.clone(), Code { user, is_printed, state });
        Ok(text)
    }

    /// Marks a valid code as used and returns the code as it was before.
    fn mark_used(&mut self, text: &str, now: OffsetDateTime) -> Result<Code, Rejection> {
        let code = self.0.get_mut(text).ok_or(Rejection::UnknownCode)?;
        let previous = *code;
        match previous.state {
            CodeState::Used => Err(Rejection::UsedCode),
            CodeState::ValidUntil(end) if now >= end => Err(Rejection::ExpiredCode),
            CodeState::ValidUntil(_) => {
                code.state = CodeState::Used;
                Ok(previous)
            }
        }
    }

    fn has_valid_printed_code(&self, now: OffsetDateTime) -> bool {
        self.0.values().any(|code| code.is_printed && code.state.is_valid(now))
    }
}

impl CodeState {
    fn is_valid(self, now: OffsetDateTime) -> bool {
        match self {
            Self::ValidUntil(end) => now < end,
            Self::Used => false,
        }
    }
}

async fn sign_in(
    _: LocalCaller,
    State(links): State<SignInLinks>,
    body: Result<Json<SignInRequest>, JsonRejection>,
) -> Result<Json<Value>, Rejection> {
    let Json(SignInRequest { code }) = body.map_err(|_| Rejection::InvalidBody)?;
    let logins = links.0.logins.get().ok_or(Rejection::UnknownCode)?;
    let session = links.redeem(logins, &code).await;
    if session != Err(Rejection::UnknownCode) {
        links.replace_last_link(logins.api.base_url());
    }
    session.map(Json)
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let (status, code) = match self {
            Self::InvalidBody => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::UnknownCode => (StatusCode::NOT_FOUND, "not_found"),
            Self::UsedCode | Self::ExpiredCode => (StatusCode::GONE, "gone"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        let message = self.to_string();
        let error = match self {
            Self::InvalidBody => json!({"code": code, "message": message, "field": "code"}),
            Self::UnknownCode | Self::UsedCode | Self::ExpiredCode | Self::Unavailable => {
                json!({"code": code, "message": message})
            }
        };
        (status, Json(json!({"error": error}))).into_response()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn code_works_once_and_expires() {
        let now = OffsetDateTime::now_utc();
        let mut codes = Codes::default();
        assert!(!codes.has_valid_printed_code(now));
        let text = codes.create(DemoUser::Agent, true, now).unwrap();
        assert!(codes.has_valid_printed_code(now));
        assert_eq!(codes.mark_used(&text, now + CODE_LIFETIME), Err(Rejection::ExpiredCode));
        assert!(!codes.has_valid_printed_code(now + CODE_LIFETIME));
        assert!(codes.mark_used(&text, now).is_ok());
        assert_eq!(codes.mark_used(&text, now), Err(Rejection::UsedCode));
        assert!(!codes.has_valid_printed_code(now));
        assert_eq!(codes.mark_used("other", now), Err(Rejection::UnknownCode));
    }

    #[test]
    fn code_of_the_demo_site_signs_in_its_user() {
        let now = OffsetDateTime::now_utc();
        let mut codes = Codes::default();
        let text = codes.create(DemoUser::Admin, false, now).unwrap();
        assert!(!codes.has_valid_printed_code(now));
        assert_eq!(codes.mark_used(&text, now).map(|code| code.user), Ok(DemoUser::Admin));
    }
}
