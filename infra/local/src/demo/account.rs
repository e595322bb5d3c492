//! The demo account. The first run creates it through the public API. Later runs keep the user's changes, update the
//! URLs of the receivers, and recreate a channel, widget or webhook that no longer exists and an agent who cannot log
//! in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{bot, gateway, integrator, webhook};
use crate::api_client::{self, ApiClient};
use crate::file_store::{self, FileStore};
use crate::random_and_digest::{self, RandomError};
use crate::terminal;

const DEMO_FILE: &str = "demo.json";
/// The demo account's phone number. Like the agent's number, it is from a range that is reserved for fictional use. The
/// demo gateway calls no real phone.
const DEMO_ACCOUNT_NUMBER: &str = "+442079460000";
const DEMO_AGENT_PHONE: &str = "+442079460001";
const DEMO_CALL_MINUTES: u64 = 600;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot prepare the demo account: {0}")]
    Api(#[from] api_client::Error),
    /// The template's parameters do not allow functions to call receivers on this machine.
    #[error("the service rejects the addresses of its receivers: {0}")]
    ReceiversRejected(api_client::Error),
    #[error(transparent)]
    FileStore(#[from] file_store::Error),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("cannot prepare the demo account: {0}")]
    Json(#[from] serde_json::Error),
}

/// Identifiers and credentials of the demo account, as stored in `demo.json` and in the ready file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemoAccount {
    pub account_id: String,
    pub admin_email: String,
    pub admin_password: String,
    pub agent_email: String,
    pub agent_password: String,
    /// The `CHANNEL_PUBLIC_ID` of the channel without a bot.
    pub channel_id: String,
    /// The endpoint for visitors' messages of the channel without a bot. It is secret, because anyone who knows it can
    /// write to the channel.
    pub channel_url: String,
    /// The widget. Its chats start with the bot, unless a later run had to recreate the widget. `None` in a file from a
    /// version without the demo widget.
    pub widget_id: Option<String>,
    /// The bot provider that [`bot`] emulates.
    pub provider_id: String,
    pub bot_token: String,
    /// The endpoint of a second channel. Chats in this channel start with the bot.
    pub bot_channel_url: String,
    /// The webhook whose receiver [`webhook`] emulates. `None` in a file from a version without the demo webhook.
    pub webhook_id: Option<String>,
    /// Signs the requests to and from the telephony provider that [`gateway`] emulates. `None` in a file from a version
    /// without the demo gateway.
    #[serde(default)]
    pub gateway_secret: Option<String>,
}

#[derive(Deserialize)]
struct AccountResponse {
    account_id: String,
}

#[derive(Deserialize)]
struct WidgetResponse {
    widget_id: String,
}

#[derive(Deserialize)]
struct WebhookResponse {
    webhook_id: String,
}

#[derive(Deserialize)]
struct WebhookList {
    webhooks: Vec<ListedWebhook>,
}

#[derive(Deserialize)]
struct ListedWebhook {
    webhook_id: String,
    url: String,
}

#[derive(Deserialize)]
struct ChannelResponse {
    channel_id: String,
    endpoint: String,
}

#[derive(Deserialize)]
struct DemoChannelSettings {
    integrator_url: Option<String>,
}

#[derive(Deserialize)]
struct ProviderResponse {
    provider_id: String,
    endpoint: Option<String>,
}

#[derive(Deserialize)]
struct TelephonyResponse {
    telephony: Option<DemoTelephony>,
}

#[derive(Deserialize)]
struct DemoTelephony {
    url: Option<String>,
}

#[derive(Deserialize)]
struct LoginResponse {
    token: String,
}

/// Restores the demo account from an earlier run. Creates a new account if there is none, or if its admin cannot log
/// in.
pub async fn prepare(api: &ApiClient, operator_key: &str, store: &FileStore) -> Result<DemoAccount, Error> {
    let demo = match load(store)? {
        Some(saved) => restore(api, operator_key, store, saved).await?,
        None => create(api, operator_key).await?,
    };
    store.write(DEMO_FILE, &serde_json::to_string_pretty(&demo)?)?;
    Ok(demo)
}

/// Returns a new bearer token.
pub async fn log_in(api: &ApiClient, email: &str, password: &str) -> Result<String, api_client::Error> {
    let credentials = json!({"email": email, "password": password});
    let response: LoginResponse = api.post("/agent/login", None, &credentials).await?;
    Ok(response.token)
}

/// Reads the account from an earlier run. If the file cannot be parsed, renames it and returns `None`, so that the host
/// can start with a new account.
fn load(store: &FileStore) -> Result<Option<DemoAccount>, file_store::Error> {
    let Some(text) = store.read(DEMO_FILE)? else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(demo) => Ok(Some(demo)),
        Err(error) => {
            let new_name = store.rename_to_unused(DEMO_FILE, "demo-unreadable")?;
            terminal::print_error(&format!(
                "{DEMO_FILE} is not valid ({error}): renamed it to {new_name} and created a new demo account"
            ));
            Ok(None)
        }
    }
}

/// Updates the URLs of the account's receivers and recreates missing parts of the account. If the admin cannot log in,
/// creates a new account and renames the file of the old account, because no other file contains the old account's
/// passwords.
async fn restore(
    api: &ApiClient,
    operator_key: &str,
    store: &FileStore,
    mut demo: DemoAccount,
) -> Result<DemoAccount, Error> {
    let Some(admin_token) = try_log_in(api, &demo.admin_email, &demo.admin_password).await? else {
        let id: String = demo.account_id.chars().filter(char::is_ascii_alphanumeric).collect();
        let new_name = store.rename_to_unused(DEMO_FILE, &format!("demo-{id}"))?;
        let email = &demo.admin_email;
        terminal::print_error(&format!(
            "{email} cannot log in: renamed {DEMO_FILE} to {new_name} and created a new demo account"
        ));
        return create(api, operator_key).await;
    };
    update_provider_endpoint(api, operator_key, &demo.provider_id).await?;
    ensure_agent(api, &admin_token, &mut demo).await?;
    ensure_channel(api, &admin_token, &mut demo).await?;
    ensure_bot_channel(api, &admin_token, &mut demo).await?;
    ensure_widget(api, &admin_token, &mut demo).await?;
    ensure_webhook(api, &admin_token, &mut demo).await?;
    ensure_gateway(api, operator_key, &admin_token, &mut demo).await?;
    Ok(demo)
}

/// Returns a new bearer token, or `None` if the service rejects the credentials.
async fn try_log_in(api: &ApiClient, email: &str, password: &str) -> Result<Option<String>, api_client::Error> {
    match log_in(api, email, password).await {
        Ok(token) => Ok(Some(token)),
        Err(error) if error.has_status(401) || error.has_status(400) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn ensure_agent(api: &ApiClient, admin_token: &str, demo: &mut DemoAccount) -> Result<(), Error> {
    if try_log_in(api, &demo.agent_email, &demo.agent_password).await?.is_none() {
        let (email, password) = create_agent(api, admin_token).await?;
        terminal::print_error(&format!("{} cannot log in: created the agent {email}", demo.agent_email));
        (demo.agent_email, demo.agent_password) = (email, password);
    }
    Ok(())
}

async fn ensure_channel(api: &ApiClient, admin_token: &str, demo: &mut DemoAccount) -> Result<(), Error> {
    if !update_channel_url(api, admin_token, &mut demo.channel_url).await? {
        terminal::print_error("the demo channel no longer exists: created a new one");
        let ChannelResponse { channel_id, endpoint } = create_channel(api, admin_token, false).await?;
        (demo.channel_id, demo.channel_url) = (channel_id, channel_url(api, &endpoint));
    }
    Ok(())
}

/// Updates the provider's endpoint to use this run's base URL. The request is sent even if the endpoint is unchanged,
/// because the service may now reject that endpoint if the template's parameters have changed.
async fn update_provider_endpoint(api: &ApiClient, operator_key: &str, provider_id: &str) -> Result<(), Error> {
    let path = format!("/operator/providers/{provider_id}");
    let provider: ProviderResponse = api.get(&path, operator_key).await?;
    let endpoint = provider.endpoint.unwrap_or_default();
    let endpoint = bot::with_base_url(&endpoint, api.base_url()).unwrap_or(endpoint);
    let updated = api.patch(&path, operator_key, &json!({"endpoint": endpoint})).await;
    updated.map_err(receiver_error)?;
    Ok(())
}

/// Converts the error from a request that contains a receiver's URL. Status 400 means that the service rejects the URL.
fn receiver_error(error: api_client::Error) -> Error {
    if error.has_status(400) { Error::ReceiversRejected(error) } else { Error::Api(error) }
}

async fn ensure_bot_channel(api: &ApiClient, admin_token: &str, demo: &mut DemoAccount) -> Result<(), Error> {
    if !update_channel_url(api, admin_token, &mut demo.bot_channel_url).await? {
        terminal::print_error("the demo channel with a bot no longer exists: created a new one");
        (demo.bot_token, demo.bot_channel_url) = connect_bot(api, admin_token, &demo.provider_id, None).await?;
    }
    Ok(())
}

async fn ensure_widget(api: &ApiClient, admin_token: &str, demo: &mut DemoAccount) -> Result<(), Error> {
    if let Some(widget_id) = &demo.widget_id {
        match api.get::<Value>(&format!("/admin/channels/{widget_id}"), admin_token).await {
            Ok(_) => return Ok(()),
            Err(error) if error.has_status(404) => {}
            Err(error) => return Err(error.into()),
        }
        terminal::print_error("the demo widget no longer exists: created a new one");
    }
    demo.widget_id = Some(create_widget(api, admin_token).await?);
    Ok(())
}

async fn ensure_webhook(api: &ApiClient, admin_token: &str, demo: &mut DemoAccount) -> Result<(), Error> {
    if let Some(webhook_id) = &demo.webhook_id {
        let WebhookList { webhooks } = api.get("/admin/settings", admin_token).await?;
        if let Some(existing) = webhooks.iter().find(|webhook| webhook.webhook_id == *webhook_id) {
            if let Some(url) = webhook::with_base_url(&existing.url, api.base_url()) {
                let path = format!("/admin/settings/webhooks/{webhook_id}");
                api.patch(&path, admin_token, &json!({"url": url})).await?;
            }
            return Ok(());
        }
        terminal::print_error("the demo webhook no longer exists: created a new one");
    }
    demo.webhook_id = Some(create_webhook(api, admin_token).await?);
    Ok(())
}

/// Connects the demo gateway if it was never connected. Otherwise, updates its URL to use this run's base URL.
async fn ensure_gateway(
    api: &ApiClient,
    operator_key: &str,
    admin_token: &str,
    demo: &mut DemoAccount,
) -> Result<(), Error> {
    if demo.gateway_secret.is_none() {
        let widget_id = demo.widget_id.clone().unwrap_or_default();
        let ids = (demo.account_id.as_str(), widget_id.as_str());
        demo.gateway_secret = Some(connect_gateway(api, operator_key, admin_token, ids).await?);
        return Ok(());
    }
    let TelephonyResponse { telephony } = api.get("/admin/telephony", admin_token).await?;
    let url = telephony.and_then(|telephony| gateway::with_base_url(&telephony.url?, api.base_url()));
    if let Some(url) = url {
        api.patch("/admin/telephony", admin_token, &json!({"url": url})).await?;
    }
    Ok(())
}

/// Makes the demo gateway the account's telephony provider, tops up the balance and lets visitors ask for callbacks.
/// Returns the gateway's signing secret.
async fn connect_gateway(
    api: &ApiClient,
    operator_key: &str,
    admin_token: &str,
    (account_id, widget_id): (&str, &str),
) -> Result<String, Error> {
    let secret = format!("whsec_{}", STANDARD.encode(random_and_digest::random_hex::<16>()?));
    let telephony = json!({
        "provider": "http", "url": gateway::url(api.base_url()), "signing_secret": secret,
        "number": DEMO_ACCOUNT_NUMBER, "channel_id": widget_id, "record": true, "callbacks_per_number": 100,
    });
    api.patch("/admin/telephony", admin_token, &telephony).await?;
    let top_up = json!({"minutes": DEMO_CALL_MINUTES, "reference": "demo"});
    let path = format!("/operator/accounts/{account_id}/call-balance");
    api.post::<Value>(&path, Some(operator_key), &top_up).await?;
    api.put("/admin/settings", admin_token, &json!({"callback": {"enabled": true}})).await?;
    Ok(secret)
}

/// Updates the URLs of a channel and its integrator to use this run's base URL. Returns `false` if the service does not
/// know the channel's URL, because the channel has been deleted or its endpoint secret has been replaced.
async fn update_channel_url(api: &ApiClient, admin_token: &str, url: &mut String) -> Result<bool, api_client::Error> {
    *url = channel_url(api, url);
    let status_path = format!("{}/status", url.strip_prefix(api.base_url()).unwrap_or_default());
    match api.get::<Value>(&status_path, admin_token).await {
        Ok(_) => {}
        Err(error) if error.has_status(404) => return Ok(false),
        Err(error) => return Err(error),
    }
    let path = format!("/admin/channels/{}", last_segment(url));
    let channel: DemoChannelSettings = api.get(&path, admin_token).await?;
    let integrator_url = channel.integrator_url.unwrap_or_default();
    if let Some(integrator_url) = integrator::with_base_url(&integrator_url, api.base_url()) {
        api.patch(&path, admin_token, &json!({"integrator_url": integrator_url})).await?;
    }
    Ok(true)
}

async fn create(api: &ApiClient, operator_key: &str) -> Result<DemoAccount, Error> {
    let (admin_email, admin_password) = new_credentials("admin")?;
    // If the service is not allowed to call receivers on this machine, it rejects the provider. The provider is created
    // first, so that nothing else exists yet in this case.
    let provider = json!({"name": "Demo bots", "endpoint": bot::endpoint(api.base_url())});
    let created = api.post("/operator/providers", Some(operator_key), &provider).await;
    let ProviderResponse { provider_id, .. } = created.map_err(receiver_error)?;
    let account = json!({
        "name": "Demo",
        "admin": {"name": "Demo Admin", "email": admin_email, "password": admin_password},
    });
    let AccountResponse { account_id } = api.post("/operator/accounts", Some(operator_key), &account).await?;
    let admin_token = log_in(api, &admin_email, &admin_password).await?;
    let (agent_email, agent_password) = create_agent(api, &admin_token).await?;
    let ChannelResponse { channel_id, endpoint } = create_channel(api, &admin_token, false).await?;
    let widget_id = create_widget(api, &admin_token).await?;
    let (bot_token, bot_channel_url) = connect_bot(api, &admin_token, &provider_id, Some(&widget_id)).await?;
    let webhook_id = create_webhook(api, &admin_token).await?;
    let gateway_secret = connect_gateway(api, operator_key, &admin_token, (&account_id, &widget_id)).await?;
    Ok(DemoAccount {
        account_id,
        admin_email,
        admin_password,
        agent_email,
        agent_password,
        channel_id,
        channel_url: channel_url(api, &endpoint),
        widget_id: Some(widget_id),
        provider_id,
        bot_token,
        bot_channel_url,
        webhook_id: Some(webhook_id),
        gateway_secret: Some(gateway_secret),
    })
}

/// Generates an e-mail address and a password. The address contains random characters, because e-mail addresses are
/// unique across the service and an earlier demo account may still be using its address.
fn new_credentials(name: &str) -> Result<(String, String), RandomError> {
    Ok((
        format!("{name}-{}@demo.example", random_and_digest::random_hex::<3>()?),
        random_and_digest::random_hex::<12>()?,
    ))
}

/// Creates an agent and returns the agent's e-mail address and password.
async fn create_agent(api: &ApiClient, admin_token: &str) -> Result<(String, String), Error> {
    let (email, password) = new_credentials("agent")?;
    let agent = json!({
        "name": "Demo Agent", "email": email, "password": password, "role": "agent", "phone": DEMO_AGENT_PHONE,
    });
    api.post::<Value>("/admin/agents", Some(admin_token), &agent).await?;
    Ok((email, password))
}

/// Creates a channel and connects the bot to it and to the widget, if there is one. Returns the bot's token and the
/// channel's URL.
async fn connect_bot(
    api: &ApiClient,
    admin_token: &str,
    provider_id: &str,
    widget_id: Option<&str>,
) -> Result<(String, String), Error> {
    let token = random_and_digest::random_hex::<16>()?;
    let ChannelResponse { channel_id, endpoint } = create_channel(api, admin_token, true).await?;
    let channel_ids: Vec<&str> = [channel_id.as_str()].into_iter().chain(widget_id).collect();
    let bot = json!({"provider_id": provider_id, "token": token, "name": "Demo Bot", "channel_ids": channel_ids});
    api.post::<Value>("/admin/bots", Some(admin_token), &bot).await?;
    Ok((token, channel_url(api, &endpoint)))
}

/// Creates the demo widget and returns its id. The widget is on the left of the demo site's shop, because the console
/// and the journal are on the right.
async fn create_widget(api: &ApiClient, admin_token: &str) -> Result<String, api_client::Error> {
    let settings = json!({
        "title": "Cairn Outdoor",
        "greeting": "Hello! Ask about our opening hours, or for a person.",
        "color": "#1d5a46",
        "position": "left",
    });
    let widget = json!({"kind": "widget", "name": "Demo widget", "widget": settings});
    let WidgetResponse { widget_id } = api.post("/admin/channels", Some(admin_token), &widget).await?;
    Ok(widget_id)
}

async fn create_webhook(api: &ApiClient, admin_token: &str) -> Result<String, api_client::Error> {
    let webhook = json!({"url": webhook::url(api.base_url())});
    let WebhookResponse { webhook_id } = api.post("/admin/settings/webhooks", Some(admin_token), &webhook).await?;
    Ok(webhook_id)
}

/// Creates an API channel. A channel with a bot shows Markdown and buttons, because the demo bot sends both.
async fn create_channel(
    api: &ApiClient,
    admin_token: &str,
    has_bot: bool,
) -> Result<ChannelResponse, api_client::Error> {
    let channel = json!({
        "kind": "api", "name": if has_bot { "Demo channel with a bot" } else { "Demo channel" },
        "integrator_url": integrator::url(api.base_url()),
        "shows_markdown": has_bot, "shows_buttons": has_bot,
    });
    api.post("/admin/channels", Some(admin_token), &channel).await
}

/// Returns the channel's URL with this run's base URL, because the port can differ between runs.
fn channel_url(api: &ApiClient, endpoint: &str) -> String {
    let path = endpoint.find("/channel/").and_then(|start| endpoint.get(start..)).unwrap_or_default();
    format!("{}{path}", api.base_url())
}

/// Returns the `CHANNEL_PUBLIC_ID` in a channel's URL.
fn last_segment(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn channel_url_follows_host_to_another_port() {
        let api = ApiClient::new("http://127.0.0.1:4000").unwrap();
        assert_eq!(
            channel_url(&api, "http://127.0.0.1:3000/channel/secret/id"),
            "http://127.0.0.1:4000/channel/secret/id"
        );
    }

    #[test]
    fn invalid_demo_file_is_renamed_and_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path().to_owned()).unwrap();
        store.write(DEMO_FILE, "{").unwrap();
        assert_eq!(load(&store).unwrap(), None);
        assert_eq!(store.read("demo-unreadable.json").unwrap().unwrap(), "{");
    }
}
