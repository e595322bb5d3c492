//! Finds the agents' sockets that get the pushes about a chat at once. A socket without a subscription gets all of
//! them. A subscriber gets those of the agent's own chats and of the chat that the client shows; the lists of the
//! others are pushed by [`push_lists`](crate::service::push_lists). Two kinds of pushes are rare and reach more
//! subscribers:
//!
//! - a call, which a client may have to show whoever has the chat,
//! - a failed delivery, which admins count.
//!
//! A note is also pushed to the agents whom it mentions.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{try_join, try_join_all};

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::DeliveryState;
use crate::domain::socket::AgentSocket;
use crate::error::Error;
use crate::service::push::{ChatPush, PushService};
use crate::store::connections::subscriptions::Listeners;
use crate::store::table_changes::ChatItemChange;

#[derive(Default)]
pub(super) struct Recipients {
    /// All recipients, by connection id.
    sockets: BTreeMap<String, AgentSocket>,
    /// The connection ids of the sockets that get every push.
    without_subscription: BTreeSet<String>,
    /// The connection ids of the subscribers who get the pushes about a chat.
    of_chats: BTreeMap<u64, BTreeSet<String>>,
}

impl Recipients {
    fn add(&mut self, socket: AgentSocket, chat_id: u64) {
        self.of_chats.entry(chat_id).or_default().insert(socket.connection_id.clone());
        self.sockets.insert(socket.connection_id.clone(), socket);
    }

    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    pub fn sockets(&self) -> impl Iterator<Item = &AgentSocket> {
        self.sockets.values()
    }

    pub fn into_sockets(self) -> impl Iterator<Item = (String, AgentSocket)> {
        self.sockets.into_iter()
    }

    /// Returns the sockets that get the pushes about a chat.
    pub fn of_chat(&self, chat_id: u64) -> impl Iterator<Item = &AgentSocket> {
        let subscribers = self.of_chats.get(&chat_id);
        let gets = move |id: &String| {
            self.without_subscription.contains(id) || subscribers.is_some_and(|subscribers| subscribers.contains(id))
        };
        self.sockets.iter().filter(move |(id, _)| gets(id)).map(|(_, socket)| socket)
    }
}

impl PushService<'_> {
    /// Returns the sockets that get the pushes about these chats and, if there are `frames_for_all`, all sockets.
    pub(super) async fn recipients(
        &self,
        account_id: &str,
        listeners: Listeners,
        pushes: &[ChatPush],
        frames_for_all: bool,
    ) -> Result<Recipients, Error> {
        let mut recipients = Recipients::default();
        for socket in listeners.sockets {
            recipients.without_subscription.insert(socket.connection_id.clone());
            recipients.sockets.insert(socket.connection_id.clone(), socket);
        }
        if listeners.lists_pushed_at.is_none() {
            return Ok(recipients);
        }
        let agents: BTreeSet<u64> = pushes.iter().flat_map(concerned_agents).collect();
        let of_agents =
            agents.iter().map(|agent_id| self.connections.agent_subscribers(account_id, *agent_id, self.now));
        let of_chats = pushes.iter().map(|push| self.connections.chat_subscribers(account_id, push.chat_id, self.now));
        let (of_agents, of_chats) = try_join(try_join_all(of_agents), try_join_all(of_chats)).await?;
        let of_agents: BTreeMap<u64, Vec<AgentSocket>> = agents.into_iter().zip(of_agents).collect();
        for (push, showing) in pushes.iter().zip(of_chats) {
            let own = concerned_agents(push).into_iter().filter_map(|agent_id| of_agents.get(&agent_id)).flatten();
            own.cloned().chain(showing).for_each(|socket| recipients.add(socket, push.chat_id));
        }
        if frames_for_all || pushes.iter().any(|push| has_call(push) || has_failure(push)) {
            for socket in self.connections.subscribers(account_id, self.now).await? {
                let gets = |push: &&ChatPush| has_call(push) || (socket.is_admin && has_failure(push));
                pushes.iter().filter(gets).for_each(|push| recipients.add(socket.clone(), push.chat_id));
                if frames_for_all {
                    recipients.sockets.insert(socket.connection_id.clone(), socket);
                }
            }
        }
        Ok(recipients)
    }
}

/// Returns the agents who have or had the chat, those whose messages have changed, and those whom notes mention.
fn concerned_agents(push: &ChatPush) -> BTreeSet<u64> {
    let owner = |chat: &Chat| chat.state.agent().map(|agent| agent.agent_id);
    let author = |entry: &TimelineEntry| match &entry.from {
        Sender::Agent(agent) => Some(agent.agent_id),
        Sender::Visitor | Sender::Bot(_) | Sender::System => None,
    };
    let mentioned = entries(push).flat_map(|entry| entry.content.mentions().iter().copied());
    let owners = push.before.iter().chain(&push.current).filter_map(owner);
    owners.chain(entries(push).filter_map(author)).chain(mentioned).collect()
}

fn has_call(push: &ChatPush) -> bool {
    entries(push).any(|entry| entry.content.call().is_some())
}

fn has_failure(push: &ChatPush) -> bool {
    let is_failed =
        |entry: &TimelineEntry| entry.delivery.as_ref().is_some_and(|delivery| delivery.state == DeliveryState::Failed);
    entries(push).any(is_failed)
}

/// Returns the new and changed entries.
fn entries(push: &ChatPush) -> impl Iterator<Item = &TimelineEntry> {
    push.changes.iter().filter_map(|change| match change {
        ChatItemChange::Entry { after, .. } => Some(&**after),
        ChatItemChange::Header { .. } | ChatItemChange::Panel { .. } | ChatItemChange::Visitor { .. } => None,
    })
}
