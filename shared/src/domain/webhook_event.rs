//! The events that webhooks receive (specification, Events).

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WebhookEvent {
    CallEvent,
    ChatAccepted,
    ChatAssigned,
    ChatFinished,
    ChatUpdated,
    OfflineMessage,
}

impl WebhookEvent {
    pub const ALL: [Self; 6] = [
        Self::CallEvent,
        Self::ChatAccepted,
        Self::ChatAssigned,
        Self::ChatFinished,
        Self::ChatUpdated,
        Self::OfflineMessage,
    ];

    /// The name of this event in stored items and in the `event_name` field of the APIs.
    pub fn name(self) -> &'static str {
        match self {
            Self::CallEvent => "call_event",
            Self::ChatAccepted => "chat_accepted",
            Self::ChatAssigned => "chat_assigned",
            Self::ChatFinished => "chat_finished",
            Self::ChatUpdated => "chat_updated",
            Self::OfflineMessage => "offline_message",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether a response to this event can contain panel data (docs/decisions.md, Webhooks).
    pub fn accepts_panel_data(self) -> bool {
        matches!(self, Self::ChatAccepted | Self::ChatUpdated)
    }
}
