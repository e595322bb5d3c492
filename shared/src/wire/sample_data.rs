//! A fictitious chat for the sample events and messages with which admins test receivers.

use std::collections::BTreeMap;

use crate::domain::accounts::agent::{Agent, Role};
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::{BotAnswers, Chat, Rating, Sender};
use crate::domain::chats::chat_assignment::ChatAssignment;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::message_receipt::ReceiptTimes;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::time_zone::{Day, TimeZone};
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{
    OverriddenIntegratorValues, ProfileSources, Visitor, VisitorChanges, VisitorProfile,
};

const SAMPLE_ACCOUNT_ID: &str = "sample";
const SAMPLE_CHANNEL_ID: &str = "sample";
/// The number of both the sample chat and the sample visitor. Real chats and visitors are numbered from 1 in each
/// account and are not expected to reach it.
const SAMPLE_NUMBER: u64 = 1_000_000_000;

pub(crate) fn agent(now: Timestamp) -> Agent {
    Agent {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        agent_id: 1,
        name: "Sample Agent".to_owned(),
        email: "agent@example.com".to_owned(),
        phone: Some("+1 202 555 0101".to_owned()),
        photo: None,
        role: Role::Agent,
        capacity: None,
        created_at: now,
    }
}

pub fn chat(now: Timestamp) -> Chat {
    Chat {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        chat_id: SAMPLE_NUMBER,
        state: ChatState::Active(agent(now).into()),
        version: 1,
        channel_id: SAMPLE_CHANNEL_ID.to_owned(),
        channel_kind: ChannelKind::Api,
        channel_name: "Sample channel".to_owned(),
        external_id: "sample".to_owned(),
        has_numeric_id: false,
        invite_hash: None,
        visitor_number: SAMPLE_NUMBER,
        visitor_name: "Sample Visitor".to_owned(),
        department: Some(ChatDepartment { department_id: 1, name: "Sample department".to_owned() }),
        participants: vec![1],
        bot_id: None,
        former_bots: Vec::new(),
        given_to_bot_at: None,
        visitor_seq: 1,
        bot_answers: BotAnswers::default(),
        bot_event_at: None,
        repeated_to_bot: None,
        handover: None,
        seq: 2,
        opened_at: now,
        opened_on: Day::of(now, &TimeZone::default()),
        first_answer_at: None,
        agent_joined_at: None,
        closed_at: None,
        updated_at: now,
        other_change_at: None,
        last_message: None,
        waiting_since: None,
        typing_started_at: None,
        typing_text: None,
        failing_until: BTreeMap::new(),
        undelivered: Vec::new(),
        rating: Some(Rating::Positive),
        tag_ids: Vec::new(),
        snooze: None,
        mentions: Vec::new(),
        assignment: ChatAssignment::default(),
        answer_due: None,
        messages_changed_at: None,
        planned: 0,
        retention_days: None,
        previous_chats: Vec::new(),
    }
}

pub(crate) fn visitor() -> Visitor {
    Visitor {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        channel_id: SAMPLE_CHANNEL_ID.to_owned(),
        external_id: "sample".to_owned(),
        number: SAMPLE_NUMBER,
        profile: VisitorProfile {
            name: Some("Sample Visitor".to_owned()),
            phone: Some("+1 202 555 0102".to_owned()),
            email: Some("visitor@example.com".to_owned()),
            photo: None,
            url: Some("https://example.com/page".to_owned()),
            description: Some("Sent by a test of the receiver.".to_owned()),
        },
        sources: ProfileSources::default(),
        integrator_values: OverriddenIntegratorValues::default(),
        chats: 1,
        widget: None,
        merged_with: Vec::new(),
        blacklisted: false,
        open_chat: Some(SAMPLE_NUMBER),
        last_chat: Some(SAMPLE_NUMBER),
        recent_chats: vec![SAMPLE_NUMBER],
        retain_until: None,
        changes: VisitorChanges::default(),
    }
}

pub(crate) fn visitor_message(id: &str, now: Timestamp) -> TimelineEntry {
    entry(1, id, Sender::Visitor, "Hello, this is a sample message.", now)
}

pub fn agent_message(id: &str, now: Timestamp) -> TimelineEntry {
    entry(2, id, Sender::Agent(agent(now).into()), "Hello, this is a sample answer.", now)
}

fn entry(seq: u64, id: &str, from: Sender, text: &str, now: Timestamp) -> TimelineEntry {
    TimelineEntry {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        chat_id: SAMPLE_NUMBER,
        seq,
        id: id.to_owned(),
        from,
        content: Content::text(text),
        at: now,
        caused_by: None,
        webhook_dispatch: None,
        receipt: ReceiptTimes::default(),
        edited_at: None,
        deleted_at: None,
        retain_until: None,
        delivery: None,
    }
}
