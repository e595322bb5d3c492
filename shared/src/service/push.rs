//! Pushes table changes to the sockets of agents and widget visitors. The changes come from the table streams, so no
//! function can forget to push, and a change is pushed even if the function that made it crashes. Agents' typing
//! notices, which no table stores, are pushed here too. See [`crate::wire::push`] for the frames.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::{join_all, try_join_all};
use futures_util::{StreamExt, stream};

use crate::delivery::outbound_client::OutboundClient;
use crate::delivery::socket_gateway::{SendError, SocketGateway};
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::agent_presence::{AgentStatus, OnlineChanges, Presence};
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_side_panel::Panel;
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::list_change::ListChanges;
use crate::domain::socket::{AgentSocket, Socket, VisitorSocket};
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::service::chat_access::ChatVisibility;
use crate::service::push_lists::list_changes;
use crate::service::push_recipients::Recipients;
use crate::service::web_push::{BrowserNotifications, ChatNews};
use crate::service::widget::agent_photo;
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::connections::subscriptions::Listeners;
use crate::store::directory::Directory;
use crate::store::table_changes::{ChatItemChange, ParsedChanges, TableChange};
use crate::wire::push::{self, TypingFrom};
use crate::wire::widget::WidgetCall;

/// The maximum number of an account's agent sockets to which frames are sent concurrently. Each concurrent request has
/// a connection of its own, and the TLS handshakes of more connections could exceed the time limit of a frame.
const MAX_CONCURRENT_SENDS: usize = 32;

pub struct PushService<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub gateway: &'a SocketGateway,
    /// Sends the notifications of browsers. `None` in functions that push only to sockets.
    pub browsers: Option<&'a OutboundClient>,
    pub now: Timestamp,
}

/// A frame that is sent to several sockets.
pub(super) type Frame = Arc<str>;

pub(super) struct ChatPush {
    pub chat_id: u64,
    /// The header before the first of `changes`. `None` if the chat is new, or if no change concerns the header.
    pub before: Option<Chat>,
    /// The current header. `None` if the chat has been deleted or has expired.
    pub current: Option<Chat>,
    pub changes: Vec<ChatItemChange>,
}

impl PushService<'_> {
    /// Pushes a batch of changes.
    ///
    /// # Errors
    /// Fails if a table is unavailable. The batch can be repeated, because a repeated push does no harm.
    pub async fn push(&self, ParsedChanges(changes): ParsedChanges) -> Result<(), Error> {
        let mut by_account = BTreeMap::<String, Vec<TableChange>>::new();
        for (account_id, change) in changes {
            if self.is_visible(&change) {
                by_account.entry(account_id).or_default().push(change);
            }
        }
        let accounts = by_account.into_iter().map(|(account_id, changes)| self.push_to_account(account_id, changes));
        join_all(accounts).await.into_iter().collect()
    }

    /// Notifies the colleagues who see the chat that an agent has started or stopped typing. Of the subscribers, those
    /// are notified who show the chat. The notice is not stored, so no stream reports it.
    pub async fn push_agent_typing(&self, chat: &Chat, agent: &AgentSnapshot, is_typing: bool) -> Result<(), Error> {
        let Listeners { mut sockets, lists_pushed_at, .. } =
            self.connections.listeners(&chat.account_id, self.now).await?;
        if lists_pushed_at.is_some() {
            sockets.extend(self.connections.chat_subscribers(&chat.account_id, chat.chat_id, self.now).await?);
        }
        sockets.retain(|socket| socket.agent_id != agent.agent_id);
        let viewers: Vec<Viewer> = sockets.iter().map(AgentSocket::viewer).collect();
        let chats = std::slice::from_ref(chat);
        let visibility = ChatVisibility::read(self.directory, &chat.account_id, &viewers, chats).await?;
        sockets.retain(|socket| visibility.sees(socket.viewer(), chat));
        let frame: Frame = push::agent_typing_frame(chat, agent, is_typing).into();
        self.send_to_all(sockets.into_iter().map(|socket| (socket, vec![frame.clone()])).collect()).await;
        Ok(())
    }

    /// Whether a change closes sockets, or affects something that agents or visitors see.
    fn is_visible(&self, change: &TableChange) -> bool {
        match change {
            TableChange::Presence { before, after } => self.status(before.as_deref()) != self.status(after.as_deref()),
            TableChange::SessionEnded { .. } | TableChange::Lists(_) | TableChange::Directory { .. } => true,
            TableChange::Chat { change, .. } => self.is_visible_in_chat(change),
        }
    }

    fn is_visible_in_chat(&self, change: &ChatItemChange) -> bool {
        match change {
            ChatItemChange::Header { before: Some(before), after: Some(after) } => {
                push::is_row_changed(before, after)
                    || push::is_preview_edited(before, after)
                    || push::is_chat_changed_for_visitor(before, after)
                    || self.is_typing_changed(before, after)
            }
            ChatItemChange::Header { .. } => true,
            ChatItemChange::Entry { after, .. } if after.is_expired(self.now) => false,
            ChatItemChange::Entry { before: Some(before), after } => push::is_entry_changed(before, after, self.now),
            ChatItemChange::Entry { before: None, .. } => true,
            ChatItemChange::Panel { before, after } => before != after,
            // A new visitor is not pushed separately: the visitor also opens a chat, and the new chat is pushed.
            ChatItemChange::Visitor { before, after } => {
                before.as_ref().is_some_and(|before| push::is_visitor_changed(before, after))
            }
        }
    }

    fn status(&self, presence: Option<&Presence>) -> AgentStatus {
        presence.map_or(AgentStatus::Offline, |presence| presence.current_status(self.now))
    }

    /// Whether the visitor has started or stopped typing. Typing that ends with a message does not count, because the
    /// pushed message already shows it.
    fn is_typing_changed(&self, before: &Chat, after: &Chat) -> bool {
        let is_changed = before.typing_started_at != after.typing_started_at;
        is_changed && (after.is_visitor_typing(self.now) || before.seq == after.seq)
    }

    async fn push_to_account(&self, account_id: String, changes: Vec<TableChange>) -> Result<(), Error> {
        let mut online_changes = OnlineChanges::default();
        // `for_all` contains the frames for all agents: at most one for the settings, and one with the latest status of
        // each agent whose presence has changed.
        let (mut by_chat, mut for_all, mut lists) = (
            BTreeMap::<u64, Vec<ChatItemChange>>::new(),
            BTreeMap::<Option<u64>, Frame>::new(),
            ListChanges::default(),
        );
        for change in changes {
            match change {
                TableChange::Chat { chat_id, change } => by_chat.entry(chat_id).or_default().push(change),
                TableChange::SessionEnded { session_id } => self.close_sockets(&account_id, &session_id).await?,
                TableChange::Lists(changes) => lists.merge(changes),
                TableChange::Directory { .. } => drop(for_all.insert(None, push::settings_frame().into())),
                TableChange::Presence { before, after } => {
                    let agent_id = before.as_ref().or(after.as_ref()).map(|presence| presence.agent_id);
                    let status = self.status(after.as_deref());
                    let was_online = self.status(before.as_deref()) == AgentStatus::Online;
                    if let Some(agent_id) = agent_id.filter(|_| was_online != (status == AgentStatus::Online)) {
                        online_changes.insert(agent_id, status == AgentStatus::Online);
                    }
                    for_all.extend(agent_id.map(|id| (Some(id), push::presence_frame(id, status).into())));
                }
            }
        }
        if !lists.is_empty() {
            self.connections.record_list_push(&account_id, self.now).await?;
            self.push_lists(&account_id, &lists).await?;
        }
        if by_chat.is_empty() && for_all.is_empty() {
            return Ok(());
        }
        let to_visitors = join_all(by_chat.iter().map(|(id, changes)| self.push_to_visitor(&account_id, *id, changes)));
        to_visitors.await.into_iter().collect::<Result<(), Error>>()?;
        let listeners = self.connections.listeners(&account_id, self.now).await?;
        let news = by_chat.iter().filter(|_| listeners.has_web_push);
        let news: Vec<ChatNews> = news.filter_map(|(chat_id, changes)| ChatNews::of(*chat_id, changes)).collect();
        if !listeners.is_empty() {
            self.push_to_agents(&account_id, listeners, by_chat, for_all.into_values().collect()).await?;
        }
        self.notify_browsers(&account_id, &news).await;
        // The mode is last because it can have many recipients. An error is only logged, so that the batch is not
        // pushed to the agents again: the widgets also read the mode.
        if let Err(error) = self.push_modes(&account_id, &online_changes).await {
            tracing::warn!(context = error.context(), account_id, "mode not pushed to visitors");
        }
        Ok(())
    }

    /// Notifies the browsers of agents who may not have the console open.
    async fn notify_browsers(&self, account_id: &str, news: &[ChatNews]) {
        let Some(client) = self.browsers.filter(|_| !news.is_empty()) else { return };
        let Self { directory, chats, connections, now, .. } = *self;
        let notifications = BrowserNotifications { directory, chats, connections, client, now };
        if let Err(error) = notifications.send(account_id, news).await {
            tracing::warn!(context = error.context(), account_id, "browsers not notified");
        }
    }

    async fn push_to_agents(
        &self,
        account_id: &str,
        listeners: Listeners,
        by_chat: BTreeMap<u64, Vec<ChatItemChange>>,
        for_all: Vec<Frame>,
    ) -> Result<(), Error> {
        let lists_pushed_at = listeners.lists_pushed_at;
        let lists = list_changes(&by_chat);
        let pushes = self.read_chats(account_id, by_chat).await?;
        let recipients = self.recipients(account_id, listeners, &pushes, !for_all.is_empty()).await?;
        let mut frames = self.chat_frames(account_id, pushes, &recipients).await?;
        let with_frames = recipients.into_sockets().map(|(connection_id, socket)| {
            let mut frames = frames.remove(&connection_id).unwrap_or_default();
            frames.extend(for_all.iter().cloned());
            (socket, frames)
        });
        self.send_to_all(with_frames.collect()).await;
        match lists_pushed_at {
            Some(pushed_at) if !lists.is_empty() => self.push_list_changes(account_id, &lists, pushed_at).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Pushes a chat's changes to its visitor, if the chat belongs to a widget.
    async fn push_to_visitor(&self, account_id: &str, chat_id: u64, changes: &[ChatItemChange]) -> Result<(), Error> {
        let visible_changes: Vec<VisitorChange<'_>> = changes.iter().filter_map(visitor_change).collect();
        if visible_changes.is_empty() {
            return Ok(());
        }
        let chat = match last_header(changes) {
            Some(chat) => Some(chat.clone()),
            None => self.chats.chat(account_id, chat_id).await?,
        };
        let Some(chat) = chat.filter(|chat| chat.channel_kind == ChannelKind::Widget) else { return Ok(()) };
        let messages = visible_changes.iter().filter_map(|change| match change {
            VisitorChange::Message(entry) => push::message_frame_for_visitor(entry),
            VisitorChange::Call(entry) => push::call_frame_for_visitor(entry),
            VisitorChange::Chat => None,
        });
        let has_new_state = visible_changes.iter().any(|change| matches!(change, VisitorChange::Chat));
        let sockets = self.connections.visitor_sockets(&chat.channel_id, &chat.external_id, self.now).await?;
        if sockets.is_empty() {
            return Ok(());
        }
        let mut frames: Vec<Frame> = messages.map(Frame::from).collect();
        if has_new_state {
            let photo = agent_photo(self.directory, &chat, &[]).await?;
            frames.push(push::chat_frame_for_visitor(&chat, photo).into());
        }
        self.send_to_visitor_sockets(sockets, &frames).await;
        Ok(())
    }

    /// Notifies the widget's visitor that an agent or the bot has started or stopped typing.
    pub async fn push_typing_to_visitor(&self, chat: &Chat, from: TypingFrom, is_typing: bool) -> Result<(), Error> {
        self.notify_visitor(chat, &push::typing_frame_for_visitor(chat, from, is_typing)).await
    }

    /// Shows the widget's visitor the answer that the bot is still writing.
    pub async fn push_growing_answer(&self, chat: &Chat, bot_name: &str, text: &str) -> Result<(), Error> {
        self.notify_visitor(chat, &push::growing_frame_for_visitor(chat, bot_name, text)).await
    }

    /// Notifies the widget's visitor that the agent has seen the messages up to number `seq`. The notice is not stored.
    pub async fn push_seen_to_visitor(&self, chat: &Chat, seq: u64) -> Result<(), Error> {
        self.notify_visitor(chat, &push::seen_frame_for_visitor(chat, seq.min(chat.seq))).await
    }

    /// Sends a widget's visitor a frame that nobody misses if it is lost. Does nothing in a chat of an API channel.
    async fn notify_visitor(&self, chat: &Chat, frame: &str) -> Result<(), Error> {
        if chat.channel_kind == ChannelKind::Api {
            return Ok(());
        }
        let sockets = self.connections.visitor_sockets(&chat.channel_id, &chat.external_id, self.now).await?;
        // Errors are ignored: a closed socket is removed when the next message is pushed.
        join_all(sockets.iter().map(|socket| self.gateway.send(&socket.connection_id, frame))).await;
        Ok(())
    }

    pub(super) async fn send_to_visitor_sockets(&self, sockets: Vec<VisitorSocket>, frames: &[Frame]) {
        join_all(sockets.into_iter().map(async |socket| self.send(&Socket::Visitor(socket), frames).await)).await;
    }

    /// Returns the frames about chats by the connection ids of the sockets that get them.
    async fn chat_frames(
        &self,
        account_id: &str,
        pushes: Vec<ChatPush>,
        recipients: &Recipients,
    ) -> Result<BTreeMap<String, Vec<Frame>>, Error> {
        let mut frames = BTreeMap::<String, Vec<Frame>>::new();
        if pushes.is_empty() || recipients.is_empty() {
            return Ok(frames);
        }
        let chats: Vec<Chat> =
            pushes.iter().flat_map(|push| push.before.iter().chain(&push.current)).cloned().collect();
        let viewers: BTreeSet<Viewer> = recipients.sockets().map(AgentSocket::viewer).collect();
        let viewers: Vec<Viewer> = viewers.into_iter().collect();
        let visibility = ChatVisibility::read(self.directory, account_id, &viewers, &chats).await?;
        let sees = |viewer: Viewer, chat: Option<&Chat>| chat.is_some_and(|chat| visibility.sees(viewer, chat));
        let safe_urls = &self.directory.cached_settings(account_id).await?.safe_urls;
        for push in pushes {
            let current = push.current.as_ref();
            let gone: Option<Frame> = push.before.as_ref().map(|before| push::chat_gone_frame(before).into());
            let of_chat: Vec<&AgentSocket> = recipients.of_chat(push.chat_id).collect();
            let is_seen = of_chat.iter().any(|socket| sees(socket.viewer(), current));
            let visible = match current.filter(|_| is_seen) {
                Some(chat) => self.frames_of_chat(chat, &push.changes, safe_urls).await?,
                None => Vec::new(),
            };
            for socket in of_chat {
                let frames = frames.entry(socket.connection_id.clone()).or_default();
                if sees(socket.viewer(), current) {
                    frames.extend(visible.iter().cloned());
                } else if sees(socket.viewer(), push.before.as_ref()) {
                    frames.extend(gone.clone());
                }
            }
        }
        Ok(frames)
    }

    /// Reads the current headers of the chats in `by_chat`. The headers in the changes may be outdated, and a chat must
    /// not be shown to agents who no longer see it.
    async fn read_chats(
        &self,
        account_id: &str,
        by_chat: BTreeMap<u64, Vec<ChatItemChange>>,
    ) -> Result<Vec<ChatPush>, Error> {
        let ids: Vec<u64> = by_chat.keys().copied().collect();
        let headers = self.chats.chats_by_id(account_id, &ids).await?;
        let mut headers: BTreeMap<u64, Chat> = headers.into_iter().map(|chat| (chat.chat_id, chat)).collect();
        let push = |(chat_id, changes): (u64, Vec<ChatItemChange>)| {
            let current = headers.remove(&chat_id).filter(|chat| !chat.is_expired(self.now));
            ChatPush { chat_id, before: first_header(&changes), current, changes }
        };
        Ok(by_chat.into_iter().map(push).collect())
    }

    /// Returns the frames about a chat for viewers who can see the chat. New entries come before the chat's row, so
    /// that a client usually gets an entry before the row that counts it.
    async fn frames_of_chat(
        &self,
        chat: &Chat,
        changes: &[ChatItemChange],
        safe_urls: &LinkFilter,
    ) -> Result<Vec<Frame>, Error> {
        let (mut frames, mut is_row_changed, mut is_typing_changed) = (Vec::new(), false, false);
        let (mut panel, mut visitor, mut is_invite_changed, mut is_custom_data_changed) = (None, None, false, false);
        for change in changes {
            match change {
                ChatItemChange::Header { before: Some(before), after: Some(after) } => {
                    is_row_changed |= push::is_row_changed(before, after) || push::is_preview_edited(before, after);
                    is_typing_changed |= self.is_typing_changed(before, after);
                }
                ChatItemChange::Header { .. } => is_row_changed = true,
                ChatItemChange::Entry { before: None, after } => {
                    is_row_changed = true;
                    frames.push(push::message_frame((**after).clone(), safe_urls, self.now));
                }
                ChatItemChange::Entry { before: Some(_), after } => {
                    frames.push(push::delivery_frame((**after).clone(), safe_urls, self.now));
                }
                ChatItemChange::Panel { before, after } => {
                    is_invite_changed |= before.invite != after.invite;
                    panel = Some(&**after);
                }
                ChatItemChange::Visitor { before, after } => {
                    let before = before.as_deref();
                    is_custom_data_changed |= before.is_some_and(|before| push::is_custom_data_changed(before, after));
                    visitor = Some(&**after);
                }
            }
        }
        frames.extend(is_row_changed.then(|| push::chat_frame(chat, safe_urls, self.now)));
        let reports_visitor = visitor.is_some() || is_invite_changed;
        if panel.is_some() || is_custom_data_changed {
            frames.push(self.panel_frame(chat, panel, visitor, safe_urls).await?);
        }
        if reports_visitor {
            frames.extend(self.visitor_frame(chat, visitor, panel, safe_urls).await?);
        }
        frames.extend(
            is_typing_changed.then(|| push::visitor_typing_frame(chat, chat.is_visitor_typing(self.now), safe_urls)),
        );
        Ok(frames.into_iter().map(Frame::from).collect())
    }

    /// Returns the frame about the panel of a chat. In a chat of a widget, the panel also shows data about the visitor.
    async fn panel_frame(
        &self,
        chat: &Chat,
        panel: Option<&Panel>,
        visitor: Option<&Visitor>,
        safe_urls: &LinkFilter,
    ) -> Result<String, Error> {
        let panel = match panel {
            Some(panel) => panel.clone(),
            None => self.chats.panel(&chat.account_id, chat.chat_id).await?,
        };
        let visitor = match (visitor, chat.channel_kind) {
            (Some(visitor), _) => Some(visitor.clone()),
            (None, ChannelKind::Widget) => self.chats.visitor(&chat.channel_id, &chat.external_id).await?,
            (None, ChannelKind::Api) => None,
        };
        Ok(push::panel_frame(chat, panel, visitor, safe_urls))
    }

    /// Returns the frame about the visitor of a chat. Returns `None` if the visitor has been deleted.
    async fn visitor_frame(
        &self,
        chat: &Chat,
        visitor: Option<&Visitor>,
        panel: Option<&Panel>,
        safe_urls: &LinkFilter,
    ) -> Result<Option<String>, Error> {
        let visitor = match visitor {
            Some(visitor) => Some(visitor.clone()),
            None => self.chats.visitor(&chat.channel_id, &chat.external_id).await?,
        };
        let Some(visitor) = visitor else { return Ok(None) };
        let panel = match panel {
            Some(panel) => panel.clone(),
            None => self.chats.panel(&chat.account_id, chat.chat_id).await?,
        };
        Ok(Some(push::visitor_frame(chat, visitor, panel, safe_urls)))
    }

    /// Closes all sockets of a session that has ended.
    async fn close_sockets(&self, account_id: &str, session_id: &str) -> Result<(), Error> {
        let sockets = self.connections.session_sockets(account_id, session_id, self.now).await?;
        try_join_all(sockets.iter().map(async |socket| {
            // Close the socket before removing its items. If an interrupted removal came first, a repeated attempt
            // might not find the socket.
            self.gateway.close(&socket.connection_id).await;
            self.connections.remove_agent_socket(socket, self.now).await
        }))
        .await
        .map(|_| ())
    }

    /// Sends each socket its frames. The sockets are served concurrently.
    pub(super) async fn send_to_all(&self, sockets: Vec<(AgentSocket, Vec<Frame>)>) {
        let send = async |(socket, frames): (AgentSocket, Vec<Frame>)| self.send(&Socket::Agent(socket), &frames).await;
        stream::iter(sockets).for_each_concurrent(MAX_CONCURRENT_SENDS, send).await;
    }

    /// Sends frames to one socket in order. If a frame cannot be sent, the frames after it are dropped:
    ///
    /// - A closed socket, and one that does not accept a frame in time, is removed and closed. Its client connects
    ///   again and reads what it has missed. A socket that is reported as closed while its handshake may not have ended
    ///   is left unchanged.
    /// - If the gateway rejects the frame, for example because it throttles its callers, the socket stays open: closing
    ///   all sockets at once would make their clients connect again at the same time. Instead, `socket-receive-message`
    ///   closes the socket at the next ping, which each client sends at a different time.
    async fn send(&self, socket: &Socket, frames: &[Frame]) {
        let connection_id = socket.connection_id();
        for frame in frames {
            match self.gateway.send(connection_id, frame).await {
                Ok(()) => {}
                Err(SendError::Closed) if socket.may_be_opening(self.now) => return,
                Err(SendError::Rejected(context)) => {
                    tracing::warn!(connection_id, ?context, "push dropped, socket closes at its next ping");
                    if let Err(error) = self.connections.record_missed_push(connection_id).await {
                        tracing::warn!(context = error.context(), connection_id, "missed push not recorded");
                    }
                    return;
                }
                Err(reason @ (SendError::Closed | SendError::TimedOut)) => {
                    tracing::info!(connection_id, ?reason, "socket removed");
                    if let Err(error) = self.connections.remove_socket(socket, self.now).await {
                        tracing::warn!(context = error.context(), connection_id, "socket not removed");
                    }
                    return self.gateway.close(connection_id).await;
                }
            }
        }
    }
}

enum VisitorChange<'a> {
    /// A new message from an agent or a bot, or one that was edited or deleted. The visitor's own messages are not
    /// pushed.
    Message(&'a TimelineEntry),
    /// A new call, or a call with a new status.
    Call(&'a TimelineEntry),
    /// A new chat, or a chat that has changed in a way that the visitor sees, such as a new state or agent.
    Chat,
}

/// Returns what the visitor of a widget sees of a change. Returns `None` if the visitor sees nothing of it, or if the
/// change shows that the chat belongs to an API channel. Only in an API channel does a message from an agent or a bot
/// have a delivery.
fn visitor_change(change: &ChatItemChange) -> Option<VisitorChange<'_>> {
    match change {
        ChatItemChange::Header { before, after: Some(after) } if after.channel_kind == ChannelKind::Widget => {
            let is_seen = before.as_deref().is_none_or(|before| push::is_chat_changed_for_visitor(before, after));
            is_seen.then_some(VisitorChange::Chat)
        }
        ChatItemChange::Entry { before, after } if after.content.call().is_some() => {
            let is_seen = before.as_deref().and_then(WidgetCall::new) != WidgetCall::new(after);
            is_seen.then_some(VisitorChange::Call(after))
        }
        ChatItemChange::Entry { before, after } => {
            let is_answer = matches!(after.from, Sender::Agent(_) | Sender::Bot(_)) && after.delivery.is_none();
            let is_seen = match before {
                None => after.content.is_visible_to_visitor(),
                Some(before) => before.content != after.content,
            };
            (is_answer && is_seen).then_some(VisitorChange::Message(after))
        }
        ChatItemChange::Header { .. } | ChatItemChange::Panel { .. } | ChatItemChange::Visitor { .. } => None,
    }
}

/// Returns the header after its last change, or `None` if no change contains a header.
fn last_header(changes: &[ChatItemChange]) -> Option<&Chat> {
    changes.iter().rev().find_map(|change| match change {
        ChatItemChange::Header { after, .. } => after.as_deref(),
        ChatItemChange::Entry { .. } | ChatItemChange::Panel { .. } | ChatItemChange::Visitor { .. } => None,
    })
}

/// Returns the header before its first change. `None` if the chat is new, or if no change concerns the header.
fn first_header(changes: &[ChatItemChange]) -> Option<Chat> {
    changes.iter().find_map(|change| match change {
        ChatItemChange::Header { before, .. } => Some(before.as_deref().cloned()),
        ChatItemChange::Entry { .. } | ChatItemChange::Panel { .. } | ChatItemChange::Visitor { .. } => None,
    })?
}
