//! Receipt handles: which receive of which message. They are opaque to callers, as on AWS.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::super::{Error, QueueDefinition};

/// One receive of one message. Ids are never used twice and the count grows with every receive, so
/// the pair is unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) id: i64,
    pub(super) receive_count: u32,
}

impl Receipt {
    pub(super) fn to_handle(self, queue: &QueueDefinition) -> String {
        let text = format!("{}/{}/{}", queue.name, self.id, self.receive_count);
        URL_SAFE_NO_PAD.encode(text)
    }

    /// Reads a handle of this queue; one of another queue is as invalid as an invented one.
    pub(super) fn from_handle(queue: &QueueDefinition, handle: &str) -> Result<Self, Error> {
        Self::parse(queue, handle).ok_or(Error::ReceiptHandleIsInvalid)
    }

    fn parse(queue: &QueueDefinition, handle: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(handle).ok()?).ok()?;
        let rest = text.strip_prefix(&queue.name)?.strip_prefix('/')?;
        let (id, receive_count) = rest.split_once('/')?;
        Some(Self { id: id.parse().ok()?, receive_count: receive_count.parse().ok()? })
    }
}
