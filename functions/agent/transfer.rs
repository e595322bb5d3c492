//! POST /agent/chats/{chat_id}/transfer: the agent who has the chat, or an admin, gives it to another agent, or to a
//! department, whose members it is offered to. Somebody must be online to take it. Three reads, one query, a
//! transaction of two.

use std::process::ExitCode;

use shared::domain::account::Role;
use shared::domain::chat_state::{Event, Mover, Recipient};
use shared::domain::presence;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{self, TransferTo};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, now) = (&caller.account_id, clock::now());
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(request.number("chat_id")?).await?;
    let to = recipient(&directory, account_id, agent::transfer(&request.json()?)?).await?;
    let by = Mover { agent: &caller.agent, is_admin: caller.role == Role::Admin };
    chat.state.after(Event::Transfer(by, &to))?;
    let presences = connections.presences(account_id).await?;
    if !presence::any_online(&presences, |agent_id| to.includes(agent_id), now) {
        return Err(Error::Conflict(match to {
            Recipient::Agent(_) => "the agent is not online",
            Recipient::Department(_) => "no member of the department is online",
        }));
    }
    let safe_urls = &directory.cached_settings(account_id).await?.safe_urls;
    let chat = chats.transfer(chat, by, &to, now).await?;
    Ok(Response::ok(agent::chat_row(chat, safe_urls)))
}

async fn recipient(directory: &Directory, account_id: &str, to: TransferTo) -> Result<Recipient, Error> {
    let (field, found) = match to {
        TransferTo::Agent(id) => ("agent_id", directory.agent(account_id, id).await?.map(Recipient::agent)),
        TransferTo::Department(id) => {
            ("department_id", directory.department(account_id, id).await?.map(Recipient::Department))
        }
    };
    found.ok_or_else(|| Error::field(field, "is not known"))
}
