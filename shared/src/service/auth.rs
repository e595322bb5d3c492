//! Authenticates callers. The account of an agent or a bot is always taken from the credential, never from a field of
//! the request.

use std::sync::Arc;

use crate::domain::agent::Role;
use crate::domain::bot::Bot;
use crate::domain::sha256;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::http::Request;
use crate::runtime::random_ids_and_secrets::{self, OperatorKey};
use crate::store::connections::Connections;
use crate::store::connections::sessions::{self, Session};
use crate::store::directory::Directory;
use crate::wire::bot_error::BotApiError;

/// Returns the session of a signed-in agent. Costs one read and, at most once a minute, two writes that store the time
/// of the request.
pub async fn agent(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let token = request.bearer_token().ok_or(Error::Unauthorized)?;
    connections.session(token, clock::now()).await?.ok_or(Error::Unauthorized)
}

/// Returns the account that the bearer token names, or `None` if the token is missing or malformed. Nothing may be
/// returned to the caller before [`agent`] has verified the token.
pub fn claimed_account(request: &Request) -> Option<&str> {
    sessions::account_of_token(request.bearer_token()?)
}

/// Like [`agent`], but fails with `Forbidden` if the caller is not an admin.
pub async fn admin(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let session = agent(connections, request).await?;
    match session.role {
        Role::Admin => Ok(session),
        Role::Agent => Err(Error::Forbidden("only an admin may do this")),
    }
}

pub fn operator(key: &OperatorKey, request: &Request) -> Result<(), Error> {
    let token = request.bearer_token().ok_or(Error::Unauthorized)?;
    if key.matches(token) { Ok(()) } else { Err(Error::Unauthorized) }
}

/// Returns the bot that sent a request (specification, B-1). The path contains the provider's id and the bot's token. A
/// provider that is registered with a secret must also send the secret in the `Authorization` header, with or without
/// `Bearer`. A header with several credentials is rejected, unless the whole header equals the secret.
pub async fn bot(directory: &Directory, request: &Request) -> Result<Arc<Bot>, BotApiError> {
    let provider = directory.cached_provider(&request.path_segment("provider_id")).await?.ok_or(Error::NotFound)?;
    let expected = provider.authorization_hash.as_deref();
    let matches_secret = |secret: &str| {
        expected.is_some_and(|expected| {
            random_ids_and_secrets::equals_in_constant_time(sha256::hex_digest(secret).as_bytes(), expected.as_bytes())
        })
    };
    let is_authorized =
        request.authorization().is_some_and(matches_secret) || request.bearer_token().is_some_and(matches_secret);
    if !is_authorized && request.has_several_credentials() {
        return Err(Error::field("Authorization", "must hold one credential").into());
    }
    let bot = directory.bot_by_token(&provider.provider_id, &request.path_segment("token")).await?;
    let bot = bot.ok_or(BotApiError::InvalidClient)?;
    if expected.is_none() || is_authorized { Ok(bot) } else { Err(BotApiError::UnauthorizedClient) }
}
