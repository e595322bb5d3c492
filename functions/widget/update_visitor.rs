//! POST /widget/{widget_id}/visitor: stores what the visitor has entered into the contacts form, and what the page sets
//! through the widget's JavaScript API (specification, part D). Returns the visitor. If an agent has the visitor's
//! chat, chat_updated notifies the webhooks of new contact data and of a user token. If the page names another user
//! than before, or none any more, the data is stored for a new visitor, whose token is returned.

use std::process::ExitCode;

use shared::chats::notifications::NotificationContext;
use shared::chats::visitor::update_visitor::update_visitor_and_notify;
use shared::domain::channels::contacts_form::ContactsForm;
use shared::domain::timestamp::Timestamp;
use shared::domain::visitors::visitor::Visitor;
use shared::domain::visitors::widget_visitor::{HiddenThrough, WidgetVisitor};
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::widget::{self, WidgetRequest};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::{UpdatedWidgetVisitor, VisitorUpdate, WidgetVisitorUpdate};

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let requested: WidgetVisitorUpdate = accepted.body_as()?;
    let mut visitor = accepted.visitor(&chats, &requested.token).await?;
    let update = requested.into_update();
    let mut new_token = None;
    if visitor.is_of_other_user(update.user_token.as_ref()) {
        let widget = WidgetVisitor { session: widget::browser_session(&request, None), ..WidgetVisitor::default() };
        let created =
            widget::create_visitor((&directory, &chats), &accepted.channel, widget, None, accepted.now).await?;
        (visitor, new_token) = (created.0, Some(created.1));
    } else if update.clear_history {
        visitor.set_hidden_through(end_of_history(&chats, &visitor, accepted.now).await?);
    }
    apply(update, &accepted.settings()?.contacts_form, &mut visitor);
    if visitor.blacklisted {
        // Nothing that a blacklisted visitor sends reaches an agent. The visitor does not notice.
        return Ok(Response::ok(UpdatedWidgetVisitor::new(&visitor, None)));
    }
    let settings = directory.cached_settings(&accepted.channel.account_id).await?;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now: accepted.now };
    let notifications = update_visitor_and_notify(&chats, &visitor, &context).await?;
    outbox.enqueue(&notifications).await;
    Ok(Response::ok(UpdatedWidgetVisitor::new(&visitor, new_token)))
}

fn apply(update: VisitorUpdate, contacts_form: &ContactsForm, visitor: &mut Visitor) {
    let VisitorUpdate { contact_info, source, answers, custom_data, user_token, page, utm, analytics, .. } = update;
    visitor.merge_profile(&contact_info, source);
    if let Some(answers) = answers {
        visitor.set_answers(contacts_form.lines_of_answers(&answers));
    }
    if let Some(custom_data) = custom_data {
        visitor.set_custom_data(custom_data);
    }
    if let Some(user_token) = user_token {
        visitor.set_user_token(user_token);
    }
    if let Some(page) = page {
        visitor.set_page(page);
    }
    if let Some(utm) = utm {
        visitor.set_utm(utm);
    }
    if let Some(analytics) = analytics {
        visitor.set_analytics(analytics);
    }
}

/// Returns the number of the visitor's current or last chat and the `seq` of its last entry. `seq` is 0 if the chat has
/// expired or no longer exists. Both numbers are 0 if the visitor has had no chat.
async fn end_of_history(chats: &Chats, visitor: &Visitor, now: Timestamp) -> Result<HiddenThrough, Error> {
    let Some(chat_id) = visitor.open_chat.or(visitor.last_chat) else { return Ok(HiddenThrough::default()) };
    let chat = chats.chat(&visitor.account_id, chat_id).await?.filter(|chat| !chat.is_expired(now));
    Ok(HiddenThrough { chat_id, seq: chat.map_or(0, |chat| chat.seq) })
}
