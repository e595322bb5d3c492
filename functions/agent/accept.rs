//! POST /agent/chats/{chat_id}/accept: the agent takes the chat, also from a bot, which is told AGENT_JOINED. Of two
//! who press Reply together one gets 409.

use std::process::ExitCode;

use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::queue::BotQueue;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Directory, Chats, Connections, BotQueue);

async fn handle((directory, chats, connections, to_bot): Uses, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let chat_id = request.number("chat_id")?;
    let chat = chats.chat(&caller.account_id, chat_id).await?.ok_or(Error::NotFound)?;
    let channel = directory.cached_channel(&chat.channel_id).await?;
    if channel.is_some_and(|channel| !channel.is_eligible(caller.agent.agent_id)) {
        return Err(Error::Forbidden("the chats of this channel go to other agents"));
    }
    let accepted = chats.accept(&caller.account_id, chat_id, &caller.agent, clock::now()).await?;
    to_bot.0.send_entry(accepted.notice.as_ref()).await?;
    Ok(Response::ok(agent::chat_row(&accepted.chat)))
}
