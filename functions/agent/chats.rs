//! GET /agent/chats?state=open|bot|waiting|active|closed&before=chat_id&limit=n: the chats of the channels the
//! agent is eligible for, those that are offered to a department of theirs, and the agent's own, newest first. Admins
//! see every chat. `next` is the `before` of the next page; a page may end before it is full, even empty, when it had much
//! to look through.

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use shared::domain::account::Role;
use shared::domain::channel::Channel;
use shared::domain::chat::Chat;
use shared::domain::department::Roster;
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::store::chats::{Chats, Listed};
use shared::store::connections::{Connections, Session};
use shared::store::directory::Directory;
use shared::wire::agent;
use shared::{auth, clock};

/// Chats in an answer: the most, and how many when nothing is said.
const MOST: u64 = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Uses, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let states: &[&str] = match request.query("state").as_deref() {
        None | Some("open") => &["bot", "waiting", "active"],
        Some("bot") => &["bot"],
        Some("waiting") => &["waiting"],
        Some("active") => &["active"],
        Some("closed") => &["closed"],
        Some(_) => return Err(Error::field("state", "must be one of open, bot, waiting, active, closed")),
    };
    let before = request.query_number("before")?;
    let limit = request.query_number("limit")?.unwrap_or(MOST).clamp(1, MOST);
    let limit = usize::try_from(limit).map_err(Error::internal)?;
    let now = clock::now();
    let (me, is_admin) = (caller.agent.agent_id, caller.role == Role::Admin);
    let roster = if is_admin { Arc::default() } else { directory.cached_roster(&caller.account_id).await? };
    let hidden = hidden_channels(&directory, &roster, &caller).await?;
    let wanted = |chat: &Chat| {
        let is_mine = chat.state.agent().is_some_and(|agent| agent.agent_id == me);
        let is_offered = chat.state.offer().and_then(|department_id| roster.is_offered(department_id, me));
        let is_theirs = is_admin || is_mine || is_offered.unwrap_or_else(|| !hidden.contains(&chat.channel_id));
        is_theirs && !chat.is_forgotten(now)
    };
    let Listed { chats, next } = chats.list(&caller.account_id, states, before, limit, &wanted).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let rows: Vec<Value> = chats.into_iter().map(|chat| agent::chat_row(chat.as_kept(now), safe_urls)).collect();
    Ok(Response::ok(json!({ "chats": rows, "next": next })))
}

/// The channels whose chats go to other agents.
async fn hidden_channels(directory: &Directory, roster: &Roster, caller: &Session) -> Result<HashSet<String>, Error> {
    if caller.role == Role::Admin {
        return Ok(HashSet::new());
    }
    let channels = directory.channels(&caller.account_id).await?;
    let is_hidden = |channel: &Channel| !roster.audience(&channel.settings).includes(caller.agent.agent_id);
    Ok(channels.into_iter().filter(is_hidden).map(|channel| channel.channel_id).collect())
}
