//! Tells agents who else has the chat open that they show. Nothing is stored for this: who shows a chat follows from
//! the subscriptions of the sockets. An agent who is alone with a chat gets no frame.

use std::collections::BTreeSet;
use std::slice;

use futures_util::future::join_all;

use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::socket::AgentSocket;
use crate::error::Error;
use crate::service::chat_access::ChatVisibility;
use crate::service::push::PushService;
use crate::wire::push;

impl PushService<'_> {
    /// Tells everybody who shows one of these chats that the socket's client now shows `opened` instead of `left`.
    pub async fn push_viewers(
        &self,
        socket: &AgentSocket,
        left: Option<u64>,
        opened: Option<u64>,
    ) -> Result<(), Error> {
        if left == opened {
            return Ok(());
        }
        if let Some(chat_id) = left {
            self.push_viewers_of(chat_id, self.other_viewers(socket, chat_id).await?).await?;
        }
        let Some(chat_id) = opened else { return Ok(()) };
        let mut sockets = self.other_viewers(socket, chat_id).await?;
        if sockets.iter().any(|other| other.agent_id != socket.agent_id) {
            sockets.push(socket.clone());
            self.push_viewers_of(chat_id, sockets).await?;
        }
        Ok(())
    }

    /// Returns the other sockets whose clients show the chat. The read is eventually consistent, so the socket itself
    /// may be missing among those who have opened the chat, or be still among those who have left it.
    async fn other_viewers(&self, socket: &AgentSocket, chat_id: u64) -> Result<Vec<AgentSocket>, Error> {
        let mut sockets = self.connections.chat_subscribers(&socket.account_id, chat_id, self.now).await?;
        sockets.retain(|other| other.connection_id != socket.connection_id);
        Ok(sockets)
    }

    /// A client can claim to show a chat that its agent may not see, so only those who see it count and are told.
    async fn push_viewers_of(&self, chat_id: u64, mut sockets: Vec<AgentSocket>) -> Result<(), Error> {
        let Some(account_id) = sockets.first().map(|socket| socket.account_id.clone()) else { return Ok(()) };
        let Some(chat) = self.chats.chat(&account_id, chat_id).await? else { return Ok(()) };
        let viewers: Vec<Viewer> = sockets.iter().map(AgentSocket::viewer).collect();
        let visibility = ChatVisibility::read(self.directory, &account_id, &viewers, slice::from_ref(&chat)).await?;
        sockets.retain(|socket| visibility.sees(socket.viewer(), &chat));
        let agent_ids: BTreeSet<u64> = sockets.iter().map(|socket| socket.agent_id).collect();
        let frame = push::viewers_frame(chat_id, &agent_ids);
        // Errors are ignored: a closed socket is removed when the next change is pushed.
        join_all(sockets.iter().map(|socket| self.gateway.send(&socket.connection_id, &frame))).await;
        Ok(())
    }
}
