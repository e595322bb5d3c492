//! POST /agent/chats/{chat_id}/call: calls the visitor of a chat. The agent's phone rings first. A 201 response means
//! that the call is stored, and that it will be placed or marked as failed. Only the agent who has the chat can call.

use std::process::ExitCode;

use shared::chats::call::call_visitor::{AgentCall, call_visitor};
use shared::domain::calls::phone_call::CallKind;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::auth;
use shared::service::calls::CallService;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{AgentCallRequest, MessageStored};
use shared::wire::fields::reader::read;
use shared::wire::fields::values::OptionalText;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, outbox, public_url) = dependencies;
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, chat_id) = (&caller.account_id, request.path_number("chat_id")?);
    let body = request.json_or_empty()?;
    let AgentCallRequest { phone: OptionalText(phone) } = read(&body)?;
    let key = request.idempotency_key(|| format!("{account_id}#{chat_id}#{}#call", caller.agent.agent_id), &body)?;
    let now = clock::now();
    let chat = ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    if let Some(receipt) = chats.earlier_receipt(key.as_ref()).await? {
        return Ok(Response::created(MessageStored::new(receipt.seq, &receipt.id)));
    }
    let service = CallService { directory: &directory, chats: &chats, connections: &connections, now };
    let plan = service.plan_outgoing(account_id, caller.agent.agent_id).await?;
    let phone = match phone {
        Some(phone) => Some(phone),
        None => {
            let visitor = chats.visitor(&chat.channel_id, &chat.external_id).await?;
            visitor.and_then(|visitor| visitor.profile.phone)
        }
    };
    let phone = phone.ok_or(Error::Conflict("the visitor's phone number is not known"))?;
    let phone = service.number_to_call(account_id, &plan, &phone).await?;
    let outgoing = AgentCall {
        chat: &chat,
        agent: &caller.agent,
        call: plan.call(CallKind::Outgoing, phone, public_url.of_request(&request), now),
        webhooks: &plan.settings.webhooks,
        key: key.as_ref(),
        now,
    };
    let sent = call_visitor(&chats, &outgoing).await?;
    // The start event is queued before the call, so that it reaches the webhooks first even if the provider rejects the
    // call at once and another event reports the rejection.
    outbox.enqueue(&sent.notifications).await;
    outbox.enqueue(sent.entry.as_slice()).await;
    let receipt = sent.receipt;
    Ok(Response::created(MessageStored::new(receipt.seq, &receipt.id)).with_logged_message_id(&receipt.id))
}
