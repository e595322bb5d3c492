//! POST /agent/chats/{chat_id}/assign: the agent binds the visitor to the CRM card that chat_accepted brought. What the
//! CRM says to chat_assigned appears in the panel.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::chat_state::Event;
use shared::domain::panel::Assignment;
use shared::domain::webhook::WebhookEvent;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::WebhookQueue;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::notifications::Announcer;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, WebhookQueue);

async fn handle((directory, chats, connections, queue): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, chat_id) = (&caller.account_id, request.number("chat_id")?);
    let now = clock::now();
    let chat = ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    chat.state.after(Event::AgentWrites(&caller.agent))?;
    let panel = chats.panel(account_id, chat_id).await?;
    let settings = directory.cached_settings(account_id).await?;
    let card = settings.safe_urls.panel(panel).crm_link.ok_or(Error::Conflict("no CRM card is known for this chat"))?;
    let announcer = Announcer { directory: &directory, chats: &chats, queue: &queue };
    if !announcer.has_listener(account_id, WebhookEvent::ChatAssigned).await? {
        return Err(Error::Conflict("no webhook is told of chat_assigned"));
    }
    chats.note_assignment(&chat, &Assignment::Pending, now).await?;
    announcer.assigned(&chat, caller.agent.agent_id, &card).await?;
    Ok(Response::ok(json!({ "chat_id": chat_id, "assign_to": card })))
}
