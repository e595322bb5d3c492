//! Deletes a received message, or all messages in a queue (purge).

use super::super::{Error, QueueDefinition};
use super::database::Engine;
use super::message_group;
use super::receipt_handle::ReceiptHandle;

impl Engine {
    /// Deletes a message. Succeeds if the message is already deleted.
    ///
    /// If the message has been received again since the handle was issued, a standard queue ignores the request, and a
    /// FIFO queue rejects it. Once the visibility timeout has ended, a FIFO queue also rejects the latest handle,
    /// because deleting the message could then break the order.
    pub(in super::super) fn delete(&self, queue: &QueueDefinition, handle: &str, now_ms: u64) -> Result<(), Error> {
        let receipt = ReceiptHandle::decode(queue, handle)?;
        let transaction = self.transaction()?;
        let Some(message) = receipt.find_message(&transaction, queue, now_ms)? else {
            return Ok(());
        };
        if queue.is_fifo() && !(message.is_latest_receive && message.is_in_flight) {
            return Err(Error::ReceiptHandleExpired(handle.to_owned()));
        }
        if message.is_latest_receive {
            transaction.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([receipt.id])?;
            message_group::refresh(&transaction, &queue.name, message.group.as_deref())?;
        }
        Ok(transaction.commit()?)
    }

    /// Deletes every message in the queue, including those in flight.
    pub(in super::super) fn purge(&self, queue: &QueueDefinition) -> Result<(), Error> {
        self.connection.prepare_cached("DELETE FROM messages WHERE queue = ?1")?.execute([&queue.name])?;
        Ok(())
    }
}
