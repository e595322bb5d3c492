//! Who is calling. The account comes from the credential alone, never from the request.

use std::sync::Arc;

use crate::domain::account::Role;
use crate::domain::bot::Bot;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::http::Request;
use crate::runtime::secret::{self, OperatorKey};
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
/// `Authorization` header: the secret itself, or behind `Bearer`. Several credentials are a wrong request, unless they are
/// the registered secret as a whole.
pub async fn bot(directory: &Directory, request: &Request) -> Result<Arc<Bot>, Error> {
    let provider = directory.cached_provider(&request.segment("provider_id")).await?.ok_or(Error::NotFound)?;
    let expected = provider.authorization_hash.as_deref();
    let is_right = |given: &str| {
        expected.is_some_and(|expected| secret::same(secret::hex_hash(given).as_bytes(), expected.as_bytes()))
    };
    let is_authorized = request.authorization().is_some_and(is_right) || request.bearer().is_some_and(is_right);
    if !is_authorized && request.has_several_credentials() {
        return Err(Error::field("Authorization", "must hold one credential"));
    }
    let bot = directory.bot_of_token(&provider.provider_id, &request.segment("token")).await?;
    let bot = bot.ok_or(Error::InvalidClient)?;
    if expected.is_none() || is_authorized { Ok(bot) } else { Err(Error::UnauthorizedClient) }
}
