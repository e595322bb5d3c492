//! The events that webhooks receive (specification, Events).

use crate::domain::named::named;

named! {
    #[derive(PartialOrd, Ord)]
    pub enum WebhookEvent {
        CallEvent = "call_event",
        ChatAccepted = "chat_accepted",
        ChatAssigned = "chat_assigned",
        ChatFinished = "chat_finished",
        ChatUpdated = "chat_updated",
        OfflineMessage = "offline_message",
    }
}

impl WebhookEvent {
    /// Whether a response to this event can contain panel data (docs/decisions.md, Webhooks).
    pub fn accepts_panel_data(self) -> bool {
        matches!(self, Self::ChatAccepted | Self::ChatUpdated)
    }
}
