//! Chats: their states, their entries, and who may see them.

pub mod answer_timer;
pub mod bot_draft;
pub mod bot_handover;
pub mod chat;
pub mod chat_assignment;
pub mod chat_change;
pub mod chat_changes;
pub mod chat_export;
pub mod chat_filter;
pub mod chat_search;
pub mod chat_side_panel;
pub mod chat_state;
pub mod chat_visibility;
pub mod idempotency_key;
pub mod media;
pub mod mention;
pub mod message_content;
pub mod message_id;
pub mod message_receipt;
pub mod ownership_events;
pub mod planned_message;
pub mod sent_message_change;
pub mod timeline_entry;
pub mod transfer_request;
