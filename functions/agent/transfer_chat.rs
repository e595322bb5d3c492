//! POST /agent/chats/{chat_id}/transfer: transfers a chat to another agent, or to a department, whose members are then
//! offered the chat. Only admins and the agent who has the chat may transfer it. The other agent, or a member of the
//! department, must be online.
//!
//! Before the presence query, the request is rejected with 400 if the recipient is unknown, and with 409 if the agent
//! may not transfer the chat in its current state. After the query, it is rejected with 409 if the recipient is not
//! online. A rejected request makes no write after authentication, except for one that fails because of a concurrent
//! request.

use std::process::ExitCode;

use shared::chats::agent::transfer_chat::transfer_chat;
use shared::domain::accounts::agent::Role;
use shared::domain::accounts::agent_presence;
use shared::domain::chats::chat_state::{ChatEvent, TransferRequester, TransferTarget};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{ChatRow, ChatTransfer, TransferRequest};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, now) = (&caller.account_id, clock::now());
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(request.path_number("chat_id")?).await?;
    let target = find_target(&directory, account_id, request.body_as::<ChatTransfer>()?.checked()?).await?;
    let requester = TransferRequester { agent: &caller.agent, is_admin: caller.role == Role::Admin };
    chat.state.after_event(ChatEvent::Transfer(requester, &target))?;
    let presences = connections.presences(account_id).await?;
    if !agent_presence::any_online(&presences, |agent_id| target.includes(agent_id), now) {
        return Err(Error::Conflict(match target {
            TransferTarget::Agent(_) => "the agent is not online",
            TransferTarget::Department(_) => "no member of the department is online",
        }));
    }
    let safe_urls = &directory.cached_settings(account_id).await?.safe_urls;
    let chat = transfer_chat(&chats, chat, requester, &target, now).await?;
    Ok(Response::ok(ChatRow::new(chat, safe_urls, now)))
}

async fn find_target(
    directory: &Directory,
    account_id: &str,
    request: TransferRequest,
) -> Result<TransferTarget, Error> {
    let (field, target) = match request {
        TransferRequest::Agent(id) => ("agent_id", directory.agent(account_id, id).await?.map(TransferTarget::agent)),
        TransferRequest::Department(id) => {
            ("department_id", directory.department(account_id, id).await?.map(TransferTarget::Department))
        }
    };
    target.ok_or_else(|| Error::field(field, "does not exist"))
}
