//! The bodies of the admins' and the operator's endpoints (docs/openapi.json).

mod agents;
mod bots;
mod channels;
mod departments;
mod providers;

pub use agents::{NewAgent, agent, changed_agent, new_account, new_admin, new_agent};
pub use bots::{BotSettings, bot, changed_bot, created_bot, new_bot};
pub use channels::{changed_channel, channel, channel_with_refusals, created_channel, new_channel};
pub use departments::{changed_department, department};
pub use providers::{changed_provider, provider};

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::target_guard::Guard;
use crate::error::Error;
use crate::wire::fields::Fields;

/// Characters of a name.
const MAX_NAME_CHARS: usize = 255;
/// Entries of a list.
const MAX_LIST_ITEMS: usize = 1_000;
/// Longest overlap of an old and a new address, in seconds: 30 days.
const MAX_OVERLAP_SECONDS: u64 = 30 * 24 * 60 * 60;
/// The overlap when nothing is said: a day.
const DEFAULT_OVERLAP_SECONDS: u64 = 24 * 60 * 60;

/// Reads POST .../rotate of a channel or a webhook: for how many seconds the old address or secret still holds.
pub fn overlap(body: &Value) -> Result<u64, Error> {
    let fields = Fields::of(body)?;
    let Some(value) = fields.value("keep_old_seconds") else {
        return Ok(DEFAULT_OVERLAP_SECONDS);
    };
    let seconds = value.as_u64().filter(|seconds| *seconds <= MAX_OVERLAP_SECONDS);
    seconds.ok_or_else(|| {
        fields.refuse("keep_old_seconds", format_args!("must be a whole number from 0 to {MAX_OVERLAP_SECONDS}"))
    })
}

/// An optional address that the service calls, as it is called.
pub(in crate::wire) fn target(fields: Fields<'_>, name: &str, guard: &Guard) -> Result<Option<String>, Error> {
    let Some(url) = fields.target(name)? else { return Ok(None) };
    guard.check(&url).map_err(|forbidden| fields.refuse(name, forbidden))?;
    Ok(Some(url.into()))
}

/// The same where it is required.
pub(in crate::wire) fn required_target(fields: Fields<'_>, name: &str, guard: &Guard) -> Result<String, Error> {
    target(fields, name, guard)?.ok_or_else(|| fields.refuse(name, "is required"))
}

/// Ids, each once.
fn ids(fields: Fields<'_>, name: &str) -> Result<Option<Vec<u64>>, Error> {
    let Some(numbers) = fields.integers(name, MAX_LIST_ITEMS)? else {
        return Ok(None);
    };
    let ids: Option<Vec<u64>> = numbers.into_iter().map(|id| u64::try_from(id).ok().filter(|id| *id > 0)).collect();
    let mut ids = ids.ok_or_else(|| fields.refuse(name, "must be a list of ids"))?;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    Ok(Some(ids))
}

pub(in crate::wire) fn with<const N: usize>(mut object: Value, more: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::domain::bot::Provider;
    use crate::domain::timestamp::Timestamp;
    use crate::wire::settings;

    fn guard() -> Guard {
        Guard::new(Vec::new(), false)
    }

    fn provider(body: &Value) -> Result<Provider, Error> {
        let nothing = Provider {
            provider_id: "p".into(),
            name: String::new(),
            endpoint: String::new(),
            authorization_hash: None,
            created_at: Timestamp(0),
        };
        changed_provider(body, nothing, &guard())
    }

    #[test]
    fn an_address_is_stored_as_it_is_called() {
        let table = [
            ("https://a.example", "https://a.example/"),
            ("HTTPS://A.Example:443/x/../hook?q=1#part", "https://a.example/hook?q=1"),
            ("https://a.example/one more", "https://a.example/one%20more"),
            ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"),
        ];
        for (given, stored) in table {
            let channel = new_channel(&json!({ "name": "App", "integrator_url": given }), &guard()).unwrap();
            let provider = provider(&json!({ "name": "Bots", "endpoint": given })).unwrap();
            let webhook = settings::webhook_url(&json!({ "webhook_url": given }), &guard()).unwrap().unwrap().unwrap();
            assert_eq!([channel.integrator_url, provider.endpoint, webhook], [stored; 3].map(str::to_owned), "{given}");
        }
    }

    #[test]
    fn control_characters_are_refused() {
        for character in ["\0", "\t", "\n", "\r", "\u{1b}", "\u{7f}", "\u{85}"] {
            let url = format!("https://a.example/h{character}ook");
            let text = format!("sec{character}ret");
            let authorized = json!({ "name": "Bots", "endpoint": "https://a.example", "authorization": text });
            let refused = [
                ("integrator_url", new_channel(&json!({ "name": "App", "integrator_url": url }), &guard()).err()),
                ("endpoint", provider(&json!({ "name": "Bots", "endpoint": url })).err()),
                ("authorization", provider(&authorized).err()),
                ("webhook_url", settings::webhook_url(&json!({ "webhook_url": url }), &guard()).err()),
                ("token", new_bot(&json!({ "provider_id": "p", "token": text })).err()),
            ];
            for (field, error) in refused {
                let error = error.unwrap_or_else(|| Error::body("accepted"));
                assert_eq!(error.wrong_field(), Some(field), "{character:?}: {error}");
            }
        }
    }
}
