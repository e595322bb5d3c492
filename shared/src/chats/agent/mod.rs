//! What an agent does.

pub mod accept_chat;
pub mod add_note;
pub mod change_chat;
pub mod change_sent_message;
pub mod close_chat;
pub mod message_visitor;
pub mod plan_message;
pub mod release_chats_of_agent;
pub mod send_agent_message;
pub mod transfer_chat;
