//! The common part of the functions that the widget in a visitor's browser calls. It finds the widget, checks the site
//! of the page and limits the requests.
//!
//! The visitor's browser sends JSON as `text/plain`, so that it sends no preflight request.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::chats::visitor::create_widget_visitor::create_widget_visitor;
use crate::domain::accounts::agent::{Agent, AgentSnapshot};
use crate::domain::accounts::agent_presence::Presence;
use crate::domain::accounts::department::{ChatDepartment, Department};
use crate::domain::accounts::login_limit::client_network;
use crate::domain::calls::phone_call::Call;
use crate::domain::channels::channel::Channel;
use crate::domain::channels::widget::WidgetSettings;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::chats::timeline_entry;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::domain::visitors::widget_visitor::{BrowserSession, GeoIp, Page, WidgetVisitor};
use crate::error::Error;
use crate::runtime::http::Request;
use crate::runtime::{clock, random_ids_and_secrets};
use crate::service::file_links::FileLinks;
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::fields::reader;
use crate::wire::widget::{MAX_MESSAGES, MAX_SHOWN_AGENTS, VisitorToken, WidgetCall, WidgetMessage};

/// The maximum number of entries that are read to find the messages of a history. The entries include notifications and
/// notes.
pub(super) const MAX_ENTRIES_READ: i32 = 100;
const MAX_USER_AGENT_CHARS: usize = 500;
const MAX_GEOIP_CHARS: usize = 100;
/// The maximum length of a language tag (RFC 5646, section 4.4.1).
const MAX_LANGUAGE_BYTES: usize = 35;

pub struct WidgetRequest {
    pub channel: Arc<Channel>,
    body: Value,
    /// The hash of the client network; see [`client_network`].
    pub network: String,
    pub now: Timestamp,
}

impl WidgetRequest {
    /// Checks a request and counts it towards the limit of its client network.
    ///
    /// # Errors
    /// Fails with `NotFound` if the widget does not exist or is disabled, with `SiteNotAllowed` if the widget does not
    /// allow the page's site, with `RateLimited` if the client network has reached its limit, and with
    /// `AccountSuspended`. Also fails if the body is not JSON.
    pub async fn accept(directory: &Directory, connections: &Connections, request: &Request) -> Result<Self, Error> {
        let (channel, now) = (find_widget(directory, request).await?, clock::now());
        let address = request.source_address();
        connections.count_widget_request(&channel.channel_id, &address, now).await?;
        directory.cached_settings(&channel.account_id).await?.require_not_suspended()?;
        let network = sha256::hex_digest(client_network(&address));
        Ok(Self { channel, body: request.json()?, network, now })
    }

    /// Reads the body into a type of the contract.
    pub fn body_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        reader::read(&self.body)
    }

    /// Returns the visitor whom the token identifies.
    pub async fn visitor(&self, chats: &Chats, token: &VisitorToken) -> Result<Visitor, Error> {
        chats.widget_visitor(&self.channel.channel_id, token.as_str(), self.now).await
    }

    /// Returns the widget's settings. Fails with `NotFound` if the channel is not a widget.
    pub fn settings(&self) -> Result<&WidgetSettings, Error> {
        self.channel.settings.widget().ok_or(Error::NotFound)
    }
}

async fn find_widget(directory: &Directory, request: &Request) -> Result<Arc<Channel>, Error> {
    request.require_method("POST")?;
    let channel = directory.cached_channel(&request.path_segment("widget_id")).await?;
    let channel = channel.filter(|channel| channel.settings.enabled).ok_or(Error::NotFound)?;
    let sites = &channel.settings.widget().ok_or(Error::NotFound)?.allowed_sites;
    let is_allowed = match request.headers().get("origin") {
        // An origin that is not ASCII is treated like that of a site that is not listed.
        Some(origin) => sites.allow(origin.to_str().unwrap_or_default()),
        None => true,
    };
    if is_allowed { Ok(channel) } else { Err(Error::SiteNotAllowed) }
}

/// Returns what the request reveals about the visitor's browser. The location of the IP address is known only if the
/// request came through the CloudFront distribution.
pub fn browser_session(request: &Request, referrer: Option<String>) -> BrowserSession {
    let header = |name: &str, max_chars| truncate_chars(request.header(name).unwrap_or_default(), max_chars);
    let location = |name: &str| {
        let value = request.distribution_header(&format!("cloudfront-viewer-{name}"));
        truncate_chars(value.unwrap_or_default(), MAX_GEOIP_CHARS)
    };
    BrowserSession {
        ip_addr: request.source_address(),
        user_agent: header("user-agent", MAX_USER_AGENT_CHARS),
        referrer,
        language: request.header("accept-language").and_then(first_language),
        geoip: GeoIp {
            region_code: location("country-region"),
            country: location("country-name"),
            country_code: location("country"),
            region: location("country-region-name"),
            city: location("city"),
            latitude: location("latitude"),
            longitude: location("longitude"),
        },
    }
}

/// Returns the first language tag of an `Accept-Language` header, which browsers send in the order of preference.
fn first_language(header: &str) -> Option<String> {
    let first = header.split([',', ';']).next().unwrap_or_default().trim();
    let is_tag =
        first.len() <= MAX_LANGUAGE_BYTES && first.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_tag && first.len() > 1).then(|| first.to_owned())
}

/// Creates a visitor of a widget. Returns the visitor and the token that identifies it, of which only a hash is stored.
pub async fn create_visitor(
    (directory, chats): (&Directory, &Chats),
    channel: &Channel,
    widget: WidgetVisitor,
    page: Option<Page>,
    now: Timestamp,
) -> Result<(Visitor, String), Error> {
    let token = random_ids_and_secrets::random_token()?;
    let settings = directory.cached_settings(&channel.account_id).await?;
    let visitor = create_widget_visitor(chats, channel, &token, widget, page, &settings, now).await?;
    Ok((visitor, token))
}

pub struct WidgetTeam {
    /// Whether an agent is online within the business hours.
    pub is_online: bool,
    /// When the business hours begin. `None` within them, or if they do not begin within a year.
    pub opens_at: Option<Timestamp>,
    pub departments: Vec<Department>,
    /// Some of the agents who are online. The list starts with one online agent of each department that has one, so
    /// that an invitation to a department can show one of its agents.
    pub agents: Vec<Agent>,
}

impl WidgetTeam {
    /// Reads the team.
    pub async fn read(
        directory: &Directory,
        connections: &Connections,
        channel: &Channel,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let presences = connections.presences(&channel.account_id).await?;
        Self::of_presences(directory, channel, &presences, now).await
    }

    /// Reads the team of an account whose presences are known.
    pub(super) async fn of_presences(
        directory: &Directory,
        channel: &Channel,
        presences: &[Presence],
        now: Timestamp,
    ) -> Result<Self, Error> {
        let audience = directory.audience(channel).await?;
        let closed = directory.business_hours(channel, None).await?.filter(|hours| !hours.is_open(now));
        let is_online = |agent: &&Presence| agent.is_online(now) && audience.includes(agent.agent_id);
        let online = presences.iter().filter(|agent| closed.is_none() && is_online(agent));
        let online: Vec<u64> = online.map(|agent| agent.agent_id).collect();
        let departments = departments(directory, channel).await?;
        Ok(Self {
            is_online: !online.is_empty(),
            opens_at: closed.and_then(|hours| hours.opens_at(now)),
            agents: directory.agents_by_id(&channel.account_id, &shown_agents(&online, &departments)).await?,
            departments,
        })
    }
}

fn shown_agents(online: &[u64], departments: &[Department]) -> Vec<u64> {
    let members = |department: &Department| online.iter().find(|id| department.agent_ids.contains(id));
    let mut shown = Vec::new();
    for id in departments.iter().filter_map(members).chain(online) {
        if !shown.contains(id) {
            shown.push(*id);
        }
    }
    shown.truncate(MAX_SHOWN_AGENTS);
    shown
}

async fn departments(directory: &Directory, channel: &Channel) -> Result<Vec<Department>, Error> {
    if channel.settings.department_ids.is_empty() {
        return Ok(Vec::new());
    }
    let roster = directory.cached_roster(&channel.account_id).await?;
    let existing = channel.settings.department_ids.iter().filter_map(|id| roster.department(*id));
    Ok(existing.cloned().collect())
}

/// Returns the photo of the agent who has the chat. `known` are agents that have already been read.
pub async fn agent_photo(directory: &Directory, chat: &Chat, known: &[Agent]) -> Result<Option<String>, Error> {
    let ChatState::Active(AgentSnapshot { agent_id, .. }) = &chat.state else { return Ok(None) };
    match known.iter().find(|agent| agent.agent_id == *agent_id) {
        Some(agent) => Ok(agent.photo.clone()),
        None => Ok(directory.agent(&chat.account_id, *agent_id).await?.and_then(|agent| agent.photo)),
    }
}

/// Returns the department of a chat that the visitor opens: the department that the page requests, if the widget has
/// it; otherwise, the widget's only department, or `None` if it does not have exactly one.
pub async fn department_of_new_chat(
    directory: &Directory,
    channel: &Channel,
    asked_for: Option<u64>,
) -> Result<Option<ChatDepartment>, Error> {
    let departments = match asked_for {
        Some(_) => departments(directory, channel).await?,
        None => Vec::new(),
    };
    match departments.into_iter().find(|department| Some(department.department_id) == asked_for) {
        Some(department) => Ok(Some(department.snapshot())),
        None => directory.default_department(channel).await,
    }
}

/// The visitor's current or last chat with the messages that the visitor sees.
#[derive(Default)]
pub struct VisitorHistory {
    pub chat: Option<Chat>,
    pub messages: Vec<WidgetMessage>,
    pub has_earlier: bool,
    /// The call in progress. `None` if there is none among the entries that were read.
    pub call: Option<WidgetCall>,
}

/// Reads the last messages after entry number `after` of the visitor's current or last chat.
pub async fn visitor_history(
    (chats, links): (&Chats, &FileLinks<'_>),
    visitor: &Visitor,
    after: u64,
    now: Timestamp,
) -> Result<VisitorHistory, Error> {
    let Some(chat_id) = visitor.open_chat.or(visitor.last_chat) else { return Ok(VisitorHistory::default()) };
    let hidden = visitor.widget.as_deref().map(|widget| widget.hidden_through).unwrap_or_default();
    let Some(last_hidden_seq) = hidden.last_hidden_seq(chat_id) else { return Ok(VisitorHistory::default()) };
    let is_whole_history = after == 0;
    let after = after.max(last_hidden_seq);
    let read = chats.last_entries_and_chat(&visitor.account_id, chat_id, after, MAX_ENTRIES_READ);
    let (mut entries, chat) = read.await?;
    links.renew(&mut entries).await?;
    let reaches_back_to_after = entries.len() < usize::try_from(MAX_ENTRIES_READ).unwrap_or_default();
    let before_first = entries.first().map_or(after, |entry| entry.seq.saturating_sub(1));
    let before_page = if reaches_back_to_after { after } else { before_first };
    let in_progress = |call: &Call| !call.status.is_final();
    let last_call = entries.iter().rev().find(|entry| entry.content.call().is_some_and(in_progress));
    let call = last_call.and_then(WidgetCall::new);
    let mut messages: Vec<WidgetMessage> = timeline_entry::stable_prefix(entries, before_page, now)
        .iter()
        .filter(|entry| !entry.is_expired(now))
        .filter_map(WidgetMessage::new)
        .collect();
    let chat = chat.filter(|chat| !chat.is_expired(now));
    let has_earlier_chat = chat.as_ref().is_some_and(|chat| hidden.visible_chat_before(chat).is_some());
    let is_incomplete = !reaches_back_to_after || messages.len() > MAX_MESSAGES;
    let has_earlier = is_incomplete || (is_whole_history && has_earlier_chat);
    messages.drain(..messages.len().saturating_sub(MAX_MESSAGES));
    Ok(VisitorHistory { chat, messages, has_earlier, call })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_agent_of_each_department_is_shown_first() {
        let department = |department_id, agent_ids: &[u64]| Department {
            department_id,
            name: format!("Department {department_id}"),
            agent_ids: agent_ids.to_vec(),
            ..Department::default()
        };
        let departments = [department(1, &[7, 8]), department(2, &[9]), department(3, &[8])];
        let table: [(&[u64], &[u64]); 4] = [
            (&[], &[]),
            (&[1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 5]),
            (&[1, 2, 8, 9], &[8, 9, 1, 2]),
            (&[7, 8, 9], &[7, 9, 8]),
        ];
        for (online, expected) in table {
            assert_eq!(shown_agents(online, &departments), expected, "{online:?}");
        }
    }
}
