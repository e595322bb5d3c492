//! Tests of the stores and of the use cases through the official AWS SDK, against an in-memory engine that is
//! compatible with DynamoDB. They are here, because they use private items of the stores.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::wildcard_enum_match_arm)]

mod account_deletion;
mod actions;
mod backlog;
mod fixtures;
pub(crate) mod stored_form;
mod table_changes;
mod test_database;

mod chats {
    mod chat_changes;
    mod chat_listing;
    mod chat_search;
    mod deliveries;
    mod delivery_listing;
    mod idempotency;
    mod new_chat_rate_limit;
    mod panels;
    mod recent_open_chats;
    mod refused_message_counts;
    mod report_counters;
    mod visitor_chats;
    mod widget_history;
    mod widget_visitors;
}

mod connections {
    mod circuit_breakers;
    mod emails;
    mod login_attempts;
    mod presence;
    mod request_rate_limit;
    mod sessions;
    mod sockets;
    mod subscriptions;
}

mod directory {
    mod agents;
    mod audit_log;
    mod bots;
    mod canned_replies;
    mod channels;
    mod departments;
    mod settings;
}

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;

mod use_cases {
    mod agent_messages;
    mod agent_slots;
    mod bot_and_webhook_notifications;
    mod bot_hand_over;
    mod bot_messages;
    mod calls;
    mod chat_finished_transcript;
    mod erasure;
    mod idle_check;
    mod message_edits;
    mod notes;
    mod offline_messages;
    mod ownership_model;
    mod participants;
    mod planned_messages;
    mod retention;
    mod returned_chats;
    mod sent_message_changes;
    mod tags_and_snooze;
    mod timeline;
    mod transfers;
    mod transitions;
    mod typing_and_rating;
    mod visitor_messages;
    mod visitor_profile;
}

use crate::chats::agent::accept_chat::accept_chat;
use crate::chats::agent::add_note::NewNote;
use crate::chats::agent::close_chat::close_idle_chat;
use crate::chats::agent::release_chats_of_agent::release_chats_of_agent;
use crate::chats::agent::send_agent_message::{AgentMessage, send_agent_message};
use crate::chats::agent::transfer_chat::transfer_chat;
use crate::chats::bot::hand_over_chat::{AgentInvitation, hand_over_chat, invite_agent};
use crate::chats::transition::Transition;
use crate::chats::upkeep::erase_visitor::erase_visitor;
use crate::chats::upkeep::requeue_overdue_delivery::requeue_overdue_delivery;
use crate::chats::visitor::receive_visitor_text::{VisitorText, receive_visitor_text};
use crate::chats::visitor::update_visitor::{update_visitor, update_visitor_and_notify};
use crate::chats::visitor::visitor_entry::FromVisitor;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::{Agent, AgentSnapshot, Role};
use crate::domain::accounts::agent_presence::{AgentStatus, Presence};
use crate::domain::accounts::canned_reply::{CannedReply, LastAction, MAX_CANNED_REPLIES, ReplyActions};
use crate::domain::accounts::department::Department;
use crate::domain::accounts::password_policy::{NewPassword, PasswordHash};
use crate::domain::bots::bot::{Bot, BotNotification, CloseReason, Provider};
use crate::domain::channels::channel::{
    ApiSettings, Channel, ChannelKind, ChannelSettings, EndpointSecret, KindSettings, ValidationMode,
    api_channel_settings, default_api_settings,
};
use crate::domain::channels::contacts_form::ContactField;
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::channels::widget::WidgetSettings;
use crate::domain::chats::bot_handover::{HandoverDetails, HandoverPriority, HandoverReason};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_side_panel::{CustomData, Panel, PanelUpdate};
use crate::domain::chats::chat_state::{ChatState, Invited, TransferRequester, TransferTarget};
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::media::{Media, MediaMessage, MediaType};
use crate::domain::chats::message_content::{Button, ButtonId, Content, RichFormat, RichMessage, RichSupport};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::chats::transfer_request::TransferRequest;
use crate::domain::deliveries::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Failure, Target};
use crate::domain::deliveries::delivery_search_and_replay::ReplayScope;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{ProfileSource, Visitor, VisitorChanges, VisitorProfile};
use crate::error::Error;
use crate::service::chat_access::ChatAccess;
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::{Backlog, DUE_PARTITIONS, OverdueItem};
use crate::store::chats::listing::chat_listing::ChatPage;
use crate::store::connections::Connections;
use crate::store::connections::sessions::{Session, SessionAccess, SessionOrigin};
use crate::store::directory::Directory;
use crate::store::directory::agents::Authority;
use crate::store::directory::channels::has_valid_secret;
use crate::store::directory::items::ChannelItem;
use crate::store::table::{Item, Table, n, s};
use crate::store::to_item;

use actions::{open_socket, page_ids, signed_in};
use fixtures::*;
use test_database::{Stores, stores};
