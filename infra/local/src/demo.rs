//! The demo account: made through the public API at the first run, found again at the next.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::home::{self, Home};
use crate::public_api::{self, Api};
use crate::{demo_bot, integrator};

const FILE: &str = "demo.json";

/// Why there is no demo account.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service did not let us.
    #[error("cannot prepare the demo account: {0}")]
    Api(#[from] public_api::Error),
    /// Its passwords cannot be made or kept.
    #[error(transparent)]
    Home(#[from] home::Error),
    /// What to keep is not JSON; cannot happen with the fields below.
    #[error("cannot prepare the demo account: {0}")]
    Json(#[from] serde_json::Error),
}

/// What a script or a person needs to play every part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demo {
    /// The tenant.
    pub account_id: String,
    /// Who administers it.
    pub admin_email: String,
    /// The admin's password, random.
    pub admin_password: String,
    /// Who answers.
    pub agent_email: String,
    /// The agent's password, random.
    pub agent_password: String,
    /// `CHANNEL_PUBLIC_ID` of the API channel, whose integrator is [`integrator`].
    pub channel_id: String,
    /// Where visitors' messages are posted. Whoever knows it can write: it is the secret.
    pub channel_url: String,
    /// The widget channel. Null until widgets exist.
    pub widget_id: Option<String>,
    /// The bot provider, whose server is [`demo_bot`].
    pub provider_id: String,
    /// The token of the bot connection.
    pub bot_token: String,
    /// Where visitors' messages are posted who meet the bot first: a channel of its own.
    pub bot_channel_url: String,
}

#[derive(Deserialize)]
struct Account {
    account_id: String,
}

#[derive(Deserialize)]
struct Channel {
    channel_id: String,
    endpoint: String,
}

#[derive(Deserialize)]
struct Provider {
    provider_id: String,
}

#[derive(Deserialize)]
struct Session {
    token: String,
}

/// Finds the demo account of an earlier run, or makes one when the store does not know it.
///
/// # Errors
/// The service refuses, or the data folder cannot be used.
pub async fn prepare(api: &Api, operator_key: &str, home: &Home) -> Result<Demo, Error> {
    let demo = match resume(api, operator_key, recall(home)?).await? {
        Some(demo) => demo,
        None => create(api, operator_key).await?,
    };
    home.keep(FILE, &serde_json::to_string_pretty(&demo)?)?;
    Ok(demo)
}

/// A fresh bearer token.
///
/// # Errors
/// The service refuses.
pub async fn log_in(api: &Api, email: &str, password: &str) -> Result<String, public_api::Error> {
    let credentials = json!({"email": email, "password": password});
    let session: Session = api.post("/agent/login", None, &credentials).await?;
    Ok(session.token)
}

/// A file that no longer reads counts as none: a new account is better than a host that does not start.
fn recall(home: &Home) -> Result<Option<Demo>, home::Error> {
    Ok(home.recall(FILE)?.and_then(|text| serde_json::from_str(&text).ok()))
}

/// The saved account, brought to the present address; none when the store does not know it any more.
async fn resume(api: &Api, operator_key: &str, saved: Option<Demo>) -> Result<Option<Demo>, Error> {
    let Some(mut demo) = saved else { return Ok(None) };
    match refresh(api, operator_key, &mut demo).await {
        Ok(()) => Ok(Some(demo)),
        Err(public_api::Error::Refused { status, .. }) if status < 500 => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn refresh(api: &Api, operator_key: &str, demo: &mut Demo) -> Result<(), public_api::Error> {
    log_in(api, &demo.agent_email, &demo.agent_password).await?;
    let admin = log_in(api, &demo.admin_email, &demo.admin_password).await?;
    let base = api.base_url();
    // Asked even when the port is the same: a channel may have been deleted by hand.
    let change = json!({"integrator_url": integrator::url(base)});
    for url in [&mut demo.channel_url, &mut demo.bot_channel_url] {
        *url = channel_url(api, url);
        api.patch(&format!("/admin/channels/{}", last_segment(url)), &admin, &change).await?;
    }
    let change = json!({"endpoint": demo_bot::endpoint(base)});
    api.patch(&format!("/operator/providers/{}", demo.provider_id), operator_key, &change).await?;
    Ok(())
}

async fn create(api: &Api, operator_key: &str) -> Result<Demo, Error> {
    // E-mail addresses are unique in a store, and an older demo account may still be in it.
    let suffix = home::random_hex::<3>()?;
    let admin_email = format!("admin-{suffix}@demo.example");
    let agent_email = format!("agent-{suffix}@demo.example");
    let admin_password = home::random_hex::<12>()?;
    let agent_password = home::random_hex::<12>()?;

    let account = json!({
        "name": "Demo",
        "admin": {"name": "Demo Admin", "email": admin_email, "password": admin_password},
    });
    let Account { account_id } = api.post("/operator/accounts", Some(operator_key), &account).await?;
    let admin = log_in(api, &admin_email, &admin_password).await?;
    let agent = json!({
        "name": "Demo Agent", "email": agent_email, "password": agent_password, "role": "agent",
    });
    api.post::<Value>("/admin/agents", Some(&admin), &agent).await?;
    let Channel { channel_id, endpoint } = create_channel(api, &admin, "Demo channel", false).await?;
    let bot_token = home::random_hex::<16>()?;
    let (provider_id, bot_channel_url) = connect_bot(api, operator_key, &admin, &bot_token).await?;

    Ok(Demo {
        account_id,
        admin_email,
        admin_password,
        agent_email,
        agent_password,
        channel_id,
        channel_url: channel_url(api, &endpoint),
        widget_id: None,
        provider_id,
        bot_token,
        bot_channel_url,
    })
}

/// The bot with a channel to stand in front of: the id of its provider and the channel's address.
async fn connect_bot(
    api: &Api,
    operator_key: &str,
    admin: &str,
    token: &str,
) -> Result<(String, String), public_api::Error> {
    let provider = json!({"name": "Demo bots", "endpoint": demo_bot::endpoint(api.base_url())});
    let Provider { provider_id } = api.post("/operator/providers", Some(operator_key), &provider).await?;
    let Channel { channel_id, endpoint } = create_channel(api, admin, "Demo channel with a bot", true).await?;
    let bot = json!({"provider_id": provider_id, "token": token, "name": "Demo Bot", "channel_ids": [channel_id]});
    api.post::<Value>("/admin/bots", Some(admin), &bot).await?;
    Ok((provider_id, channel_url(api, &endpoint)))
}

/// `shows_rich`: whether the front end can show what a bot writes beyond plain text.
async fn create_channel(api: &Api, admin: &str, name: &str, shows_rich: bool) -> Result<Channel, public_api::Error> {
    let channel = json!({
        "kind": "api", "name": name, "integrator_url": integrator::url(api.base_url()),
        "shows_markdown": shows_rich, "shows_buttons": shows_rich,
    });
    api.post("/admin/channels", Some(admin), &channel).await
}

/// The same endpoint at the address this run has: the port may change between two runs.
fn channel_url(api: &Api, endpoint: &str) -> String {
    let path = endpoint.find("/channel/").and_then(|start| endpoint.get(start..)).unwrap_or_default();
    format!("{}{path}", api.base_url())
}

/// The `CHANNEL_PUBLIC_ID` in a channel's address.
fn last_segment(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_follows_the_host_to_another_port() {
        let api = Api::new("http://127.0.0.1:4000").unwrap();
        assert_eq!(
            channel_url(&api, "http://127.0.0.1:3000/channel/secret/id"),
            "http://127.0.0.1:4000/channel/secret/id"
        );
    }

    #[test]
    fn a_demo_file_that_does_not_read_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path().to_owned()).unwrap();
        home.keep(FILE, "{").unwrap();
        assert_eq!(recall(&home).unwrap(), None);
    }
}
