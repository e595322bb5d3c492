//! Applies a provider's report to a call. Each change of a call's status is stored in one transaction with its
//! notifications and the account's balance.

use crate::chats::notifications::NotificationContext;
use crate::domain::calls::phone_call::{Call, CallProgress, CallReport};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::calls::call_entry::call_write;
use crate::store::chats::report_counters::count_call_write;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

#[derive(Debug)]
pub struct ChangedCall {
    pub entry: TimelineEntry,
    /// The stored call_event notifications, which the caller must queue.
    pub notifications: Vec<TimelineEntry>,
}

pub struct ReportedCall<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub seq: u64,
    /// The id that the call's entry must have. `None` if the caller has already read the entry.
    pub call_id: Option<&'a str>,
    pub report: &'a CallReport,
    pub provider_call_id: Option<&'a str>,
}

/// Applies a report to a call. Returns `None` if the report changes nothing. If a concurrent report changes the
/// call first, the call is read again.
///
/// # Errors
/// Fails with `NotFound` if the entry does not exist or is not this call.
pub async fn report_call(
    chats: &Chats,
    reported: &ReportedCall<'_>,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Option<ChangedCall>, Error> {
    let ReportedCall { account_id, chat_id, seq, call_id, report, provider_call_id } = reported;
    let mut races = WriteRaces::new("report of a call");
    loop {
        let found = chats.entry_and_chat(account_id, *chat_id, *seq).await?;
        let found = found.filter(|(entry, _)| call_id.is_none_or(|call_id| entry.id == call_id));
        let (entry, chat) = found.ok_or(Error::NotFound)?;
        let call = entry.content.call().ok_or(Error::NotFound)?;
        let Some(progress) = call.after_report(report, *provider_call_id, now) else { return Ok(None) };
        let written = write_call_progress(chats, &entry, &chat, progress, webhooks, now).await;
        if let Some(result) = races.final_result(written) {
            return result.map(Some);
        }
    }
}

async fn write_call_progress(
    chats: &Chats,
    before: &TimelineEntry,
    chat: &Chat,
    progress: CallProgress,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<ChangedCall, WriteError> {
    let CallProgress { mut call, reached, is_finished, balance_change } = progress;
    let balance_write = chats.balance_write(&before.account_id, &mut call, balance_change).await?;
    let agent_id = call.agent.as_ref().map(|called| called.agent.agent_id);
    let context = NotificationContext { webhooks, agent_id, now };
    let contents = context.call_notifications(&call, &reached);
    let call_before = before.content.call();
    let counters = call_before.filter(|_| is_finished).map(|before| count_call_write(chat, before, &call));
    if reached.is_empty() {
        chats.update_call(before, &call).await?;
        return Ok(ChangedCall { entry: with_call(before, call), notifications: Vec::new() });
    }
    let mut header = chats.reserve_call_events(chat, contents.len(), now).await?;
    let notifications = context.create_entries(&mut header, contents)?;
    let mut writes = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
    writes.push(call_write(before, &call)?);
    writes.extend(counters);
    writes.extend(balance_write);
    chats.transact(writes).await?;
    Ok(ChangedCall { entry: with_call(before, call), notifications })
}

fn with_call(entry: &TimelineEntry, call: Call) -> TimelineEntry {
    TimelineEntry { content: Content::Call(Box::new(call)), ..entry.clone() }
}
