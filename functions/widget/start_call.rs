//! POST /widget/{widget_id}/call: starts a callback, which calls an agent first and then the visitor (specification,
//! part D, startCall). A response with `result` `ok` means that the call is stored. A task in a queue then orders the
//! call. If the widget has a bot, a new chat starts with the bot, which gets the phone number as a message. A repeated
//! request with the same `message_id` starts nothing and returns the stored call.

use std::process::ExitCode;

use shared::chats::call::receive_call::{Callback, receive_callback};
use shared::chats::visitor::visitor_entry::FromVisitor;
use shared::domain::calls::phone_call::CallKind;
use shared::domain::channels::callback_availability::CallbackAvailability;
use shared::domain::chats::idempotency_key::IdempotencyKey;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::calls::CallService;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::fields::values::Text;
use shared::wire::widget::{BrowserPage, WidgetCallRequest, WidgetCallResult};

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, outbox, public_url) = dependencies;
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let WidgetRequest { channel, now, .. } = &accepted;
    let WidgetCallRequest { token, message_id, phone: Text(phone), page } = accepted.body_as()?;
    let visitor = accepted.visitor(&chats, &token).await?;
    let scope = format!("{}#call#{}", channel.channel_id, visitor.external_id);
    let key = IdempotencyKey::new(scope, message_id.as_str().as_bytes(), &phone);
    if let Some(receipt) = chats.earlier_receipt(Some(&key)).await? {
        let entry = chats.entry(&channel.account_id, receipt.chat_id, receipt.seq).await?.ok_or(Error::NotFound)?;
        return Ok(Response::ok(WidgetCallResult::started(&entry).ok_or(Error::NotFound)?));
    }
    let service = CallService { directory: &directory, chats: &chats, connections: &connections, now: *now };
    let plan = match service.plan_callback(channel, Some(&visitor)).await? {
        Ok(plan) => plan,
        Err(availability) => return Ok(Response::ok(WidgetCallResult::not_started(availability))),
    };
    let phone = service.number_to_call(&channel.account_id, &plan, &phone).await?;
    connections.count_callback(&channel.channel_id, &request.source_address(), *now).await?;
    let call = plan.call(CallKind::Callback, phone, public_url.of_request(&request), *now);
    let department = directory.default_department(channel).await?;
    let page = page.and_then(BrowserPage::into_page);
    let bot_id = directory.first_bot(channel, department.as_ref()).await?;
    let from = FromVisitor {
        channel,
        department: department.as_ref(),
        bot_id: bot_id.as_deref(),
        external_id: &visitor.external_id,
        network: Some(&accepted.network),
        settings: &plan.settings,
        key: Some(&key),
        now: *now,
    };
    let callback = Callback { from, call: &call, caps: plan.telephony.callback_caps, page: page.as_ref() };
    let stored = receive_callback(&chats, &callback).await;
    let entry = match service.queue_call(&channel.account_id, stored, &outbox).await {
        Err(Error::Conflict(_)) => None,
        result => result?,
    };
    let Some((started, entry)) = entry.and_then(|entry| Some((WidgetCallResult::started(&entry)?, entry))) else {
        return Ok(Response::ok(WidgetCallResult::not_started(CallbackAvailability::Unavailable)));
    };
    Ok(Response::ok(started).with_logged_message_id(&entry.id))
}
