//! Authenticates callers. The account of an agent or a bot is always taken from the credential, never from a field of
//! the request.

use std::sync::Arc;

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::Role;
use crate::domain::bots::bot::{Bot, Provider};
use crate::domain::channels::channel::Channel;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::http::Request;
use crate::runtime::random_ids_and_secrets::{self, OperatorKey};
use crate::store::connections::Connections;
use crate::store::connections::sessions::{self, Session, SessionAccess};
use crate::store::directory::Directory;
use crate::wire::bots::bot_error::BotApiError;

/// Returns the session of a signed-in agent.
///
/// # Errors
/// Fails with `PasswordChangeRequired` if the agent must replace the password first, and with `AccountSuspended` if the
/// operator has suspended the account.
pub async fn agent(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let session = agent_with_any_password(connections, request).await?;
    match session.access {
        SessionAccess::Full => Ok(session),
        SessionAccess::PasswordChange => Err(Error::PasswordChangeRequired),
        SessionAccess::Suspended => Err(Error::AccountSuspended),
    }
}

/// Like [`agent`], but also accepts the session of an agent who must replace the password.
pub async fn agent_with_any_password(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let token = request.bearer_token().ok_or(Error::Unauthorized)?;
    let session = connections.session(token, clock::now()).await?.ok_or(Error::Unauthorized)?;
    if session.access == SessionAccess::Suspended { Err(Error::AccountSuspended) } else { Ok(session) }
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

/// Returns the channel whose endpoint address a request has, and the settings of its account (specification, A).
///
/// # Errors
/// Fails with `NotFound` if the address is not valid, and with `AccountSuspended`.
pub async fn integrator(
    directory: &Directory,
    request: &Request,
    now: Timestamp,
) -> Result<(Arc<Channel>, Arc<AccountSettings>), Error> {
    let (channel_id, secret) = (request.path_segment("channel_id"), request.path_segment("secret"));
    let channel = directory.channel_at_endpoint(&channel_id, &secret, now).await?;
    let settings = directory.cached_settings(&channel.account_id).await?;
    settings.require_not_suspended()?;
    Ok((channel, settings))
}

/// Returns the webhook whose events a program fetches from the address of a request, with the id of its account.
///
/// # Errors
/// Like [`integrator`].
pub async fn webhook_program(
    directory: &Directory,
    request: &Request,
    now: Timestamp,
) -> Result<(String, Webhook), Error> {
    let (account_id, webhook_id) = (request.path_segment("account_id"), request.path_segment("webhook_id"));
    let secret = request.path_segment("secret");
    let (webhook, settings) = directory.webhook_at_endpoint(&account_id, &webhook_id, &secret, now).await?;
    settings.require_not_suspended()?;
    Ok((account_id, webhook))
}

pub fn operator(key: &OperatorKey, request: &Request) -> Result<(), Error> {
    let token = request.bearer_token().ok_or(Error::Unauthorized)?;
    if key.matches(token) { Ok(()) } else { Err(Error::Unauthorized) }
}

/// Returns the bot that sent a request (specification, B-1). The path contains the provider's id and the bot's token. A
/// provider that is registered with a secret must also send the secret in the `Authorization` header, with or without
/// `Bearer`. A header with several credentials is rejected, unless the whole header equals the secret.
///
/// Requests with wrong credentials are limited for each client network. A network that has reached the limit gets 429
/// also for tokens that this process has not cached, so that the token cannot be guessed. The limit does not apply to a
/// provider that sends its secret.
pub async fn bot(directory: &Directory, connections: &Connections, request: &Request) -> Result<Arc<Bot>, BotApiError> {
    let mut provider = directory.cached_provider(&request.path_segment("provider_id")).await?.ok_or(Error::NotFound)?;
    let may_send_new_secret = provider.authorization_hash.is_some() && request.authorization().is_some();
    if may_send_new_secret
        && !sends_secret(request, &provider)
        && let Some(current) = directory.reread_provider(&provider.provider_id).await?
    {
        provider = current;
    }
    let (expected, is_authorized) = (&provider.authorization_hash, sends_secret(request, &provider));
    if !is_authorized && request.has_several_credentials() {
        return Err(Error::field("Authorization", "must hold one credential").into());
    }
    let (provider_id, token) = (&*provider.provider_id, request.path_segment("token"));
    let (address, now) = (request.source_address(), clock::now());
    if !is_authorized && !directory.has_cached_bot(provider_id, &token) {
        connections.require_few_refused_bot_requests(provider_id, &address, now)?;
    }
    let refusal = match directory.bot_by_token(provider_id, &token).await? {
        Some(bot) if expected.is_none() || is_authorized => return Ok(bot),
        Some(_) => BotApiError::UnauthorizedClient,
        None => BotApiError::InvalidClient,
    };
    if !is_authorized {
        connections.count_refused_bot_request(provider_id, &address, now).await?;
    }
    Err(refusal)
}

/// Whether the request contains the provider's secret. False if the provider has none.
fn sends_secret(request: &Request, provider: &Provider) -> bool {
    let Some(expected) = &provider.authorization_hash else { return false };
    let is_secret = |text: &str| {
        random_ids_and_secrets::equals_in_constant_time(sha256::hex_digest(text).as_bytes(), expected.as_bytes())
    };
    request.authorization().is_some_and(is_secret) || request.bearer_token().is_some_and(is_secret)
}
