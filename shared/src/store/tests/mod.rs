//! Tests of the stores through the official AWS SDK, against an in-memory engine that is compatible with DynamoDB. The
//! folders mirror those in `store`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::wildcard_enum_match_arm)]

mod account_deletion;
mod actions;
mod backlog;
mod fixtures;
pub(crate) mod stored_form;
mod table_changes;
mod test_database;

mod chats {
    mod agent_messages;
    mod bot_and_webhook_notifications;
    mod bot_hand_over;
    mod bot_messages;
    mod calls;
    mod chat_changes;
    mod chat_finished_transcript;
    mod chat_listing;
    mod chat_search;
    mod deliveries;
    mod delivery_listing;
    mod erasure;
    mod idempotency;
    mod idle_check;
    mod new_chat_rate_limit;
    mod notes;
    mod offline_messages;
    mod ownership_model;
    mod panels;
    mod participants;
    mod recent_open_chats;
    mod refused_message_counts;
    mod report_counters;
    mod retention;
    mod timeline;
    mod transfers;
    mod transitions;
    mod typing_and_rating;
    mod visitor_chats;
    mod visitor_messages;
    mod visitor_profile;
    mod widget_history;
    mod widget_visitors;
}

mod connections {
    mod circuit_breakers;
    mod login_attempts;
    mod presence;
    mod request_rate_limit;
    mod sessions;
    mod sockets;
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

use crate::chats::accept_chat::accept_chat;
use crate::chats::add_note::NewNote;
use crate::chats::close_chat::close_idle_chat;
use crate::chats::erase_visitor::erase_visitor;
use crate::chats::hand_over_chat::{hand_over_chat, invite_agent};
use crate::chats::receive_visitor_text::{VisitorText, receive_visitor_text};
use crate::chats::release_chats_of_agent::release_chats_of_agent;
use crate::chats::requeue_overdue_delivery::requeue_overdue_delivery;
use crate::chats::send_agent_message::{AgentMessage, send_agent_message};
use crate::chats::transfer_chat::transfer_chat;
use crate::chats::transition::Transition;
use crate::chats::update_visitor::{update_visitor, update_visitor_and_notify};
use crate::chats::visitor_entry::FromVisitor;
use crate::domain::account_settings::AccountSettings;
use crate::domain::agent::{Agent, AgentSnapshot, Role};
use crate::domain::agent_presence::{AgentStatus, Presence};
use crate::domain::bot::{Bot, BotNotification, Provider};
use crate::domain::canned_reply::{CannedReply, MAX_CANNED_REPLIES};
use crate::domain::channel::{
    ApiSettings, Channel, ChannelKind, ChannelSettings, EndpointSecret, KindSettings, ValidationMode,
    api_channel_settings, default_api_settings,
};
use crate::domain::chat::{Chat, Sender};
use crate::domain::chat_side_panel::{CustomData, Panel, PanelUpdate};
use crate::domain::chat_state::{ChatState, TransferRequester, TransferTarget};
use crate::domain::contacts_form::ContactField;
use crate::domain::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Failure, Target};
use crate::domain::delivery_search_and_replay::ReplayScope;
use crate::domain::department::Department;
use crate::domain::idempotency_key::IdempotencyKey;
use crate::domain::media::{Media, MediaMessage, MediaType};
use crate::domain::message_content::{Button, ButtonId, Content, RichFormat, RichMessage, RichSupport};
use crate::domain::password_policy::{NewPassword, PasswordHash};
use crate::domain::signing_secret::SigningSecrets;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{ProfileSource, Visitor, VisitorChanges, VisitorProfile};
use crate::domain::webhook::Webhook;
use crate::domain::widget::WidgetSettings;
use crate::error::Error;
use crate::service::chat_access::ChatAccess;
use crate::store::chats::Chats;
use crate::store::chats::chat_listing::ChatPage;
use crate::store::chats::due_index::{Backlog, DUE_PARTITIONS, OverdueItem};
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
