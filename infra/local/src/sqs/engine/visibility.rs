//! Changes the visibility timeout of a message in flight.

use rusqlite::params;

use super::super::{Error, QueueDefinition, limits};
use super::database::Engine;
use super::message_group;
use super::receipt_handle::ReceiptHandle;

impl Engine {
    /// Makes the message visible again `seconds` from now.
    pub(in super::super) fn change_visibility(
        &self,
        queue: &QueueDefinition,
        handle: &str,
        seconds: u32,
        now_ms: u64,
    ) -> Result<(), Error> {
        limits::VISIBILITY_TIMEOUT_SECONDS.check(seconds)?;
        let receipt = ReceiptHandle::decode(queue, handle)?;
        let transaction = self.transaction()?;
        let message = receipt
            .find_message(&transaction, queue, now_ms)?
            .filter(|message| message.is_latest_receive)
            .ok_or_else(|| Error::MessageNotAvailable(handle.to_owned()))?;
        if !message.is_in_flight {
            return Err(Error::MessageNotInflight);
        }
        let visible_at = now_ms + u64::from(seconds) * 1000;
        transaction
            .prepare_cached(
                "UPDATE messages SET visible_at = ?2, due_at = iif(due_at IS NULL, NULL, ?2) WHERE id = ?1",
            )?
            .execute(params![receipt.id, visible_at])?;
        message_group::refresh(&transaction, &queue.name, message.group.as_deref())?;
        Ok(transaction.commit()?)
    }
}
