//! The text that the terminal shows when the host is ready. It contains URLs, credentials and commands to paste.

use serde::Deserialize;
use serde_json::json;

use super::account::{self, DemoAccount};
use crate::api_client::ApiClient;
use crate::command::arguments::LOOPBACK_NETWORKS;
use crate::random_and_digest::{self, RandomError};

const CURL_COMMAND: &str = r"curl -sS -w '\n'";
const JSON_HEADER: &str = "-H 'content-type: application/json'";

#[derive(Deserialize)]
struct ChatList {
    chats: Vec<ListedChat>,
}

#[derive(Deserialize)]
struct ListedChat {
    chat_id: u64,
}

/// Returns the URLs, the demo account's credentials and five bash commands.
pub async fn welcome_text(api: &ApiClient, demo: &DemoAccount, sign_in_link: &str) -> Result<String, account::Error> {
    let token = account::log_in(api, &demo.agent_email, &demo.agent_password).await?;
    let chat_id = next_chat_id(api, &token).await?;
    // Each run uses a new visitor, so the first command opens a new chat. The third command accepts this chat, unless
    // another chat has been opened before it.
    let visitor_suffix = random_and_digest::random_hex::<3>()?;
    let console = format!("{sign_in_link}   (signs in the agent; works once)");
    let demo_site = format!(
        "
Demo site:         {}   (a shop with the widget, the agents' console and the integrator's journal)
",
        demo_url(api.base_url())
    );
    let heading = demo_site + &heading(api.base_url(), &console);
    Ok(heading + &credentials_and_commands(api.base_url(), demo, &token, chat_id, &visitor_suffix))
}

/// Returns the number that the account's next chat will have. Chats are numbered from 1 in each account.
async fn next_chat_id(api: &ApiClient, token: &str) -> Result<u64, account::Error> {
    let mut last_id = 0;
    for state in ["open", "closed"] {
        let list: ChatList = api.get(&format!("/agent/chats?state={state}"), token).await?;
        last_id = list.chats.iter().map(|chat| chat.chat_id).fold(last_id, u64::max);
    }
    Ok(last_id + 1)
}

/// Returns the text to print if the template's parameters do not allow the demo account's receivers. It contains the
/// reason and a command that creates an account without these receivers.
pub fn text_without_demo(base_url: &str, operator_key: &str, reason: &account::Error) -> Result<String, RandomError> {
    let password = random_and_digest::random_hex::<12>()?;
    let account = json!({
        "name": "Acme",
        "admin": {"name": "Ada", "email": "ada@acme.example", "password": password},
    });
    Ok(format!(
        r#"{heading}
There is no demo account, because {reason}.
The receivers of the demo account are on this machine. The functions may call them only with these default parameters:

  --parameter AllowHttpTargets=true --parameter AllowedPrivateTargets={LOOPBACK_NETWORKS}

To create an account of your own, paste this command into another terminal:

{CURL_COMMAND} -H 'authorization: Bearer {operator_key}' {JSON_HEADER} -d '{account}' '{base_url}/operator/accounts'
"#,
        heading = heading(base_url, &console_url(base_url)),
    ))
}

#[must_use]
pub fn console_url(base_url: &str) -> String {
    format!("{base_url}/console/")
}

#[must_use]
pub fn demo_url(base_url: &str) -> String {
    format!("{base_url}/demo")
}

fn heading(base_url: &str, console: &str) -> String {
    format!(
        "
Switchboard is running at {base_url}   (press Ctrl-C to stop)
API description:   {base_url}/reference   (from {base_url}/openapi.json)
Agent console:     {console}
"
    )
}

fn credentials_and_commands(
    base_url: &str,
    demo: &DemoAccount,
    token: &str,
    chat_id: u64,
    visitor_suffix: &str,
) -> String {
    let DemoAccount { admin_email, admin_password, agent_email, agent_password, channel_url, bot_channel_url, .. } =
        demo;
    let agent_header = format!("-H 'authorization: Bearer {token}'");
    let visitor_message = |text: &str| {
        let sender = json!({"id": format!("visitor-{visitor_suffix}"), "name": "Ada"});
        format!(
            "{CURL_COMMAND} {JSON_HEADER} -d '{}'",
            json!({"sender": sender, "message": {"type": "text", "text": text}})
        )
    };
    let (hello, hours, human) =
        (visitor_message("Hello!"), visitor_message("What are your hours?"), visitor_message("I want a human."));
    format!(
        r#"
  admin   {admin_email}   {admin_password}
  agent   {agent_email}   {agent_password}

Paste these commands into another terminal. A visitor writes:

{hello} '{channel_url}'

The agent lists the waiting chats:

{CURL_COMMAND} {agent_header} '{base_url}/agent/chats?state=waiting'

The agent accepts the chat and replies; the reply is printed below:

{CURL_COMMAND} {agent_header} -X POST '{base_url}/agent/chats/{chat_id}/accept' && {CURL_COMMAND} {agent_header} {JSON_HEADER} -d '{{"type":"text","text":"Hello, how can I help?"}}' '{base_url}/agent/chats/{chat_id}/messages'

A visitor writes to the bot; its reply is printed below:

{hours} '{bot_channel_url}'

The agent goes online and the visitor asks for a human; the bot then invites the agent, and the chat is waiting:

{CURL_COMMAND} {agent_header} {JSON_HEADER} -X PUT -d '{{"status":"online"}}' '{base_url}/agent/presence' && {human} '{bot_channel_url}'
"#
    )
}
