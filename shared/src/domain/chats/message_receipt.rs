//! How far a message to a visitor has come, as the integrator of the chat's channel reports it.

use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

named! {
    pub enum ReceiptKind {
        /// The message is on the visitor's device.
        Delivered = "delivered",
        /// The visitor has seen the message.
        Read = "read",
    }
}

/// When the message came so far. A message that was read is also delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiptTimes {
    pub delivered_at: Option<Timestamp>,
    pub read_at: Option<Timestamp>,
}

impl ReceiptTimes {
    /// Whether a receipt of this kind is already stored.
    pub fn include(self, kind: ReceiptKind) -> bool {
        match kind {
            ReceiptKind::Delivered => self.delivered_at.is_some(),
            ReceiptKind::Read => self.read_at.is_some(),
        }
    }
}
