//! Chat transfers. A transfer to an agent makes that agent the owner at once. A transfer to a department offers the
//! chat to the department's members. If a concurrent write to the chat wins the race, the transfer is retried.

use crate::chats::new_entry::new_entry;
use crate::chats::notifications::NotificationContext;
use crate::chats::transition::Transition;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::{ChatEvent, TransferRequester, TransferTarget};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::write_races::WriteRaces;

/// Whom the chat is given to, and the private note that its agent leaves with it.
#[derive(Clone, Copy)]
pub struct Transfer<'a> {
    pub to: &'a TransferTarget,
    pub note: Option<&'a str>,
    /// The slot that the chat takes. `None` in an account without a capacity.
    pub claim: Option<SlotClaim>,
}

/// Transfers a chat and adds a timeline entry that reports the transfer, after the note. Returns the entries with the
/// notifications. If the owner requests two transfers concurrently, one of them fails. Fails if the other agent has no
/// free slot.
pub async fn transfer_chat(
    chats: &Chats,
    chat: Chat,
    by: TransferRequester<'_>,
    transfer: Transfer<'_>,
    context: NotificationContext<'_>,
) -> Result<Transition, Error> {
    let mut before = chat;
    let mut races = WriteRaces::new("transfer");
    loop {
        let (mut after, mut entries) = after_transfer(&before, by, transfer, context.now)?;
        let contents = context.ownership_notifications(Some(&before), &after);
        entries.extend(context.create_entries(&mut after, contents)?);
        let written = chats.write_transition(&before, &after, (&entries, None), transfer.claim.as_ref()).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| Transition { chat: after, notifications: entries });
        }
        before = chats.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
    }
}

fn after_transfer(
    before: &Chat,
    by: TransferRequester<'_>,
    Transfer { to, note, claim }: Transfer<'_>,
    now: Timestamp,
) -> Result<(Chat, Vec<TimelineEntry>), Error> {
    let state = before.state.after_event(ChatEvent::Transfer(by, to))?;
    let (name, department) = match to {
        TransferTarget::Agent(agent) => (&agent.name, before.department.clone()),
        TransferTarget::Department(department) => (&department.name, Some(department.snapshot())),
    };
    let mut after = Chat { department, ..before.after_transition(state, now) };
    after.claim_slot(claim.as_ref());
    let mut entries = Vec::new();
    if let Some(note) = note {
        after.seq += 1;
        entries.push(new_entry(&after, Sender::Agent(by.agent.clone()), Content::note(note), now)?);
    }
    after.seq += 1;
    let text = Content::text(format!("{} transferred the chat to {name}", by.agent.name));
    let entry = new_entry(&after, Sender::System, text, now)?;
    entries.push(TimelineEntry { caused_by: Some(by.agent.without_photo()), ..entry });
    Ok((after, entries))
}
