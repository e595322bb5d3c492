//! Who is calling. The account comes from the credential alone, never from the request.

use std::sync::Arc;

use crate::clock;
use crate::domain::account::Role;
use crate::domain::bot::Bot;
use crate::error::Error;
use crate::http::Request;
use crate::secret::{self, OperatorKey};
use crate::store::connections::{Connections, Session};
use crate::store::directory::Directory;

/// An agent who signed in.
pub async fn agent(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let token = request.bearer().ok_or(Error::Unauthorized)?;
    connections.session(token, clock::now()).await?.ok_or(Error::Unauthorized)
}

/// An admin who signed in.
pub async fn admin(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let session = agent(connections, request).await?;
    match session.role {
        Role::Admin => Ok(session),
        Role::Agent => Err(Error::Forbidden("only an admin may do this")),
    }
}

/// The operator.
pub fn operator(key: &OperatorKey, request: &Request) -> Result<(), Error> {
    let given = request.bearer().ok_or(Error::Unauthorized)?;
    if key.matches(given) { Ok(()) } else { Err(Error::Unauthorized) }
}

/// The bot that a provider speaks for, by the address of B-1 and, where the provider is registered with one, by the
/// `Authorization` header: the secret itself, or behind `Bearer`.
pub async fn bot(directory: &Directory, request: &Request) -> Result<Arc<Bot>, Error> {
    let provider = directory.cached_provider(&request.segment("provider_id")).await?.ok_or(Error::NotFound)?;
    let bot = directory.bot_of_token(&provider.provider_id, &request.segment("token")).await?;
    let bot = bot.ok_or(Error::InvalidClient)?;
    let Some(expected) = &provider.authorization_hash else { return Ok(bot) };
    let is_right = |given: &str| secret::same(secret::hex_hash(given).as_bytes(), expected.as_bytes());
    let whole = request.authorization().is_some_and(is_right);
    let bearer = request.bearer().is_some_and(is_right);
    if whole || bearer { Ok(bot) } else { Err(Error::UnauthorizedClient) }
}
