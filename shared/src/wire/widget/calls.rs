//! Callbacks: the visitor asks whether and that an agent calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::calls::phone_call::CallKind;
use crate::domain::channels::callback_availability::CallbackAvailability;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::wire::agent::{CallStatus, PhoneNumber};
use crate::wire::fields::values::{Name, OptionalText, SequentialNumber, Text};
use crate::wire::widget::fields::{MAX_CONTACT_CHARS, MAX_TOKEN_CHARS};
use crate::wire::widget::{BrowserPage, SAMPLE_TOKEN, VisitorToken, WidgetMessageId};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post(
            "/widget/{widget_id}/callback",
            "checkCallback",
            "Whether the visitor can ask for a callback now",
        )
        .describe(
            "Callback disabled: an admin has disabled callbacks, or the account has no telephony provider. Callback \
             unavaiable: it is outside the working hours, the balance is used up, no agent with a phone number is \
             online, or a call is in progress.",
        )
        .body::<CallbackRequest>()
        .example("unknown", "", json!({}))
        .example("visitor", "", json!({ "token": SAMPLE_TOKEN }))
        .answers::<CallbackResult>(200, "The availability.")
        .answer_example("possible", None, json!({ "result": "ok" }))
        .answer_example("outside_hours", None, json!({ "result": "fail", "reason": "Callback unavaiable" })),
        Operation::post(
            "/widget/{widget_id}/call",
            "startCallback",
            "Starts a callback: an agent is called first, and then the visitor",
        )
        .describe(
            "The call is stored in the visitor's open chat, or opens a new one, which starts with the widget's bot if \
             there is one. The bot gets a CLIENT_MESSAGE with the phone number. If the result is fail, nothing is \
             stored.",
        )
        .body::<WidgetCallRequest>()
        .example(
            "call",
            "",
            json!({
                "token": SAMPLE_TOKEN, "message_id": "0c1b7a52-0d0e-4f0e-9a53-1f6f1d2c9b13", "phone": "+442079460102",
                "page": { "url": "https://shop.example/cart", "title": "Cart" },
            }),
        )
        .answers::<WidgetCallResult>(200, "The call, or the reason why none was started.")
        .fails(&[Failure::IdempotencyKeyReused]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct CallbackRequest {
    /// The token that session has returned, if the browser has one.
    #[serde(default)]
    pub token: OptionalText<MAX_TOKEN_CHARS>,
}

/// Whether a callback is possible (specification, part D, isCallbackEnabled).
#[derive(Serialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CallbackResult {
    Ok,
    Fail { reason: CallbackFailure },
}

/// The spelling is that of the specification.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub enum CallbackFailure {
    #[serde(rename = "Callback disabled")]
    Disabled,
    #[serde(rename = "Callback unavaiable")]
    Unavailable,
}

impl CallbackFailure {
    fn of(availability: CallbackAvailability) -> Option<Self> {
        match availability {
            CallbackAvailability::Available => None,
            CallbackAvailability::Disabled => Some(Self::Disabled),
            CallbackAvailability::Unavailable => Some(Self::Unavailable),
        }
    }
}

impl From<CallbackAvailability> for CallbackResult {
    fn from(availability: CallbackAvailability) -> Self {
        CallbackFailure::of(availability).map_or(Self::Ok, |reason| Self::Fail { reason })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct WidgetCallRequest {
    pub token: VisitorToken,
    pub message_id: WidgetMessageId,
    /// A number without a country code is read as a number of the same country as the account's own number.
    pub phone: Text<MAX_CONTACT_CHARS>,
    pub page: Option<BrowserPage>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum WidgetCallResult {
    Ok { chat_id: SequentialNumber, seq: SequentialNumber, call: WidgetCall },
    Fail { reason: CallbackFailure },
}

impl WidgetCallResult {
    /// Returns `None` if the entry is not a call.
    pub fn started(entry: &TimelineEntry) -> Option<Self> {
        let (chat_id, seq) = (SequentialNumber(entry.chat_id), SequentialNumber(entry.seq));
        Some(Self::Ok { chat_id, seq, call: WidgetCall::new(entry)? })
    }

    /// No call was started, even if callbacks were available before.
    pub fn not_started(availability: CallbackAvailability) -> Self {
        Self::Fail { reason: CallbackFailure::of(availability).unwrap_or(CallbackFailure::Unavailable) }
    }
}

/// A call as the visitor sees it.
#[derive(Clone, PartialEq, Serialize, JsonSchema)]
pub struct WidgetCall {
    r#type: Name<CallKind>,
    phone: PhoneNumber,
    status: CallStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    reason: Option<String>,
}

impl WidgetCall {
    /// Returns `None` if the entry is not a call.
    pub fn new(entry: &TimelineEntry) -> Option<Self> {
        let call = entry.content.call()?;
        Some(Self {
            r#type: Name(call.kind),
            phone: PhoneNumber(call.phone.clone()),
            status: (&call.status).into(),
            reason: call.status.reason().map(str::to_owned),
        })
    }
}
