//! What every new chat needs, whoever opens it: its number, its visitor and its header.

use std::collections::BTreeMap;

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::{BotAnswers, Chat, MAX_HEADER_NAME_CHARS, MessagePreview};
use crate::domain::chats::chat_assignment::ChatAssignment;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::time_zone::Day;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::visitors::visitor_updates::{
    visitor_number_retain_write, visitor_number_write, visitor_write,
};
use crate::store::chats::writes::visitor_message_header::new_header_write;
use crate::store::table::{Write, WriteError};

#[derive(Clone, Copy)]
pub(super) struct NewChat<'a> {
    pub channel: &'a Channel,
    pub external_id: &'a str,
    /// The hash of the client network of the visitor's browser. `None` if no browser opens the chat.
    pub network: Option<&'a str>,
    pub department: Option<&'a ChatDepartment>,
    pub settings: &'a AccountSettings,
    pub now: Timestamp,
}

/// The visitor of a new chat, with the chat already recorded.
pub(super) struct ChatVisitor {
    pub visitor: Visitor,
    pub chat_id: u64,
    is_new: bool,
    previous_chat: Option<u64>,
    previous_chats: Vec<u64>,
}

impl NewChat<'_> {
    /// Counts the chat for the rate limit, and assigns its number and, if the visitor is new, the visitor's.
    pub(super) async fn assign_to_visitor(
        &self,
        chats: &Chats,
        existing: Option<Visitor>,
    ) -> Result<ChatVisitor, WriteError> {
        let NewChat { channel, external_id, network, settings, now, .. } = *self;
        chats.count_opened_chat(&channel.channel_id, network, settings.limits.channel_chats, now).await?;
        let is_new = existing.is_none();
        let numbers = chats.assign_chat_number(&channel.account_id, is_new).await?;
        let mut visitor = existing.unwrap_or_else(|| Visitor::new(channel, external_id, numbers.visitors));
        visitor.chats += 1;
        visitor.open_chat = Some(numbers.chats);
        let previous_chat = visitor.last_chat;
        let previous_chats = visitor.start_chat(numbers.chats);
        Ok(ChatVisitor { visitor, chat_id: numbers.chats, is_new, previous_chat, previous_chats })
    }

    pub(super) fn header(&self, of: &ChatVisitor, state: ChatState, first_message: MessagePreview) -> Chat {
        let NewChat { channel, department, settings, now, .. } = *self;
        let visitor = &of.visitor;
        Chat {
            account_id: visitor.account_id.clone(),
            chat_id: of.chat_id,
            version: 1,
            channel_id: visitor.channel_id.clone(),
            channel_kind: channel.settings.kind(),
            channel_name: truncate_chars(&channel.settings.name, MAX_HEADER_NAME_CHARS),
            external_id: visitor.external_id.clone(),
            has_numeric_id: false,
            invite_hash: None,
            visitor_number: visitor.number,
            visitor_name: truncate_chars(visitor.profile.display_name(), MAX_HEADER_NAME_CHARS),
            department: department.cloned(),
            participants: Vec::new(),
            bot_id: None,
            former_bots: Vec::new(),
            given_to_bot_at: None,
            visitor_seq: 0,
            bot_answers: BotAnswers::default(),
            bot_event_at: None,
            repeated_to_bot: None,
            handover: None,
            seq: 1,
            opened_at: now,
            opened_on: Day::of(now, &settings.time_zone),
            first_answer_at: None,
            agent_joined_at: None,
            closed_at: None,
            updated_at: now,
            other_change_at: None,
            last_message: Some(first_message),
            waiting_since: state.is_waiting().then_some(now),
            state,
            typing_started_at: None,
            typing_text: None,
            failing_until: BTreeMap::new(),
            undelivered: Vec::new(),
            rating: None,
            tag_ids: Vec::new(),
            snooze: None,
            mentions: Vec::new(),
            assignment: ChatAssignment::default(),
            answer_due: None,
            messages_changed_at: None,
            planned: 0,
            retention_days: settings.retention_days,
            previous_chats: of.previous_chats.clone(),
        }
    }

    /// Returns the writes of the visitor and of the header.
    pub(super) fn writes(&self, of: &ChatVisitor, header: &Chat) -> Result<Vec<Write>, Error> {
        let ChatVisitor { visitor, is_new, previous_chat, .. } = of;
        let idle_check = self.settings.next_idle_check(self.now, self.now);
        let mut writes =
            vec![visitor_write(visitor, *is_new, *previous_chat)?, new_header_write(header, idle_check, self.now)?];
        if *is_new {
            writes.push(visitor_number_write(visitor)?);
        } else if visitor.retain_until.is_some() {
            writes.push(visitor_number_retain_write(visitor));
        }
        Ok(writes)
    }
}

/// Returns whether the visitor's id was a JSON number in the visitor's last chat.
pub(super) async fn had_numeric_id(chats: &Chats, account_id: &str, visitor: Option<&Visitor>) -> Result<bool, Error> {
    let Some(chat_id) = visitor.and_then(|visitor| visitor.last_chat) else { return Ok(false) };
    Ok(chats.chat(account_id, chat_id).await?.is_some_and(|chat| chat.has_numeric_id))
}
