//! The write that offers a waiting chat to one agent, or ends such an offer.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::TransitionError;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::AgentOfferItem;
use crate::store::chats::writes::agent_slots::{SlotWrites, is_slot_refused};
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n};
use crate::store::to_attribute;

const OFFER: &str = "SET #version = :version, #slot_of = :slot_of, #agent_offer = :offer, #passed_by = :passed_by, \
                     #other_change_at = :now, #due_at = :due_at";
const END_OFFER: &str = "SET #version = :version, #slot_of = :slot_of, #passed_by = :passed_by, \
                         #offer_ended_at = :now, #other_change_at = :now REMOVE #agent_offer";
/// The position of the claim in the transaction.
const CLAIM: usize = 1;

impl Chats {
    /// Stores the offer of `after`. The chat's next idle check moves to the end of the offer, so that the offer ends
    /// even if the task for it is lost. Fails with `Conflict` if the agent has no free slot, and loses the race if the
    /// chat has had a transition or an offer since `before` was read.
    pub(crate) async fn write_offer(
        &self,
        before: &Chat,
        after: &Chat,
        claim: Option<&SlotClaim>,
        now: Timestamp,
    ) -> Result<(), WriteError> {
        let SlotWrites { taken, freed } = SlotWrites::of(before, after, claim);
        let claim_index = taken.is_some().then_some(CLAIM);
        let header = Write::Update(header_update(before, after, now)?);
        let writes = [header].into_iter().chain(taken).chain(freed).collect();
        self.table.transact(writes).await.map_err(|error| {
            if is_slot_refused(&error, claim_index) { TransitionError::AtCapacity.into() } else { error }
        })
    }
}

fn header_update(before: &Chat, after: &Chat, now: Timestamp) -> Result<ItemUpdate, Error> {
    let mut values = vec![
        (":version", n(after.version)),
        (":old_version", n(before.version)),
        (":slot_of", to_attribute(&after.assignment.slot_of)?),
        (":passed_by", to_attribute(&after.assignment.passed_by)?),
        (":now", n(now.0)),
    ];
    let update = match after.assignment.offer {
        Some(offer) => {
            let due_at = after.timer_due_at().unwrap_or(offer.until);
            values.extend([(":offer", to_attribute(&AgentOfferItem::from(offer))?), (":due_at", n(due_at.0))]);
            OFFER
        }
        None => END_OFFER,
    };
    let key = header_key(&before.account_id, before.chat_id);
    Ok(ItemUpdate { key, update, condition: "#version = :old_version", values })
}
