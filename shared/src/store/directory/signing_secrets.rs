//! Stores rotated signing secrets of channels and bots. Those of webhooks are part of the account's settings.

use crate::domain::accounts::audit::{AuditAction, AuditedChange};
use crate::domain::bots::bot::Bot;
use crate::domain::channels::channel::Channel;
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::error::Error;
use crate::store::directory::items::SigningSecretAttributes;
use crate::store::directory::keys::{bot_key, channel_key};
use crate::store::directory::{Directory, bots, channels, conflict_or};
use crate::store::table::{ItemUpdate, Key, Write, WriteError, s};
use crate::store::to_attribute;

/// The field name with which the audit log records the rotation of a signing secret.
pub(super) const AUDITED_FIELD: &str = "signing_secret";

impl Directory {
    /// Replaces a channel's signing secrets if they are still those of `before`; otherwise, fails with `Conflict`.
    pub async fn save_channel_signing_secrets(&self, before: &Channel, after: SigningSecrets) -> Result<(), Error> {
        let change = channels::audited_change(AuditAction::Rotated, before);
        let key = channel_key(&before.channel_id);
        self.replace_signing_secrets(&before.account_id, key, &before.signing_secrets, after, change).await
    }

    /// Replaces a bot's signing secrets if they are still those of `before`; otherwise, fails with `Conflict`.
    pub async fn save_bot_signing_secrets(&self, before: &Bot, after: SigningSecrets) -> Result<(), Error> {
        let change = bots::audited_change(AuditAction::Rotated, before);
        let key = bot_key(&before.bot_id);
        self.replace_signing_secrets(&before.account_id, key, &before.signing_secrets, after, change).await
    }

    /// Replaces the signing secrets in the item `key` if they are still `before`. If the new secret is already stored,
    /// returns success, because the SDK repeats requests that time out.
    async fn replace_signing_secrets(
        &self,
        account_id: &str,
        key: Key,
        before: &SigningSecrets,
        after: SigningSecrets,
        change: AuditedChange,
    ) -> Result<(), Error> {
        let SigningSecretAttributes { signing_secret, old_signing_secrets } = after.into();
        let new_secret = s(signing_secret);
        let item_update = ItemUpdate {
            key,
            update: "SET #signing_secret = :secret, #old_signing_secrets = :old",
            condition: "#signing_secret = :before",
            values: vec![
                (":secret", new_secret.clone()),
                (":old", to_attribute(&old_signing_secrets)?),
                (":before", s(before.current().unwrap_or_default())),
            ],
        };
        let change = change.with_fields([AUDITED_FIELD]);
        match self.commit(account_id, vec![Write::Update(item_update)], vec![change]).await {
            Err(WriteError::ConditionFailed { item: Some(found), .. })
                if found.get("signing_secret") == Some(&new_secret) =>
            {
                Ok(())
            }
            written => written.map_err(conflict_or("the secret is being rotated by another request")),
        }
    }
}
