//! The demo account: made through the public API at the first run, found again at the next. What its user has changed
//! stays; what has gone is made again.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{bot, integrator};
use crate::home::{self, Home};
use crate::public_api::{self, Api};
use crate::terminal;

const FILE: &str = "demo.json";

/// Why there is no demo account.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service did not let us.
    #[error("cannot prepare the demo account: {0}")]
    Api(#[from] public_api::Error),
    /// The stack's parameters do not let the functions call the demo's receivers, which are on this machine.
    #[error("the demo's receivers are refused: {0}")]
    ReceiversRefused(public_api::Error),
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
    /// The bot provider, whose server is [`bot`].
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
struct Integration {
    integrator_url: Option<String>,
}

#[derive(Deserialize)]
struct Provider {
    provider_id: String,
    endpoint: Option<String>,
}

#[derive(Deserialize)]
struct Session {
    token: String,
}

/// Finds the demo account of an earlier run, or makes one when there is none or its admin cannot log in.
///
/// # Errors
/// [`Error::ReceiversRefused`], the service refuses anything else, or the data folder cannot be used.
pub async fn prepare(api: &Api, operator_key: &str, home: &Home) -> Result<Demo, Error> {
    let demo = match recall(home)? {
        Some(saved) => resume(api, operator_key, home, saved).await?,
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

/// What an earlier run kept. A file that does not read is set aside: a new account is better than a host that does not
/// start.
fn recall(home: &Home) -> Result<Option<Demo>, home::Error> {
    let Some(text) = home.recall(FILE)? else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(demo) => Ok(Some(demo)),
        Err(error) => {
            let aside = home.set_aside(FILE, "demo-unreadable")?;
            terminal::complain(&format!(
                "{FILE} does not read ({error}): it is {aside} now, and a new account is made"
            ));
            Ok(None)
        }
    }
}

/// The saved account, with what it lacks made again. Without its admin it is of no use: its file is set aside, because
/// nothing else knows the other passwords, and there is a new account.
async fn resume(api: &Api, operator_key: &str, home: &Home, mut demo: Demo) -> Result<Demo, Error> {
    let Some(admin) = session(api, &demo.admin_email, &demo.admin_password).await? else {
        let name: String = demo.account_id.chars().filter(char::is_ascii_alphanumeric).collect();
        let aside = home.set_aside(FILE, &format!("demo-{name}"))?;
        let who = &demo.admin_email;
        terminal::complain(&format!("{who} cannot log in: {FILE} is {aside} now, and a new account is made"));
        return create(api, operator_key).await;
    };
    follow_provider(api, operator_key, &demo.provider_id).await?;
    find_agent(api, &admin, &mut demo).await?;
    find_channel(api, &admin, &mut demo).await?;
    find_bot(api, &admin, &mut demo).await?;
    Ok(demo)
}

/// A bearer token, or none when the service does not let them in.
async fn session(api: &Api, email: &str, password: &str) -> Result<Option<String>, public_api::Error> {
    match log_in(api, email, password).await {
        Ok(token) => Ok(Some(token)),
        Err(error) if error.is(401) || error.is(400) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn find_agent(api: &Api, admin: &str, demo: &mut Demo) -> Result<(), Error> {
    if session(api, &demo.agent_email, &demo.agent_password).await?.is_none() {
        let (email, password) = create_agent(api, admin).await?;
        terminal::complain(&format!("{} cannot log in: {email} is made", demo.agent_email));
        (demo.agent_email, demo.agent_password) = (email, password);
    }
    Ok(())
}

async fn find_channel(api: &Api, admin: &str, demo: &mut Demo) -> Result<(), Error> {
    if !follow_channel(api, admin, &mut demo.channel_url).await? {
        terminal::complain("the demo channel is not there any more: another one is made");
        let Channel { channel_id, endpoint } = create_channel(api, admin, false).await?;
        (demo.channel_id, demo.channel_url) = (channel_id, channel_url(api, &endpoint));
    }
    Ok(())
}

/// Brings the provider to the present address. It is stated again when it is that already: with other parameters the
/// service may refuse it now.
async fn follow_provider(api: &Api, operator_key: &str, provider_id: &str) -> Result<(), Error> {
    let path = format!("/operator/providers/{provider_id}");
    let provider: Provider = api.get(&path, operator_key).await?;
    let endpoint = provider.endpoint.unwrap_or_default();
    let endpoint = bot::moved(&endpoint, api.base_url()).unwrap_or(endpoint);
    let stated = api.patch(&path, operator_key, &json!({"endpoint": endpoint})).await;
    stated.map_err(refused_receiver)?;
    Ok(())
}

fn refused_receiver(error: public_api::Error) -> Error {
    if error.is(400) { Error::ReceiversRefused(error) } else { Error::Api(error) }
}

async fn find_bot(api: &Api, admin: &str, demo: &mut Demo) -> Result<(), Error> {
    if !follow_channel(api, admin, &mut demo.bot_channel_url).await? {
        terminal::complain("the demo channel with a bot is not there any more: another one is made");
        (demo.bot_token, demo.bot_channel_url) = connect_bot(api, admin, &demo.provider_id).await?;
    }
    Ok(())
}

/// Brings a channel to the present address, and what it sends to us as well; false when it is not there any more.
async fn follow_channel(api: &Api, admin: &str, url: &mut String) -> Result<bool, public_api::Error> {
    *url = channel_url(api, url);
    let status = format!("{}/status", url.strip_prefix(api.base_url()).unwrap_or_default());
    match api.get::<Value>(&status, admin).await {
        Ok(_) => {}
        Err(error) if error.is(404) => return Ok(false),
        Err(error) => return Err(error),
    }
    let path = format!("/admin/channels/{}", last_segment(url));
    let channel: Integration = api.get(&path, admin).await?;
    let integrator_url = channel.integrator_url.unwrap_or_default();
    if let Some(integrator_url) = integrator::moved(&integrator_url, api.base_url()) {
        api.patch(&path, admin, &json!({"integrator_url": integrator_url})).await?;
    }
    Ok(true)
}

async fn create(api: &Api, operator_key: &str) -> Result<Demo, Error> {
    let (admin_email, admin_password) = credentials("admin")?;
    // First, because it is refused where the receivers may not be called.
    let provider = json!({"name": "Demo bots", "endpoint": bot::endpoint(api.base_url())});
    let created = api.post("/operator/providers", Some(operator_key), &provider).await;
    let Provider { provider_id, .. } = created.map_err(refused_receiver)?;
    let account = json!({
        "name": "Demo",
        "admin": {"name": "Demo Admin", "email": admin_email, "password": admin_password},
    });
    let Account { account_id } = api.post("/operator/accounts", Some(operator_key), &account).await?;
    let admin = log_in(api, &admin_email, &admin_password).await?;
    let (agent_email, agent_password) = create_agent(api, &admin).await?;
    let Channel { channel_id, endpoint } = create_channel(api, &admin, false).await?;
    let (bot_token, bot_channel_url) = connect_bot(api, &admin, &provider_id).await?;
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

/// An e-mail address and a password. Addresses are unique in a store, and an older one may still be in it.
fn credentials(who: &str) -> Result<(String, String), home::Error> {
    Ok((format!("{who}-{}@demo.example", home::random_hex::<3>()?), home::random_hex::<12>()?))
}

/// The agent's e-mail address and password.
async fn create_agent(api: &Api, admin: &str) -> Result<(String, String), Error> {
    let (email, password) = credentials("agent")?;
    let agent = json!({"name": "Demo Agent", "email": email, "password": password, "role": "agent"});
    api.post::<Value>("/admin/agents", Some(admin), &agent).await?;
    Ok((email, password))
}

/// The bot with a channel to stand in front of: its token and the channel's address.
async fn connect_bot(api: &Api, admin: &str, provider_id: &str) -> Result<(String, String), Error> {
    let token = home::random_hex::<16>()?;
    let Channel { channel_id, endpoint } = create_channel(api, admin, true).await?;
    let bot = json!({"provider_id": provider_id, "token": token, "name": "Demo Bot", "channel_ids": [channel_id]});
    api.post::<Value>("/admin/bots", Some(admin), &bot).await?;
    Ok((token, channel_url(api, &endpoint)))
}

/// A front end that a bot stands in front of can show what a bot writes beyond plain text.
async fn create_channel(api: &Api, admin: &str, with_bot: bool) -> Result<Channel, public_api::Error> {
    let channel = json!({
        "kind": "api", "name": if with_bot { "Demo channel with a bot" } else { "Demo channel" },
        "integrator_url": integrator::url(api.base_url()),
        "shows_markdown": with_bot, "shows_buttons": with_bot,
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
    fn a_demo_file_that_does_not_read_counts_as_none_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path().to_owned()).unwrap();
        home.keep(FILE, "{").unwrap();
        assert_eq!(recall(&home).unwrap(), None);
        assert_eq!(home.recall("demo-unreadable.json").unwrap().unwrap(), "{");
    }
}
