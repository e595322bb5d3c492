//! Stores an account's telephony settings as an item of the Directory table.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::calls::phone_call::CallLimits;
use crate::domain::calls::telephony::{
    CallbackCaps, DEFAULT_CALLBACK_CAPS, ProviderSettings, Telephony, TelephonyEditor,
};
use crate::error::Error;
use crate::store::directory::Directory;
use crate::store::directory::keys::telephony_key;
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Write, WriteResult};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

/// Only the operator may change locked settings.
pub(crate) const LOCKED_TELEPHONY: Error = Error::Forbidden("the operator has locked the telephony of this account");

#[derive(Deserialize)]
struct StoredItem {
    telephony: TelephonyItem,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct TelephonyItem {
    provider: ProviderItem,
    number: String,
    channel_id: Option<String>,
    is_recorded: bool,
    ring_seconds: u64,
    max_talk_seconds: u64,
    #[serde(default)]
    countries: Vec<String>,
    #[serde(default = "default_callbacks_per_number")]
    callbacks_per_number: u32,
    #[serde(default = "default_callbacks_per_day")]
    callbacks_per_day: u32,
    #[serde(default)]
    is_locked: bool,
}

fn default_callbacks_per_number() -> u32 {
    DEFAULT_CALLBACK_CAPS.per_number
}

fn default_callbacks_per_day() -> u32 {
    DEFAULT_CALLBACK_CAPS.per_day
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
enum ProviderItem {
    Http { url: String, signing_secret: String },
    Twilio { api_url: String, account_sid: String, auth_token: String },
}

impl Directory {
    /// Reads the telephony settings without using the cache. `None` means that the account has no telephony.
    pub async fn telephony(&self, account_id: &str) -> Result<Option<Telephony>, Error> {
        let item = self.table.get(telephony_key(account_id)).await?;
        item.map(|item| from_item::<StoredItem>(item).map(|stored| stored.telephony.into())).transpose()
    }

    /// Returns the telephony settings, which may be up to 10 seconds old.
    pub async fn cached_telephony(&self, account_id: &str) -> Result<Option<Arc<Telephony>>, Error> {
        match self.telephony.get(account_id) {
            Some(cached) => Ok(cached),
            None => self.fresh_telephony(account_id).await,
        }
    }

    /// Reads the telephony settings again, because their secret may be new. Returns `None` if the account has no
    /// telephony, or if this process has read the settings too often in this second.
    pub(crate) async fn reread_telephony(&self, account_id: &str) -> Result<Option<Arc<Telephony>>, Error> {
        if self.telephony.allows_reread(account_id) { self.fresh_telephony(account_id).await } else { Ok(None) }
    }

    async fn fresh_telephony(&self, account_id: &str) -> Result<Option<Arc<Telephony>>, Error> {
        Ok(self.telephony.put(account_id, self.telephony(account_id).await?))
    }

    /// Applies `edit` to the current settings (`None` if the account has none) and stores the result, provided that the
    /// settings have not changed in the meantime. If they have, they are read and edited again.
    pub(crate) async fn edit_telephony(
        &self,
        account_id: &str,
        edit: impl Fn(Option<Telephony>) -> Result<Telephony, Error>,
    ) -> Result<Telephony, Error> {
        let key = telephony_key(account_id);
        let mut races = WriteRaces::new("telephony settings");
        loop {
            let item = self.table.get(key.clone()).await?;
            let stored = item.as_ref().and_then(|item| item.get("telephony")).cloned();
            let before = item.map(from_item::<StoredItem>).transpose()?.map(|stored| Telephony::from(stored.telephony));
            let after = edit(before.clone())?;
            let mut values = vec![(":telephony", to_attribute(&TelephonyItem::from(after.clone()))?)];
            let condition = if stored.is_some() { "#telephony = :before" } else { "attribute_not_exists(#pk)" };
            values.extend(stored.map(|stored| (":before", stored)));
            let update = ItemUpdate { key: key.clone(), update: "SET #telephony = :telephony", condition, values };
            let changes = audited_change(before.as_ref(), &after).into_iter().collect();
            let written = self.commit(account_id, vec![Write::Update(update)], changes).await;
            if let Some(written) = races.final_result(written) {
                return written.map(|()| after);
            }
        }
    }

    /// Deletes the telephony settings, if there are any. As soon as the cached settings have expired, reports about
    /// calls in progress are rejected.
    ///
    /// # Errors
    /// Fails with `LOCKED_TELEPHONY` if the settings are locked and `editor` is an admin.
    pub async fn delete_telephony(&self, account_id: &str, editor: TelephonyEditor) -> Result<(), Error> {
        let (condition, values) = match editor {
            TelephonyEditor::Operator => (ITEM_EXISTS, Vec::new()),
            TelephonyEditor::Admin => {
                ("attribute_exists(#pk) AND NOT #telephony.#is_locked = :true", vec![(":true", to_attribute(&true)?)])
            }
        };
        let delete = Write::DeleteIf(telephony_key(account_id), condition, values);
        match self.commit(account_id, vec![delete], vec![change(AuditAction::Deleted, &[])]).await.condition()? {
            // The second case is that nothing is stored.
            Ok(()) | Err(None) => Ok(()),
            Err(Some(_)) => Err(LOCKED_TELEPHONY),
        }
    }
}

fn change(action: AuditAction, fields: &[&'static str]) -> AuditedChange {
    let kind = AuditedKind::Telephony;
    AuditedChange { action, kind, id: String::new(), name: None, fields: Vec::new() }
        .with_fields(fields.iter().copied())
}

/// Returns the change for the audit log, or `None` if no setting has changed.
fn audited_change(before: Option<&Telephony>, after: &Telephony) -> Option<AuditedChange> {
    let Some(before) = before else { return Some(change(AuditAction::Created, &[])) };
    let Telephony {
        provider,
        number,
        channel_id,
        is_recorded,
        limits: CallLimits { ring, talk },
        countries,
        callback_caps: CallbackCaps { per_number, per_day },
        is_locked,
    } = before;
    let fields = [
        ("number", *number != after.number),
        ("channel_id", *channel_id != after.channel_id),
        ("record", *is_recorded != after.is_recorded),
        ("ring_seconds", *ring != after.limits.ring),
        ("max_minutes", *talk != after.limits.talk),
        ("countries", *countries != after.countries),
        ("callbacks_per_number", *per_number != after.callback_caps.per_number),
        ("callbacks_per_day", *per_day != after.callback_caps.per_day),
        ("locked", *is_locked != after.is_locked),
    ];
    let others = fields.into_iter().filter_map(|(name, is_changed)| is_changed.then_some(name));
    let changed: Vec<_> = changed_provider_fields(provider, &after.provider).into_iter().chain(others).collect();
    (!changed.is_empty()).then(|| change(AuditAction::Changed, &changed))
}

/// Returns the names of the provider's changed fields, or `provider` if the kind of provider has changed.
fn changed_provider_fields(before: &ProviderSettings, after: &ProviderSettings) -> Vec<&'static str> {
    let (before, after) = (provider_fields(before), provider_fields(after));
    if before.iter().map(|(name, _)| name).ne(after.iter().map(|(name, _)| name)) {
        return vec!["provider"];
    }
    let pairs = before.iter().zip(&after);
    pairs.filter_map(|(before, after)| (before != after).then_some(after.0)).collect()
}

fn provider_fields(provider: &ProviderSettings) -> Vec<(&'static str, &str)> {
    match provider {
        ProviderSettings::Http { url, signing_secret } => {
            vec![("url", url.as_str()), ("signing_secret", signing_secret.as_str())]
        }
        ProviderSettings::Twilio { api_url, account_sid, auth_token } => {
            vec![
                ("api_url", api_url.as_str()),
                ("account_sid", account_sid.as_str()),
                ("auth_token", auth_token.as_str()),
            ]
        }
    }
}

impl From<Telephony> for TelephonyItem {
    fn from(telephony: Telephony) -> Self {
        let Telephony {
            provider,
            number,
            channel_id,
            is_recorded,
            limits: CallLimits { ring, talk },
            countries,
            callback_caps: CallbackCaps { per_number, per_day },
            is_locked,
        } = telephony;
        let provider = match provider {
            ProviderSettings::Http { url, signing_secret } => ProviderItem::Http { url, signing_secret },
            ProviderSettings::Twilio { api_url, account_sid, auth_token } => {
                ProviderItem::Twilio { api_url, account_sid, auth_token }
            }
        };
        Self {
            provider,
            number,
            channel_id,
            is_recorded,
            ring_seconds: ring.as_secs(),
            max_talk_seconds: talk.as_secs(),
            countries,
            callbacks_per_number: per_number,
            callbacks_per_day: per_day,
            is_locked,
        }
    }
}

impl From<TelephonyItem> for Telephony {
    fn from(item: TelephonyItem) -> Self {
        let provider = match item.provider {
            ProviderItem::Http { url, signing_secret } => ProviderSettings::Http { url, signing_secret },
            ProviderItem::Twilio { api_url, account_sid, auth_token } => {
                ProviderSettings::Twilio { api_url, account_sid, auth_token }
            }
        };
        Self {
            provider,
            number: item.number,
            channel_id: item.channel_id,
            is_recorded: item.is_recorded,
            limits: CallLimits {
                ring: Duration::from_secs(item.ring_seconds),
                talk: Duration::from_secs(item.max_talk_seconds),
            },
            countries: item.countries,
            callback_caps: CallbackCaps { per_number: item.callbacks_per_number, per_day: item.callbacks_per_day },
            is_locked: item.is_locked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_log_names_the_changed_fields_of_the_provider() {
        let twilio = |api_url: &str, auth_token: &str| ProviderSettings::Twilio {
            api_url: api_url.into(),
            account_sid: "AC1".into(),
            auth_token: auth_token.into(),
        };
        let http = ProviderSettings::Http { url: "https://g.example".into(), signing_secret: "whsec_x".into() };
        let table = [
            (twilio("https://a.example", "t"), vec![]),
            (twilio("https://b.example", "t"), vec!["api_url"]),
            (twilio("https://b.example", "u"), vec!["api_url", "auth_token"]),
            (http, vec!["provider"]),
        ];
        for (after, expected) in table {
            assert_eq!(changed_provider_fields(&twilio("https://a.example", "t"), &after), expected, "{after:?}");
        }
    }
}
