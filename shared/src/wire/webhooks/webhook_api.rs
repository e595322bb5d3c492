//! The requests that the service sends to webhooks (specification, part C).

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::contract::Operation;
use crate::wire::webhooks::thin_event::ThinEvent;
use crate::wire::webhooks::webhook_event::{
    CallEvent, ChatAccepted, ChatAssigned, ChatFinished, ChatUpdated, OfflineMessage, OptInEvent, StatusChanged,
};
use crate::wire::webhooks::webhook_response::{WebhookPanelResponse, WebhookResult};

const ANY_2XX: &str = "Any other 2xx has the same meaning as 200. After any other response, the request is retried, with \
                       up to three attempts, three seconds apart.";

pub(crate) fn outgoing_operations() -> Vec<Operation> {
    let mut operations = specified_operations();
    operations.extend(OPT_IN_EVENTS.map(opt_in_operation));
    operations.extend(STATUS_EVENTS.map(status_operation));
    operations.push(thin_operation());
    operations
}

/// The names of the events that a webhook must name, their operations, and what they report.
const OPT_IN_EVENTS: [(&str, &str, &str); 12] = [
    ("chat_opened", "chatOpened", "A chat is opened; POST <webhook_url>"),
    ("chat_waiting", "chatWaiting", "A chat begins to wait for an agent; POST <webhook_url>"),
    ("bot_handed_over", "botHandedOver", "A bot hands its chat over, or loses it; POST <webhook_url>"),
    ("chat_joined", "chatJoined", "An agent gets a chat; POST <webhook_url>"),
    ("chat_transferred", "chatTransferred", "A chat is given to others; POST <webhook_url>"),
    ("answer_due_soon", "answerDueSoon", "An agent's answer is due soon; POST <webhook_url>"),
    ("chat_rated", "chatRated", "A visitor rates a chat; POST <webhook_url>"),
    ("chat_ended", "chatEnded", "A chat is closed, whoever took part; POST <webhook_url>"),
    ("message", "messageEvent", "The visitor, an agent or a bot writes; POST <webhook_url>"),
    ("delivery_failed", "deliveryFailed", "A message to a visitor is not delivered; POST <webhook_url>"),
    ("delivered_late", "deliveredLate", "A message is delivered after its failure; POST <webhook_url>"),
    ("visitor_blacklisted", "visitorBlacklisted", "An agent blacklists a visitor; POST <webhook_url>"),
];

const STATUS_EVENTS: [(&str, &str, &str); 2] = [
    ("agent_status_changed", "agentStatusChanged", "An agent has another status; POST <webhook_url>"),
    ("channel_status_changed", "channelStatusChanged", "A channel has another status; POST <webhook_url>"),
];

fn opt_in_operation((event, id, summary): (&'static str, &'static str, &'static str)) -> Operation {
    Operation::outgoing(event, id, summary)
        .describe(
            "Sent to webhooks that name the event. The specification's events do not change: an accepted chat sends \
             both chat_accepted and chat_joined.",
        )
        .body::<OptInEvent>()
        .example("event", "", opt_in_example(event))
        .answers_empty(200, "The body is ignored.")
        .answers_any_2xx(ANY_2XX)
}

fn status_operation((event, id, summary): (&'static str, &'static str, &'static str)) -> Operation {
    Operation::outgoing(event, id, summary)
        .describe(
            "Sent to webhooks that name the event, up to a minute after the change. A status that changes and changes \
             back within the minute is not reported.",
        )
        .body::<StatusChanged>()
        .example("event", "", status_example(event))
        .answers_empty(200, "The body is ignored.")
        .answers_any_2xx(ANY_2XX)
}

fn thin_operation() -> Operation {
    Operation::outgoing("thin_event", "thinEvent", "Any event, for a webhook with `body: thin`; POST <webhook_url>")
        .describe(
            "A webhook with `body: thin` gets this body in place of the full one of each event, including those of the \
             specification. It says what has happened where, without names, texts and contact details.",
        )
        .body::<ThinEvent>()
        .example(
            "event",
            "",
            json!({
                "event_name": "message", "widget_id": "ft3f9ss9z9hqx7d8", "chat_id": 17, "seq": 5,
                "timestamp": 1_790_331_234, "visitor": {"number": "2", "external_id": "u-1"},
                "message": {"id": "01a214d2-d7b1-7000-8000-04000000ab59", "seq": 4, "type": "visitor"},
            }),
        )
        .answers_empty(200, "Like that of the event.")
        .answers_any_2xx(ANY_2XX)
}

fn status_example(event: &str) -> Value {
    let agent = json!({"id": 1, "name": "Grace Hopper", "email": "grace@acme.example"});
    match event {
        "agent_status_changed" => {
            json!({"event_name": event, "seq": 8, "timestamp": 1_790_331_234, "agent": agent, "status": "away"})
        }
        _ => json!({
            "event_name": event, "seq": 9, "timestamp": 1_790_331_234, "widget_id": "ft3f9ss9z9hqx7d8", "status": "offline",
        }),
    }
}

#[rustfmt::skip]
fn opt_in_example(event: &str) -> Value {
    json!({"event_name": event, "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442071234567", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "seq": 2, "timestamp": 1790331234, "agent": null})
}

fn specified_operations() -> Vec<Operation> {
    vec![
Operation::outgoing("chat_accepted", "chatAccepted", "An agent accepted a chat; POST <webhook_url>")
    .describe("Sent when an agent accepts a chat. The response can contain data that the agent sees beside the chat.")
    .body::<ChatAccepted>()
    .example("widget", "A chat of a widget", json!({"event_name": "chat_accepted", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}}))
    .example("api", "A chat of an API channel", json!({"event_name": "chat_accepted", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3, "external_id": "u-1"}, "session": {"geoip": {"region_code": "", "country": "", "country_code": "", "region": "", "city": "", "latitude": "", "longitude": "", "organization": ""}, "utm": "", "utm_json": {"source": "", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "", "user_agent": ""}, "page": {"url": "https://shop.example/cart", "title": ""}, "analytics": null, "user_token": null, "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}}))
    .answers::<WebhookPanelResponse>(200, "Data for the agent's panel.")
    .answer_example("data", None, json!({"result": "OK", "custom_data": [{"title": "Order", "content": "No. 4711, shipped", "link": "https://crm.example/orders/4711"}], "contact_info": {"name": "Ada Lovelace", "email": "ada@example.com"}, "enable_assign": true, "crm_link": "https://crm.example/cards/17"}))
    .answers_any_2xx(ANY_2XX),
Operation::outgoing("chat_updated", "chatUpdated",
        "The visitor's data changed while an agent has the chat, or the rating changed after chat_finished; POST \
         <webhook_url>")
    .describe(
            "Sent when data about the visitor has changed while an agent has the chat, or when the visitor rated the \
             chat after chat_finished was sent.")
    .body::<ChatUpdated>()
    .example("data", "Data about the visitor has changed", json!({"event_name": "chat_updated", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}}))
    .example("rating", "The visitor has rated the chat after its end", json!({"event_name": "chat_updated", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}, "chat": {"rate": "positive"}}))
    .answers::<WebhookPanelResponse>(200, "Data for the agent's panel.")
    .answer_example("data", None, json!({"result": "OK", "custom_data": [{"title": "Order", "content": "No. 4711, delivered"}]}))
    .answers_any_2xx(ANY_2XX),
Operation::outgoing("chat_assigned", "chatAssigned", "The agent binds the visitor to a CRM card; POST <webhook_url>")
    .describe("Sent when an agent links the chat to the card of crm_link.")
    .body::<ChatAssigned>()
    .example("event", "", json!({"event_name": "chat_assigned", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}, "assign_to": "https://crm.example/cards/17"}))
    .answers::<WebhookResult>(200, "Whether the visitor was bound to the card.")
    .answer_example("linked", None, json!({"result": "OK"}))
    .answer_example("failed", None, json!({"result": "The card is closed"}))
    .answers_any_2xx(ANY_2XX),
Operation::outgoing("chat_finished", "chatFinished",
        "A chat that an agent accepted or closed has ended; POST <webhook_url>")
    .describe(
            "Sent when a chat is closed that an agent had accepted, or when an agent closes a chat. Contains the \
             conversation.")
    .body::<ChatFinished>()
    .example("event", "", json!({"event_name": "chat_finished", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "agents": [{"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}], "chat": {"messages": [{"message": "When are you open?", "timestamp": 1790331234, "type": "visitor"}, {"message": "From 9 to 5.", "timestamp": 1790331240, "type": "agent", "sender_type": "bot", "agent_id": 0}, {"message": "Here I am. How can I help?", "timestamp": 1790331300, "type": "agent", "sender_type": "agent", "agent_id": 1}], "rate": "positive", "blacklisted": false, "invitation": null, "beginning_missing": false}, "plain_messages": "Ada Lovelace: When are you open?\nShop bot: From 9 to 5.\nGrace Hopper: Here I am. How can I help?\n", "html_messages": "<p><b>Ada Lovelace:</b> When are you open?</p>\n<p><b>Shop bot:</b> From 9 to 5.</p>\n<p><b>Grace Hopper:</b> Here I am. How can I help?</p>\n"}))
    .answers::<WebhookResult>(200, "Whether the receiver accepted the event.")
    .answer_example("stored", None, json!({"result": "OK"}))
    .answers_any_2xx(ANY_2XX),
Operation::outgoing("call_event", "callEvent", "A call starts, changes or ends; POST <webhook_url>")
    .describe("Sent when a call starts and whenever its status changes.")
    .body::<CallEvent>()
    .example("start", "An agent is being called", json!({"event_name": "call_event", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}, "call": {"type": "callback", "phone": "+442079460102", "status": "start"}}))
    .example("end", "The call has ended", json!({"event_name": "call_event", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}, "call": {"type": "callback", "phone": "+442079460102", "status": "end", "record_url": "https://calls.example/records/17.mp3"}}))
    .example("error", "Nobody answered", json!({"event_name": "call_event", "chat_id": 17, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "department": {"id": 1, "name": "Sales"}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "agent": {"id": 1, "name": "Grace Hopper", "email": "grace@acme.example", "phone": "+442079460101"}, "call": {"type": "outgoing", "phone": "+442079460102", "status": "error", "reason": "no answer"}}))
    .answers_empty(200, "The body is ignored.")
    .answers_any_2xx(ANY_2XX),
Operation::outgoing("offline_message", "offlineMessage",
        "A visitor leaves a message while no agent is online; POST <webhook_url>")
    .describe("Sent when a visitor sends the offline form.")
    .body::<OfflineMessage>()
    .example("event", "", json!({"event_name": "offline_message", "chat_id": null, "widget_id": "ft3f9ss9z9hqx7d8", "visitor": {"number": "2", "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+442079460102", "description": "", "social": {}, "chats_count": 3}, "session": {"geoip": {"region_code": "ENG", "country": "United Kingdom", "country_code": "GB", "region": "England", "city": "London", "latitude": "51.50", "longitude": "-0.12", "organization": ""}, "utm": "source=newsletter", "utm_json": {"source": "newsletter", "campaign": "", "content": "", "medium": "", "term": ""}, "ip_addr": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "page": {"url": "https://shop.example/cart", "title": "Cart"}, "analytics": {"ga": "GA1.1.1203944.1790331", "ym": null}, "user_token": "3f7a9c51e0", "offline_message_id": "01a214d2-d7b1-7000-8000-04000000ab59", "message": "Please write to me tomorrow."}))
    .answers::<WebhookResult>(200, "Whether the receiver accepted the event.")
    .answer_example("stored", None, json!({"result": "OK"}))
    .answers_any_2xx(ANY_2XX),
Operation::outgoing("test", "webhookTest", "An admin tests the address; POST <webhook_url>")
    .describe("Sent by POST /admin/settings/webhooks/{webhook_id}/test without `event`.")
    .body::<WebhookTest>()
    .example("event", "", json!({"event_name": "test", "widget_id": ""}))
    .answers_empty(200, "The response is shown to the admin."),
    ]
}

/// The event that checks whether a webhook's URL works.
#[derive(Serialize, JsonSchema)]
pub struct WebhookTest {
    #[schemars(extend("const" = "test"))]
    event_name: &'static str,
    #[schemars(extend("const" = ""))]
    widget_id: &'static str,
}
