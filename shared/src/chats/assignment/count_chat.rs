//! Chats that agents got while their account had no capacity take slots from now on.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;

/// Lets the chat take a slot of the agent who has it. Does nothing if no agent has it, or if it takes one already.
pub async fn count_chat(chats: &Chats, chat: &Chat) -> Result<(), Error> {
    match &chat.state {
        ChatState::Active(agent) if chat.assignment.slot_of.is_none() => {
            chats.count_chat_of_agent(chat, agent.agent_id).await
        }
        ChatState::Active(_) | ChatState::Bot | ChatState::Waiting | ChatState::Offered(_) | ChatState::Closed(_) => {
            Ok(())
        }
    }
}

/// Does the same for all active chats of the account. Reads their headers.
pub async fn count_all_chats(chats: &Chats, account_id: &str) -> Result<(), Error> {
    let mut listing = chats.listing(account_id, &["active"], None);
    loop {
        let page = listing.next(MAX_HEADERS_PER_READ).await?;
        for chat in &page.chats {
            count_chat(chats, chat).await?;
        }
        if page.next.is_none() {
            return Ok(());
        }
    }
}
