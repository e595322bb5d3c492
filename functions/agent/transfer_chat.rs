//! POST /agent/chats/{chat_id}/transfer: transfers a chat to another agent, or to a department, whose members are then
//! offered the chat, or gives it to a bot. Only admins and the agent who has the chat may transfer it to agents. The
//! other agent, or a member of the department, must be online. A chat that no agent has can be given to a bot by every
//! agent who can see it. A note to the colleagues is stored in the transaction of the transfer.
//!
//! Before the presence query, the request is rejected with 400 if the recipient is unknown, and with 409 if the agent
//! may not transfer the chat in its current state. After the query, it is rejected with 409 if the recipient is not
//! online, or has as many chats as the capacity allows. A rejected request makes no write after authentication, except
//! for one that fails because of a concurrent request.

use std::process::ExitCode;

use shared::chats::agent::transfer_chat::{Transfer, transfer_chat};
use shared::chats::bot::return_chat::give_chat_to_bot;
use shared::chats::notifications::NotificationContext;
use shared::domain::accounts::agent::Role;
use shared::domain::accounts::agent_presence;
use shared::domain::bots::bot::Bot;
use shared::domain::chats::chat::Chat;
use shared::domain::chats::chat_state::{ChatEvent, TransferRequester, TransferTarget};
use shared::domain::chats::transfer_request::TransferRequest;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::assignment::slot_claim;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::agent::{ChatRow, ChatTransfer};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

enum Recipient {
    Agents(TransferTarget),
    Bot(Box<Bot>),
}

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, outbox) = &dependencies;
    let caller = auth::agent(connections, &request).await?;
    let (account_id, now) = (&caller.account_id, clock::now());
    let access = ChatAccess { directory, chats, session: &caller, now };
    let chat = access.chat(request.path_number("chat_id")?).await?;
    let requester = TransferRequester { agent: &caller.agent, is_admin: caller.role == Role::Admin };
    let settings = &directory.cached_settings(account_id).await?;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now };
    let (recipient, note) = request.body_as::<ChatTransfer>()?.checked()?;
    let transition = match find_recipient(directory, account_id, recipient).await? {
        Recipient::Agents(target) => {
            require_online(connections, &caller, &chat, (requester, &target)).await?;
            let claim = match &target {
                TransferTarget::Agent(agent) => slot_claim(directory, settings, account_id, agent.agent_id).await?,
                TransferTarget::Department(_) => None,
            };
            let transfer = Transfer { to: &target, note: note.as_deref(), claim };
            transfer_chat(chats, chat, requester, transfer, context).await?
        }
        Recipient::Bot(bot) => give_chat_to_bot(chats, chat, requester, &bot, context).await?,
    };
    outbox.enqueue(&transition.notifications).await;
    Ok(Response::ok(ChatRow::new(transition.chat, &settings.safe_urls, now)))
}

/// Fails if the agent may not transfer the chat, or if the recipient is not online.
async fn require_online(
    connections: &Connections,
    caller: &Session,
    chat: &Chat,
    (requester, target): (TransferRequester<'_>, &TransferTarget),
) -> Result<(), Error> {
    chat.state.after_event(ChatEvent::Transfer(requester, target))?;
    let presences = connections.presences(&caller.account_id).await?;
    if agent_presence::any_online(&presences, |agent_id| target.includes(agent_id), clock::now()) {
        return Ok(());
    }
    Err(Error::Conflict(match target {
        TransferTarget::Agent(_) => "the agent is not online",
        TransferTarget::Department(_) => "no member of the department is online",
    }))
}

async fn find_recipient(directory: &Directory, account_id: &str, request: TransferRequest) -> Result<Recipient, Error> {
    let (field, target) = match request {
        TransferRequest::Agent(id) => ("agent_id", directory.agent(account_id, id).await?.map(TransferTarget::agent)),
        TransferRequest::Department(id) => {
            ("department_id", directory.department(account_id, id).await?.map(TransferTarget::Department))
        }
        TransferRequest::Bot(id) => {
            let bot = directory.bot(&id).await?.filter(|bot| bot.account_id == account_id);
            return bot.map(Box::new).map(Recipient::Bot).ok_or_else(|| Error::field("bot_id", "does not exist"));
        }
    };
    target.map(Recipient::Agents).ok_or_else(|| Error::field(field, "does not exist"))
}
