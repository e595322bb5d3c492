//! The agents' chats, lists, sockets and console.

mod agent_login_presence_and_lists;
mod agent_socket;
mod answer_times;
mod assignment;
mod automatic_close;
mod canned_replies;
mod chat_changes;
mod chat_export;
mod chat_search;
mod chat_visibility;
mod console;
mod mentions;
mod merged_visitors;
mod planned_messages;
mod private_notes;
mod push;
mod reports;
mod retention_and_erasure;
mod subscriptions;
mod tags_and_snooze;
mod visitor_chats;
mod visitor_profile;
mod web_push;
