//! The use cases of a chat: what a visitor, an agent, a bot, a call or a schedule does to it. They decide; the Chats
//! table ([`crate::store::chats`]) keeps the keys, the items and the single writes.

pub mod add_note;
pub mod append_entry;
pub mod apply_retention;
pub mod calls;
pub mod check_idle_chat;
pub mod erase_visitor;
pub mod notifications;
pub mod rate_chat;
pub mod receive_bot_message;
pub mod recent_open_chats;
pub mod requeue_overdue_delivery;
pub mod send_agent_message;
pub mod transfer_chat;
pub mod transition;
pub mod update_visitor;
