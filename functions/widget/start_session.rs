//! POST /widget/{widget_id}/session: starts the widget in a visitor's browser. Returns the widget's settings, whether
//! agents are online, when the business hours begin, whether a bot answers, and, if the browser has a visitor's token,
//! the visitor and the last messages. If a browser without a token sends `identify`, a visitor is created and the
//! visitor's token is returned; without `identify`, nothing is stored for such a browser.

use std::process::ExitCode;

use shared::chats::visitor::update_visitor;
use shared::domain::channels::callback_availability::CallbackAvailability;
use shared::domain::timestamp::Timestamp;
use shared::domain::visitors::visitor::Visitor;
use shared::domain::visitors::widget_visitor::{self, BrowserSession, Page};
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::assignment::queue_position;
use shared::service::calls::CallService;
use shared::service::file_links::FileLinks;
use shared::service::widget::{self, VisitorHistory, WidgetRequest, WidgetTeam};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::fields::values::{Optional, OptionalText, ProtocolVersion, SequentialNumber, Truncated, UnixSeconds};
use shared::wire::widget::{
    BrowserPage, SessionRequest, StoredRules, WidgetAgent, WidgetChat, WidgetMode, WidgetSession, WidgetVisitor,
};

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, url) = dependencies;
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let (channel, now) = (&*accepted.channel, accepted.now);
    let requested: SessionRequest = accepted.body_as()?;
    let user_token = requested.user_token();
    let SessionRequest { token: OptionalText(token), identify, after, page, referrer: Truncated(referrer), .. } =
        requested;
    let page = page.and_then(BrowserPage::into_page);
    let session = widget::browser_session(&request, referrer);
    let known = match &token {
        Some(token) => Some(chats.widget_visitor(&channel.channel_id, token, now).await?),
        None => None,
    };
    let is_replaced = known.as_ref().is_some_and(|visitor| visitor.is_of_other_user(user_token.as_ref()));
    let account = directory.cached_settings(&channel.account_id).await?;
    if account.email.as_ref().is_some_and(|email| email.answers_to_visitor)
        && let Some(visitor) = &known
    {
        connections.record_visitor_seen(&channel.channel_id, &visitor.external_id, now).await?;
    }
    let (visitor, new_token) = match known {
        Some(visitor) if !is_replaced => (Some(update_visitor(&chats, visitor, session, page, now).await?), None),
        None if !identify.unwrap_or(false) => (None, None),
        Some(_) | None => {
            let user_token = user_token.flatten();
            let widget =
                widget_visitor::WidgetVisitor { session, user_token, ..widget_visitor::WidgetVisitor::default() };
            let (visitor, token) = widget::create_visitor((&directory, &chats), channel, widget, page, now).await?;
            (Some(visitor), Some(token))
        }
    };
    // The numbers of a replaced visitor's entries say nothing about the new visitor's chats.
    let after = if is_replaced { 0 } else { after.unwrap_or(0) };
    let links = FileLinks { directory: &directory, base_url: url.of_request(&request), now };
    let history = match &visitor {
        Some(visitor) => widget::visitor_history((&chats, &links), visitor, after, now).await?,
        None => VisitorHistory::default(),
    };
    let team = WidgetTeam::read(&directory, &connections, channel, now).await?;
    let agent_photo = match &history.chat {
        Some(chat) => widget::agent_photo(&directory, chat, &team.agents).await?,
        None => None,
    };
    let queue_position = match &history.chat {
        Some(chat) => queue_position(&directory, &chats, chat).await?,
        None => None,
    };
    let department = directory.default_department(channel).await?;
    let first_bot = directory.first_bot(channel, department.as_ref()).await?;
    let of_departments = team.departments.iter().filter_map(|department| department.bot_id.as_deref());
    let of_chat = history.chat.as_ref().filter(|chat| !chat.state.is_closed()).and_then(|chat| chat.bot_id.as_deref());
    let bot_disclosure =
        is_bot_disclosed(&directory, of_chat.into_iter().chain(first_bot.as_deref()).chain(of_departments)).await?;
    let rules = directory.cached_widget_rules(&channel.account_id).await?;
    let calls = CallService { directory: &directory, chats: &chats, connections: &connections, now };
    let callback = calls.callback_availability(channel, visitor.as_ref()).await?;
    Ok(Response::ok(WidgetSession {
        v: ProtocolVersion,
        widget: accepted.settings()?.into(),
        rules: StoredRules(&rules),
        mode: WidgetMode::new(team.is_online),
        opens_at: Optional(team.opens_at.map(UnixSeconds::from)),
        bot: first_bot.is_some(),
        bot_disclosure,
        departments: team.departments.iter().map(|department| department.snapshot().into()).collect(),
        agents: WidgetAgent::list(&team.agents, &team.departments),
        visitor: visitor.map(|visitor| WidgetVisitor::new(&visitor, new_token)),
        chat: history.chat.map(|chat| WidgetChat::new(&chat, agent_photo)),
        queue_position: Optional(queue_position.map(SequentialNumber)),
        messages: history.messages,
        call: history.call,
        has_earlier: history.has_earlier,
        callback: callback != CallbackAvailability::Disabled,
        callback_available: callback == CallbackAvailability::Available,
        files: account.files.enabled,
    }))
}

/// Returns whether the visitor must be told that a bot answers: if any of the bots that may do so is to be disclosed.
async fn is_bot_disclosed(directory: &Directory, bot_ids: impl Iterator<Item = &str>) -> Result<bool, Error> {
    for bot_id in bot_ids {
        if directory.cached_bot(bot_id).await?.is_some_and(|bot| bot.settings.disclosure) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Stores the current browser and page of a known visitor, unless the visitor is blacklisted, and returns the visitor.
/// A referrer that is already stored is kept, because the widget starts again on every page of the site.
async fn update_visitor(
    chats: &Chats,
    mut visitor: Visitor,
    session: BrowserSession,
    page: Option<Page>,
    now: Timestamp,
) -> Result<Visitor, Error> {
    let known_referrer = visitor.widget.as_deref().and_then(|widget| widget.session.referrer.clone());
    visitor.set_session(BrowserSession { referrer: known_referrer.or(session.referrer.clone()), ..session });
    if let Some(page) = page {
        visitor.set_page(page);
    }
    if !visitor.blacklisted {
        update_visitor::update_visitor(chats, &visitor, now).await?;
    }
    Ok(visitor)
}
