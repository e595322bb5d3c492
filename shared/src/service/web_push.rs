//! Notifies the browsers of agents while the console is closed: of what a visitor writes in the agent's chat, of a chat
//! that the agent was given, of chats that wait, and of notes that mention the agent. A notification that has become
//! pointless, because somebody has answered or accepted the chat, is withdrawn. A notification is a hint, so an error
//! is only logged.

use futures_util::{StreamExt, stream};

use crate::delivery::outbound_client::OutboundClient;
use crate::delivery::web_push::{self, PushResult};
use crate::domain::accounts::web_push::{WebPushKey, WebPushSubscription};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::service::chat_access::ChatVisibility;
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::store::table_changes::ChatItemChange;
use crate::wire::push::notification::{MAX_TEXT_CHARS, Notification, NotificationKind};

/// Each request has a connection of its own.
const MAX_CONCURRENT_REQUESTS: usize = 32;

/// What has happened in a chat, as far as agents may have to be notified.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChatNews {
    pub chat_id: u64,
    /// Whether the chat was opened or has another owner.
    has_new_owner: bool,
    /// Whether the chat was waiting before.
    was_waiting: bool,
    /// The beginning of the visitor's last message.
    visitor_text: Option<String>,
    /// Whether an agent has written after the visitor.
    is_answered: bool,
    /// The last note that mentions agents.
    note: Option<MentioningNote>,
}

#[derive(Debug, PartialEq, Eq)]
struct MentioningNote {
    /// The beginning of the note.
    text: String,
    mentions: Vec<u64>,
}

impl ChatNews {
    /// Returns `None` if agents need not be notified.
    pub fn of(chat_id: u64, changes: &[ChatItemChange]) -> Option<Self> {
        let mut news = Self { chat_id, ..Self::default() };
        for change in changes {
            match change {
                ChatItemChange::Header { before, after: Some(after) } => {
                    let state = before.as_ref().map(|before| &before.state);
                    news.has_new_owner |= state != Some(&after.state);
                    news.was_waiting |= state.is_some_and(ChatState::is_waiting);
                }
                ChatItemChange::Entry { before: None, after } if after.content.is_visible_to_visitor() => {
                    match after.from {
                        Sender::Visitor => {
                            news.visitor_text = Some(after.content.preview(MAX_TEXT_CHARS));
                            news.is_answered = false;
                        }
                        Sender::Agent(_) => news.is_answered = true,
                        Sender::Bot(_) | Sender::System => {}
                    }
                }
                ChatItemChange::Entry { before: None, after } if !after.content.mentions().is_empty() => {
                    let text = after.content.preview(MAX_TEXT_CHARS);
                    news.note = Some(MentioningNote { text, mentions: after.content.mentions().to_vec() });
                }
                ChatItemChange::Header { after: None, .. }
                | ChatItemChange::Entry { .. }
                | ChatItemChange::Panel { .. }
                | ChatItemChange::Visitor { .. } => {}
            }
        }
        let is_news = news.has_new_owner || news.is_answered || news.visitor_text.is_some() || news.note.is_some();
        is_news.then_some(news)
    }

    /// Returns how a browser must be notified. `is_seen` says whether its agent sees the chat.
    fn notification_for(&self, chat: &Chat, browser: &WebPushSubscription, is_seen: bool) -> Option<NotificationKind> {
        // Whoever is mentioned saw the chat when the note was written.
        if self.note.as_ref().is_some_and(|note| note.mentions.contains(&browser.agent_id)) {
            return Some(NotificationKind::Mention);
        }
        let was_notified = browser.notified_chats.contains(&self.chat_id);
        match &chat.state {
            ChatState::Waiting | ChatState::Offered(_) if is_seen && browser.notifies_of_waiting => {
                self.has_new_owner.then_some(NotificationKind::Waiting)
            }
            ChatState::Active(agent) if agent.agent_id == browser.agent_id && !self.is_answered => {
                if self.visitor_text.is_some() {
                    Some(NotificationKind::Message)
                } else if self.has_new_owner && !self.was_waiting {
                    Some(NotificationKind::Given)
                } else {
                    (was_notified && self.was_waiting).then_some(NotificationKind::Withdraw)
                }
            }
            ChatState::Bot
            | ChatState::Waiting
            | ChatState::Offered(_)
            | ChatState::Active(_)
            | ChatState::Closed(_) => was_notified.then_some(NotificationKind::Withdraw),
        }
    }
}

impl ChatNews {
    fn text_of(&self, kind: NotificationKind) -> Option<&str> {
        match kind {
            NotificationKind::Mention => self.note.as_ref().map(|note| note.text.as_str()),
            NotificationKind::Message
            | NotificationKind::Waiting
            | NotificationKind::Given
            | NotificationKind::Withdraw => self.visitor_text.as_deref(),
        }
    }
}

pub(super) struct BrowserNotifications<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub client: &'a OutboundClient,
    pub now: Timestamp,
}

struct Task<'a> {
    browser: &'a WebPushSubscription,
    chat: &'a Chat,
    kind: NotificationKind,
    text: Option<&'a str>,
}

impl BrowserNotifications<'_> {
    /// Notifies the account's browsers of what has happened in these chats.
    pub async fn send(&self, account_id: &str, news: &[ChatNews]) -> Result<(), Error> {
        let browsers = self.connections.web_push_subscriptions(account_id, self.now).await?;
        if browsers.is_empty() || news.is_empty() {
            return Ok(());
        }
        let Some(key) = self.directory.web_push_key(account_id).await? else { return Ok(()) };
        let ids: Vec<u64> = news.iter().map(|news| news.chat_id).collect();
        let chats = self.chats.chats_by_id(account_id, &ids).await?;
        let viewers: Vec<Viewer> = browsers.iter().map(viewer).collect();
        let visibility = ChatVisibility::read(self.directory, account_id, &viewers, &chats).await?;
        let tasks = chats.iter().filter(|chat| !chat.is_expired(self.now)).flat_map(|chat| {
            let news = news.iter().find(|news| news.chat_id == chat.chat_id);
            let visibility = &visibility;
            browsers.iter().filter_map(move |browser| {
                let (news, is_seen) = (news?, visibility.sees(viewer(browser), chat));
                let kind = news.notification_for(chat, browser, is_seen)?;
                Some(Task { browser, chat, kind, text: news.text_of(kind) })
            })
        });
        let tasks: Vec<Task<'_>> = tasks.collect();
        stream::iter(tasks).for_each_concurrent(MAX_CONCURRENT_REQUESTS, |task| self.run(&key, task)).await;
        Ok(())
    }

    async fn run(&self, key: &WebPushKey, task: Task<'_>) {
        let WebPushSubscription { account_id, agent_id, .. } = task.browser;
        if let Err(error) = self.notify(key, &task).await {
            tracing::warn!(context = error.context(), account_id, agent_id, "browser not notified");
        }
    }

    async fn notify(&self, key: &WebPushKey, Task { browser, chat, kind, text }: &Task<'_>) -> Result<(), Error> {
        let WebPushSubscription { account_id, agent_id, session_id, shows_text, .. } = browser;
        if !self.connections.is_session_open(account_id, *agent_id, session_id, self.now).await? {
            return self.connections.delete_web_push_subscription(account_id, session_id).await;
        }
        let shown = |text| Some(text).filter(|text: &&str| *shows_text && !text.is_empty());
        let is_withdrawn = *kind == NotificationKind::Withdraw;
        let notification = Notification {
            kind: *kind,
            chat_id: chat.chat_id,
            name: shown(&chat.visitor_name).filter(|_| !is_withdrawn),
            text: text.and_then(shown).filter(|_| !is_withdrawn),
        };
        let content = notification.to_json()?;
        // This is recorded before the request, so that the next change of the chat finds it whatever becomes of this
        // one.
        self.connections.record_notification(browser, chat.chat_id, !is_withdrawn).await?;
        match web_push::send(self.client, browser, key, (notification.topic(), &content), self.now).await? {
            PushResult::Accepted => Ok(()),
            PushResult::Gone => self.connections.delete_web_push_subscription(account_id, session_id).await,
            PushResult::Failed(reason) => {
                tracing::warn!(account_id, agent_id, reason, "the push service did not accept a notification");
                Ok(())
            }
        }
    }
}

/// Admins see all chats, but are notified only of those that wait for them too.
fn viewer(browser: &WebPushSubscription) -> Viewer {
    Viewer { agent_id: browser.agent_id, is_admin: false }
}
