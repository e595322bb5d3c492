//! The use cases of a chat: what a visitor, an agent, a bot, a call or a schedule does to it. They decide; the Chats
//! table ([`crate::store::chats`]) keeps the keys, the items, the indexes and the single writes.

pub mod agent;
mod append_entry;
pub mod assignment;
pub mod bot;
pub mod call;
pub(crate) mod delivery_events;
mod new_chat;
mod new_entry;
pub mod notifications;
pub mod notify_webhooks;
mod open_chat;
pub mod transition;
pub mod upkeep;
pub mod visitor;
