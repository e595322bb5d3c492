//! What the admin endpoints of an account's webhooks have in common.

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::channels::channel::EndpointSecret;
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::deliveries::webhook::{Webhook, WebhookTarget};
use crate::domain::sha256;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets;

/// Returns a webhook with a new id and a new signing secret. It receives all events, and its URL is empty.
pub fn new_webhook() -> Result<Webhook, Error> {
    let secrets = SigningSecrets::new(random_ids_and_secrets::random_signing_secret()?);
    Ok(Webhook::new(random_ids_and_secrets::random_identifier()?, String::new(), secrets))
}

/// Adds a secret for the address of a program that fetches the events, if the webhook has this target. Returns the
/// webhook and the secret.
pub fn with_pull_secret(webhook: Webhook) -> Result<(Webhook, String), Error> {
    let secret = random_ids_and_secrets::random_token()?;
    let pull_secrets = match webhook.target {
        WebhookTarget::Pull => vec![EndpointSecret::new(sha256::digest(&secret))],
        WebhookTarget::Server | WebhookTarget::Sqs | WebhookTarget::EventBridge => Vec::new(),
    };
    Ok((Webhook { pull_secrets, ..webhook }, secret))
}

/// Returns the webhook with this id. Fails with `NotFound` if there is none.
pub fn find_webhook<'a>(settings: &'a mut AccountSettings, webhook_id: &str) -> Result<&'a mut Webhook, Error> {
    settings.webhooks.iter_mut().find(|webhook| webhook.webhook_id == webhook_id).ok_or(Error::NotFound)
}
