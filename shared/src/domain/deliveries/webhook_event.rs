//! The events that webhooks receive (specification, Events).

use crate::domain::named::named;

named! {
    #[derive(PartialOrd, Ord)]
    pub enum WebhookEvent {
        AgentStatusChanged = "agent_status_changed",
        /// The time limit for an agent's answer is nearly over.
        AnswerDueSoon = "answer_due_soon",
        /// A bot has handed its chat over, or lost it because it failed.
        BotHandedOver = "bot_handed_over",
        CallEvent = "call_event",
        ChannelStatusChanged = "channel_status_changed",
        ChatAccepted = "chat_accepted",
        ChatAssigned = "chat_assigned",
        /// The chat is closed, whoever took part. The name chat_closed belongs to an event of bots.
        ChatEnded = "chat_ended",
        ChatFinished = "chat_finished",
        /// An agent has the chat. The name agent_joined belongs to an event of bots.
        ChatJoined = "chat_joined",
        ChatOpened = "chat_opened",
        ChatRated = "chat_rated",
        /// The chat was given to another agent, a department or a bot.
        ChatTransferred = "chat_transferred",
        ChatUpdated = "chat_updated",
        /// The chat waits for an agent.
        ChatWaiting = "chat_waiting",
        /// A message whose delivery had failed has reached the integrator of the visitor after all.
        DeliveredLate = "delivered_late",
        /// A message could not be delivered to the integrator of the visitor.
        DeliveryFailed = "delivery_failed",
        /// The visitor, an agent or a bot has written.
        Message = "message",
        OfflineMessage = "offline_message",
        VisitorBlacklisted = "visitor_blacklisted",
    }
}

impl WebhookEvent {
    /// Whether only webhooks that name the event get it. The others are the specification's events.
    pub fn must_be_named(self) -> bool {
        match self {
            Self::CallEvent
            | Self::ChatAccepted
            | Self::ChatAssigned
            | Self::ChatFinished
            | Self::ChatUpdated
            | Self::OfflineMessage => false,
            Self::AgentStatusChanged
            | Self::AnswerDueSoon
            | Self::ChannelStatusChanged
            | Self::ChatJoined
            | Self::BotHandedOver
            | Self::ChatEnded
            | Self::ChatOpened
            | Self::ChatRated
            | Self::ChatTransferred
            | Self::ChatWaiting
            | Self::DeliveredLate
            | Self::DeliveryFailed
            | Self::Message
            | Self::VisitorBlacklisted => true,
        }
    }

    /// Whether the event belongs to no chat.
    pub fn is_about_account(self) -> bool {
        matches!(self, Self::AgentStatusChanged | Self::ChannelStatusChanged)
    }

    /// Whether the body contains a message of the chat.
    pub fn is_about_message(self) -> bool {
        matches!(self, Self::DeliveredLate | Self::DeliveryFailed | Self::Message)
    }

    /// Whether failed events are attempted again during an outage. The agent has seen that a chat was not assigned, and
    /// may have assigned it in another way.
    pub fn is_attempted_late(self) -> bool {
        self != Self::ChatAssigned
    }

    /// Whether a response to this event can contain panel data (docs/decisions.md, Webhooks).
    pub fn accepts_panel_data(self) -> bool {
        matches!(self, Self::ChatAccepted | Self::ChatUpdated)
    }
}
