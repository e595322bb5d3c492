//! What the terminal says once the host serves: what to open, and lines to paste.

use serde::Deserialize;
use serde_json::json;

use super::{self as demo, Demo};
use crate::arguments::PRIVATE_TARGETS;
use crate::home;
use crate::public_api::Api;

const CURL: &str = r"curl -sS -w '\n'";
const JSON: &str = "-H 'content-type: application/json'";

#[derive(Deserialize)]
struct Chats {
    chats: Vec<Chat>,
}

#[derive(Deserialize)]
struct Chat {
    chat_id: u64,
}

/// The text to print: the addresses, the demo's credentials and five lines for bash.
///
/// # Errors
/// The agent cannot log in or list the chats.
pub async fn text(api: &Api, demo: &Demo) -> Result<String, demo::Error> {
    let token = demo::log_in(api, &demo.agent_email, &demo.agent_password).await?;
    let chat = next_chat(api, &token).await?;
    // A visitor of its own for every run, so that the first line always opens the chat the third answers.
    let visitor = home::random_hex::<3>()?;
    Ok(compose(api.base_url(), demo, &token, chat, &visitor))
}

/// Chats are numbered from 1 in each account, so the number of the next one is known.
async fn next_chat(api: &Api, token: &str) -> Result<u64, demo::Error> {
    let mut last = 0;
    for state in ["open", "closed"] {
        let listed: Chats = api.get(&format!("/agent/chats?state={state}"), token).await?;
        last = listed.chats.iter().map(|chat| chat.chat_id).fold(last, u64::max);
    }
    Ok(last + 1)
}

/// The text to print where the stack may not call the demo's receivers: why, and how to begin without them.
///
/// # Errors
/// The system has no random numbers for a password.
pub fn without_demo(base: &str, operator_key: &str, refused: &demo::Error) -> Result<String, home::Error> {
    let password = home::random_hex::<12>()?;
    let account = json!({
        "name": "Acme",
        "admin": {"name": "Ada", "email": "ada@acme.example", "password": password},
    });
    Ok(format!(
        r#"{heading}
There is no demo account, because {refused}.
Its receivers are on this machine. The functions call them only with the parameters that this command sets by itself:

  --parameter AllowHttpTargets=true --parameter AllowedPrivateTargets={PRIVATE_TARGETS}

Paste this into another terminal to create an account of your own:

{CURL} -H 'authorization: Bearer {operator_key}' {JSON} -d '{account}' '{base}/operator/accounts'
"#,
        heading = heading(base),
    ))
}

fn heading(base: &str) -> String {
    format!(
        "
Switchboard serves at {base}   (Ctrl-C stops it)
Every endpoint is described at {base}/openapi.json
Agents sign in to the console at {base}/console/
"
    )
}

fn compose(base: &str, demo: &Demo, token: &str, chat: u64, visitor: &str) -> String {
    let Demo { admin_email, admin_password, agent_email, agent_password, channel_url, bot_channel_url, .. } = demo;
    let agent = format!("-H 'authorization: Bearer {token}'");
    let says = |text: &str| {
        let sender = json!({"id": format!("visitor-{visitor}"), "name": "Ada"});
        format!("{CURL} {JSON} -d '{}'", json!({"sender": sender, "message": {"type": "text", "text": text}}))
    };
    let (hello, hours, human) = (says("Hello!"), says("What are your hours?"), says("I want a human."));
    format!(
        r#"{heading}
  admin   {admin_email}   {admin_password}
  agent   {agent_email}   {agent_password}

Paste these into another terminal. A visitor writes:

{hello} '{channel_url}'

The agent sees who is waiting:

{CURL} {agent} '{base}/agent/chats?state=waiting'

The agent takes the chat and answers; the answer appears below:

{CURL} {agent} -X POST '{base}/agent/chats/{chat}/accept' && {CURL} {agent} {JSON} -d '{{"type":"text","text":"Hello, how can I help?"}}' '{base}/agent/chats/{chat}/messages'

A visitor meets the bot; its answer appears below:

{hours} '{bot_channel_url}'

With an agent online the bot hands over; who is waiting has changed:

{CURL} {agent} {JSON} -X PUT -d '{{"status":"online"}}' '{base}/agent/presence' && {human} '{bot_channel_url}'
"#,
        heading = heading(base),
    )
}
