//! Tells the visitors of widgets that agents are online, or that the last one has gone.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;

use crate::domain::accounts::agent_presence::{self, OnlineChanges, Presence};
use crate::domain::channels::channel::{Channel, ChannelKind};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::error::Error;
use crate::service::push::{Frame, PushService};
use crate::service::widget::WidgetTeam;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;
use crate::wire::push;

/// The maximum number of open chats of an account whose visitors are told, newest first. The widgets of the others
/// learn the mode with their next request.
const MAX_CHATS_PER_CHANGE: usize = 500;
/// The maximum number of visitors whose sockets are read concurrently.
const MAX_CONCURRENT_READS: usize = 32;

impl PushService<'_> {
    /// Pushes the mode to the visitors who have an open chat, in the widgets whose mode may have changed. An agent who
    /// becomes offline because of a time limit causes no change of a table and therefore no push.
    pub(super) async fn push_modes(&self, account_id: &str, changes: &OnlineChanges) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        let presences = self.connections.presences(account_id).await?;
        let channels = self.changed_widgets(account_id, &presences, changes).await?;
        if channels.is_empty() {
            return Ok(());
        }
        let chats = self.open_chats(account_id, &channels).await?;
        let mut frames = BTreeMap::<&str, Frame>::new();
        for channel_id in chats.iter().map(|chat| chat.channel_id.as_str()).collect::<BTreeSet<_>>() {
            let Some(channel) = channels.get(channel_id) else { continue };
            let team = WidgetTeam::of_presences(self.directory, channel, &presences, self.now).await?;
            frames.insert(channel_id, push::mode_frame(team.is_online, &team.agents, &team.departments).into());
        }
        for group in chats.chunks(MAX_CONCURRENT_READS) {
            let sent = group.iter().map(|chat| self.push_mode_to(chat, frames.get(chat.channel_id.as_str())));
            join_all(sent).await.into_iter().collect::<Result<(), Error>>()?;
        }
        Ok(())
    }

    /// Returns the account's widgets whose mode the changes may have changed, by id.
    async fn changed_widgets(
        &self,
        account_id: &str,
        presences: &[Presence],
        changes: &OnlineChanges,
    ) -> Result<BTreeMap<String, Channel>, Error> {
        let mut changed = BTreeMap::new();
        for channel in self.directory.channels(account_id).await? {
            if channel.settings.kind() != ChannelKind::Widget {
                continue;
            }
            let audience = self.directory.audience(&channel).await?;
            let is_eligible = |agent_id| audience.includes(agent_id);
            if agent_presence::may_change_mode(presences, changes, is_eligible, self.now) {
                changed.insert(channel.channel_id.clone(), channel);
            }
        }
        Ok(changed)
    }

    /// Returns the open chats of these channels.
    async fn open_chats(&self, account_id: &str, channels: &BTreeMap<String, Channel>) -> Result<Vec<Chat>, Error> {
        let mut listing = self.chats.listing(account_id, &ChatState::OPEN_NAMES, None);
        let mut chats = Vec::new();
        for _ in 0..MAX_CHATS_PER_CHANGE.div_ceil(MAX_HEADERS_PER_READ) {
            let page = listing.next(MAX_HEADERS_PER_READ).await?;
            chats.extend(page.chats.into_iter().filter(|chat| channels.contains_key(&chat.channel_id)));
            if page.next.is_none() {
                break;
            }
        }
        Ok(chats)
    }

    async fn push_mode_to(&self, chat: &Chat, frame: Option<&Frame>) -> Result<(), Error> {
        let Some(frame) = frame else { return Ok(()) };
        let sockets = self.connections.visitor_sockets(&chat.channel_id, &chat.external_id, self.now).await?;
        self.send_to_visitor_sockets(sockets, std::slice::from_ref(frame)).await;
        Ok(())
    }
}
