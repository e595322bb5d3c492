//! The use cases of a chat: what a visitor, an agent, a bot, a call or a schedule does to it. They decide; the Chats
//! table ([`crate::store::chats`]) keeps the keys, the items, the indexes and the single writes.

pub mod accept_chat;
pub mod add_note;
mod append_entry;
pub mod apply_retention;
pub mod call_visitor;
pub mod close_chat;
pub mod create_widget_visitor;
pub mod erase_visitor;
pub mod hand_over_chat;
mod new_entry;
pub mod notifications;
pub mod notify_webhooks;
mod open_chat;
pub mod rate_chat;
pub mod receive_bot_message;
pub mod receive_call;
pub mod receive_offline_form;
pub mod receive_visitor_text;
pub mod release_chats_of_agent;
pub mod report_call;
pub mod requeue_overdue_delivery;
pub mod reschedule_idle_check;
pub mod send_agent_message;
pub mod set_visitor_typing;
pub mod transfer_chat;
pub mod transition;
pub mod update_visitor;
pub mod visitor_entry;
