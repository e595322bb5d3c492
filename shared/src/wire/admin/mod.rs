//! Request and response bodies of the /admin and /operator endpoints (docs/openapi.json).

mod accounts;
mod agents;
pub mod answer_times;
pub mod assignment;
pub mod audit;
mod bots;
pub mod business_hours;
pub mod canned_replies;
mod channels;
pub mod chat_export;
pub(crate) mod contacts_form;
pub mod delivery_log;
mod departments;
mod email_settings;
mod file_settings;
pub(crate) mod inbox_settings;
pub mod outages;
mod providers;
pub mod receiver_test;
pub mod report;
pub mod settings;
pub mod signing_secret;
pub mod telephony_settings;
pub mod visitor_data;
pub mod visitor_message;
pub mod webhook_settings;
pub mod widget_settings;
pub mod widget_triggers;

pub use accounts::{AccountDetails, AccountListQuery, AccountSuspension, Accounts, CreatedAccount, NewAccount};
pub use agents::{
    Agent, AgentChange, AgentChanges, AgentWithLastSeen, AgentWithPassword, Agents, DeletedAgent, NewAgent,
};
pub use bots::{Bot, BotActivity, BotChanges, BotOrigin, BotToken, Bots, CreatedBot, DeletedBot, NewBot};
pub use channels::{
    Channel, ChannelChanges, ChannelDetails, Channels, CreatedChannel, DeletedChannel, NewApiChannel, NewChannel,
    NewWidgetChannel, RotatedEndpoint,
};
pub use departments::{DeletedDepartment, Department, DepartmentChanges, Departments, NewDepartment};
pub use providers::{ChoosableProviders, DeletedProvider, NewProvider, Provider, ProviderChanges, Providers};

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::contract::Operation;
use crate::wire::fields::values::{List, SequentialNumber};

const MAX_NAME_CHARS: usize = 255;
const MAX_LIST_ITEMS: usize = 1_000;

/// Returns the operations of the /admin and /operator endpoints.
pub(super) fn operations() -> Vec<Operation> {
    [
        accounts::operations(),
        agents::operations(),
        bots::operations(),
        channels::operations(),
        departments::operations(),
        providers::operations(),
        canned_replies::operations(),
        audit::operations(),
        settings::operations(),
        webhook_settings::operations(),
        telephony_settings::operations(),
        report::operations(),
        visitor_data::operations(),
        visitor_message::operations(),
        delivery_log::operations(),
        outages::operations(),
        chat_export::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The ids of agents or departments.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Ids(List<SequentialNumber, MAX_LIST_ITEMS>);

impl Ids {
    /// Returns the ids in their order, each of them once.
    pub fn into_unique(self) -> Vec<u64> {
        let mut unique = BTreeSet::new();
        let ids = self.0.0.into_iter().map(|SequentialNumber(id)| id);
        ids.filter(|id| unique.insert(*id)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::bots::bot;
    use crate::domain::channels::channel;
    use crate::domain::deliveries::ssrf_guard::SsrfGuard;
    use crate::domain::timestamp::Timestamp;
    use crate::error::Error;
    use crate::wire::admin::settings::AccountSettingsChanges;
    use crate::wire::fields::reader::read;
    use crate::wire::fields::values::Change;

    fn guard() -> SsrfGuard {
        SsrfGuard::new(Vec::new(), false)
    }

    fn parse_provider(body: &Value) -> Result<bot::Provider, Error> {
        read::<NewProvider>(body)?.into_provider("p".into(), Timestamp(0), &guard())
    }

    fn parse_channel(body: &Value) -> Result<channel::ChannelSettings, Error> {
        read::<NewApiChannel>(body)?.into_settings(&guard())
    }

    fn parse_webhook_url(body: &Value) -> Result<Change<String>, Error> {
        read::<AccountSettingsChanges>(body)?.webhook_url(&guard())
    }

    #[test]
    fn receiver_urls_are_stored_normalized() {
        let table = [
            ("https://a.example", "https://a.example/"),
            ("HTTPS://A.Example:443/x/../hook?q=1#part", "https://a.example/hook?q=1"),
            ("https://a.example/one more", "https://a.example/one%20more"),
            ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"),
        ];
        for (url, stored) in table {
            let channel = parse_channel(&json!({ "name": "App", "integrator_url": url })).unwrap();
            let provider = parse_provider(&json!({ "name": "Bots", "endpoint": url })).unwrap();
            let webhook = parse_webhook_url(&json!({ "webhook_url": url })).unwrap().applied_to(None).unwrap();
            let integrator_url = channel.api().unwrap().integrator_url.clone().unwrap();
            assert_eq!([integrator_url, provider.endpoint, webhook], [stored; 3].map(str::to_owned), "{url}");
        }
    }

    #[test]
    fn token_placeholder_is_kept_in_the_path_or_the_query() {
        let parse = |endpoint: &str| parse_provider(&json!({ "name": "Bots", "endpoint": endpoint }));
        for endpoint in ["https://b.example/{token}/events", "https://b.example/hook?v=1&token={token}"] {
            assert_eq!(parse(endpoint).unwrap().endpoint, endpoint);
        }
        for endpoint in ["https://{token}.b.example/", "http://b.example/{token}", "https://10.0.0.1/{token}"] {
            assert_eq!(parse(endpoint).unwrap_err().invalid_field(), Some("endpoint"), "{endpoint}");
        }
    }

    #[test]
    fn control_characters_are_refused() {
        for character in ["\0", "\t", "\n", "\r", "\u{1b}", "\u{7f}", "\u{85}"] {
            let url = format!("https://a.example/h{character}ook");
            let text = format!("sec{character}ret");
            let authorized = json!({ "name": "Bots", "endpoint": "https://a.example", "authorization": text });
            let refused = [
                ("integrator_url", parse_channel(&json!({ "name": "App", "integrator_url": url })).err()),
                ("endpoint", parse_provider(&json!({ "name": "Bots", "endpoint": url })).err()),
                ("authorization", parse_provider(&authorized).err()),
                ("webhook_url", parse_webhook_url(&json!({ "webhook_url": url })).err()),
                (
                    "token",
                    read::<NewBot>(&json!({ "provider_id": "p", "token": format!("{text} of a bot provider") })).err(),
                ),
            ];
            for (field, error) in refused {
                let error = error.unwrap_or_else(|| Error::body("accepted"));
                assert_eq!(error.invalid_field(), Some(field), "{character:?}: {error}");
            }
        }
    }
}
