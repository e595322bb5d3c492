//! The writes of a change of a chat's owner or state.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::TransitionError;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::report::Counter;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::expiry::visitor_expiry::{VisitorExpiry, chat_expiry, visitor_writes_on_close};
use crate::store::chats::items::{
    AgentSnapshotItem, BotHandoverItem, ChatDepartmentItem, FormerBotItem, MessagePreviewItem,
};
use crate::store::chats::report_counters::count_write;
use crate::store::chats::writes::agent_slots::{SlotWrites, is_slot_refused};
use crate::store::chats::writes::tag_and_snooze::has_same_tags;
use crate::store::chats::{Chats, entry_write, header_key, listing_key};
use crate::store::table::{ExpressionValues, ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;

impl Chats {
    /// Writes a transition and its entries. When the chat is closed, also removes the reference to the open chat from
    /// the visitor's item, and counts the chat for the reports. The first attempt assumes that the visitor expires
    /// together with this chat. If the write fails because a chat that was closed earlier expires later, the second
    /// attempt uses that chat's expiry. With an idempotency key, also stores the receipt of the first entry. If the
    /// chat takes the slot of another agent, fails with `Conflict` unless the claim holds.
    pub(crate) async fn write_transition(
        &self,
        before: &Chat,
        after: &Chat,
        (entries, key): (&[TimelineEntry], Option<&IdempotencyKey>),
        claim: Option<&SlotClaim>,
    ) -> Result<(), WriteError> {
        let usual = VisitorExpiry::of_closed_chat(after);
        let later = match self.write_transition_with((before, after), (entries, key), claim, &usual).await {
            Err(WriteError::ConditionFailed { item, .. }) => {
                item.as_ref().and_then(|item| VisitorExpiry::later_than(item, after))
            }
            written => return written,
        };
        let Some(later) = later else { return Err(WriteError::Contended) };
        self.write_transition_with((before, after), (entries, key), claim, &later).await
    }

    async fn write_transition_with(
        &self,
        (before, after): (&Chat, &Chat),
        (entries, key): (&[TimelineEntry], Option<&IdempotencyKey>),
        claim: Option<&SlotClaim>,
        expiry: &VisitorExpiry,
    ) -> Result<(), WriteError> {
        let header = transition_update(before, after)?;
        let mut others = entries.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        if let (Some(first), Some(key)) = (entries.first(), key) {
            others.push(key.receipt_write(first)?);
        }
        if after.state.is_closed() {
            others.extend(visitor_writes_on_close(after, expiry));
            others.push(count_write(after, &Counter::of_closing(before, after)));
        }
        let SlotWrites { taken, freed } = SlotWrites::of(before, after, claim);
        if others.is_empty() && taken.is_none() && freed.is_none() {
            self.table.update(header).await?;
            return Ok(());
        }
        others.push(Write::Update(header));
        // The claim is after the header, so that a chat that somebody else has got in between is reported as such.
        let claim_index = taken.is_some().then_some(others.len());
        others.extend(taken.into_iter().chain(freed));
        self.table.transact(others).await.map_err(|error| {
            if is_slot_refused(&error, claim_index) { TransitionError::AtCapacity.into() } else { error }
        })
    }
}

macro_rules! transition_expression {
    ($others:expr, $removed:expr) => {
        concat!(
            "SET #state = :state, #version = :version, #agent = :agent, #offered_to = :offer, \
             #department = :department, #participants = :participants, #listing = :listing, #updated_at = :now, \
             #seq = :seq, #bot_event_at = :bot_event_at, #handover = :handover, #waiting_since = :waiting_since, \
             #agent_joined_at = :agent_joined_at, #last_message = :last_message, #slot_of = :slot_of",
            $others,
            " REMOVE #typing_started_at, #typing_text, #snooze, #agent_offer, #passed_by, \
             #offer_ended_at",
            $removed
        )
    };
}

const UPDATE_OPEN_CHAT: &str = transition_expression!("", "");

/// Like [`UPDATE_OPEN_CHAT`], but also moves the chat's next idle check, which ends the wait for an agent if the task
/// for it is lost.
const UPDATE_WAIT_FOR_AGENT: &str = transition_expression!(", #due_at = :due_at", "");

/// Like [`UPDATE_OPEN_CHAT`], but also changes the chat's bot and forgets the failures of the former one.
const UPDATE_GIVEN_CHAT: &str = transition_expression!(
    ", #bot_id = :bot_id, #former_bots = :former_bots, #given_to_bot_at = :given_to_bot_at",
    ", #repeated_to_bot, #bot_failing_until, #stopped_seq"
);

/// Like [`UPDATE_OPEN_CHAT`], but also moves the chat in the `due` index from the idle checks to the closed chats, and
/// sets its expiry.
const UPDATE_CLOSED_CHAT: &str =
    transition_expression!(concat!(", #closed_at = :now, #expires_at = :expires_at, ", set_closed_chat!()), "");

/// Returns the header update for a transition. Its condition fails if the chat has had any other transition or entry
/// since `before` was read. Comparing only the state and the agent would not be enough, because a chat can return to
/// the same agent. A chat is closed with the tags that its reports count.
fn transition_update(before: &Chat, after: &Chat) -> Result<ItemUpdate, Error> {
    let mut values = vec![
        (":state", s(after.state.name())),
        (":agent", to_attribute(&after.state.agent().map(AgentSnapshotItem::from))?),
        (":offer", to_attribute(&after.state.offered_department())?),
        (":department", to_attribute(&after.department.as_ref().map(ChatDepartmentItem::from))?),
        (":participants", to_attribute(&after.participants)?),
        (":listing", s(listing_key(&after.account_id, after.state.name()))),
        (":now", n(after.updated_at.0)),
        (":seq", n(after.seq)),
        (":bot_event_at", to_attribute(&after.bot_event_at.map(|at| at.0))?),
        (":handover", to_attribute(&after.handover.as_ref().map(BotHandoverItem::from))?),
        (":waiting_since", to_attribute(&after.waiting_since.map(|at| at.0))?),
        (":agent_joined_at", to_attribute(&after.agent_joined_at.map(|at| at.0))?),
        (":last_message", to_attribute(&after.last_message.as_ref().map(MessagePreviewItem::from))?),
        (":slot_of", to_attribute(&after.assignment.slot_of)?),
        (":version", n(after.version)),
        (":old_version", n(before.version)),
        (":old_seq", n(before.seq)),
    ];
    let update = if after.state.is_closed() {
        values.extend([(":expires_at", chat_expiry(after)), (":tag_ids", to_attribute(&before.tag_ids)?)]);
        values.extend(closed_chat_values(&after.account_id, after.updated_at));
        UPDATE_CLOSED_CHAT
    } else if after.given_to_bot_at != before.given_to_bot_at {
        values.extend(given_chat_values(after)?);
        UPDATE_GIVEN_CHAT
    } else if let Some(return_at) = after.return_at() {
        values.push((":due_at", n(return_at.0)));
        UPDATE_WAIT_FOR_AGENT
    } else {
        UPDATE_OPEN_CHAT
    };
    let key = header_key(&before.account_id, before.chat_id);
    let condition = if after.state.is_closed() {
        concat!("#version = :old_version AND #seq = :old_seq AND ", has_same_tags!())
    } else {
        "#version = :old_version AND #seq = :old_seq"
    };
    Ok(ItemUpdate { key, update, condition, values })
}

fn given_chat_values(after: &Chat) -> Result<ExpressionValues, Error> {
    let former_bots: Vec<FormerBotItem> = after.former_bots.iter().cloned().map(FormerBotItem::from).collect();
    Ok(vec![
        (":bot_id", to_attribute(&after.bot_id)?),
        (":former_bots", to_attribute(&former_bots)?),
        (":given_to_bot_at", to_attribute(&after.given_to_bot_at.map(|at| at.0))?),
    ])
}
