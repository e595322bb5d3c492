//! The channels of the AsyncAPI document: the sockets (docs/sockets.md), and the addresses that the service calls.

use crate::contract::{Channel, Message};
use crate::wire::bots::bot_event::BotEvent;
use crate::wire::calls::call_gateway::CallOrder;
use crate::wire::channels::integrator_request::IntegratorMessage;
use crate::wire::push::{
    AgentTypingPush, ChangesPush, ChatGonePush, ChatRowPush, EntryPush, PanelPush, PresencePush, SettingsPush,
    ViewersPush, VisitorPush, WidgetCallPush, WidgetChatPush, WidgetGrowingPush, WidgetMessagePush, WidgetModePush,
    WidgetSeenPush, WidgetTypingPush,
};
use crate::wire::sockets::socket_frame::{
    AgentSeenFrame, AgentSubscribeFrame, AgentTypingFrame, ErrorFrame, PingFrame, PongFrame, SubscribedFrame,
    VisitorStopFrame, VisitorTypingFrame,
};
use crate::wire::webhooks::webhook_api::WebhookTest;
use crate::wire::webhooks::webhook_event::{
    CallEvent, ChatAccepted, ChatAssigned, ChatFinished, ChatUpdated, OfflineMessage,
};

/// Returns the channels of the AsyncAPI document: both sockets, and the addresses that the service calls.
pub fn channels() -> Vec<Channel> {
    vec![
        Channel::new(
            "AgentSocket",
            "sockets",
            "/",
            "The socket of an agent's client. The query parameter ticket is from POST /agent/socket-ticket.",
        )
        .receives(vec![
            Message::of::<PingFrame>("AgentPing", "Keeps the session and the agent's presence alive"),
            Message::of::<AgentTypingFrame>("AgentTyping", "The agent has started or stopped typing"),
            Message::of::<AgentSeenFrame>("AgentSeen", "The agent has seen the messages of a chat up to a number"),
            Message::of::<AgentSubscribeFrame>("AgentSubscribe", "The client says what it shows"),
        ])
        .sends(vec![
            Message::of::<PongFrame>("AgentPong", "The response to a ping"),
            Message::of::<SubscribedFrame>("AgentSubscribed", "The response to a subscription"),
            Message::of::<ErrorFrame>("AgentFrameRejected", "A frame was rejected"),
            Message::of::<EntryPush>("EntryPush", "An entry is new or has changed"),
            Message::of::<ChatRowPush>("ChatRowPush", "The row of a chat is new or has changed"),
            Message::of::<ChatGonePush>("ChatGonePush", "The agent cannot see the chat any more"),
            Message::of::<ChangesPush>("ChangesPush", "The lists that the client shows have changed"),
            Message::of::<PanelPush>("PanelPush", "A webhook has changed the panel"),
            Message::of::<VisitorPush>("VisitorPush", "The data of a visitor has changed"),
            Message::of::<AgentTypingPush>("TypingPush", "The visitor or a colleague has started or stopped typing"),
            Message::of::<ViewersPush>(
                "ViewersPush",
                "Other agents have opened or left the chat that the client shows",
            ),
            Message::of::<PresencePush>("PresencePush", "An agent has a new status"),
            Message::of::<SettingsPush>("SettingsPush", "Settings of the account have changed"),
        ]),
        Channel::new(
            "VisitorSocket",
            "sockets",
            "/",
            "The socket of a widget. The query parameter ticket is from POST /widget/{widget_id}/socket-ticket.",
        )
        .receives(vec![
            Message::of::<PingFrame>("WidgetPing", "Keeps the socket open"),
            Message::of::<VisitorTypingFrame>("WidgetTyping", "The visitor has started or stopped typing"),
            Message::of::<VisitorStopFrame>("WidgetStop", "The visitor stops the answer that the bot is writing"),
        ])
        .sends(vec![
            Message::of::<PongFrame>("WidgetPong", "The response to a ping"),
            Message::of::<ErrorFrame>("WidgetFrameRejected", "A frame was rejected"),
            Message::of::<WidgetMessagePush>("WidgetMessagePush", "An agent or the bot has written"),
            Message::of::<WidgetChatPush>("WidgetChatPush", "The chat's state, agent or rating has changed"),
            Message::of::<WidgetCallPush>("WidgetCallPush", "A call is new or has a new status"),
            Message::of::<WidgetTypingPush>("WidgetTypingPush", "The agent or the bot has started or stopped typing"),
            Message::of::<WidgetGrowingPush>("WidgetGrowingPush", "The answer that the bot is writing has grown"),
            Message::of::<WidgetSeenPush>("WidgetSeenPush", "The agent has seen the visitor's messages"),
            Message::of::<WidgetModePush>(
                "WidgetModePush",
                "The first agent has come online, or the last one has gone",
            ),
        ]),
        Channel::new(
            "Integrator",
            "customer",
            "{integrator_url}/{channel_id}",
            "POST of a message or a typing notice to the integrator's server (specification, A-3).",
        )
        .sends(vec![Message::of::<IntegratorMessage>("IntegratorMessage", "A message or a typing notice")]),
        Channel::new(
            "BotProvider",
            "customer",
            "{endpoint}/{token}",
            "POST of an event to the bot provider (specification, B-2).",
        )
        .sends(vec![Message::of::<BotEvent>("BotEvent", "A visitor has written, or the chat's owner has changed")]),
        Channel::new("Webhook", "customer", "{webhook_url}", "POST of an event to a webhook (specification, part C).")
            .sends(vec![
                Message::of::<ChatAccepted>("ChatAccepted", "An agent has accepted a chat"),
                Message::of::<ChatUpdated>("ChatUpdated", "The visitor's data or the rating has changed"),
                Message::of::<ChatAssigned>("ChatAssigned", "The agent binds the visitor to a CRM card"),
                Message::of::<ChatFinished>("ChatFinished", "A chat has ended"),
                Message::of::<CallEvent>("CallEvent", "A call starts, changes or ends"),
                Message::of::<OfflineMessage>(
                    "OfflineMessage",
                    "A visitor has left a message while no agent was online",
                ),
                Message::of::<WebhookTest>("WebhookTest", "An admin tests the address"),
            ]),
        Channel::new(
            "CallGateway",
            "customer",
            "{url}",
            "POST of an order to the gateway for phone calls (docs/telephony.md).",
        )
        .sends(vec![Message::of::<CallOrder>("CallOrder", "The gateway shall place a call")]),
    ]
}
