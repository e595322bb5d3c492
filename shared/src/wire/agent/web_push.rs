//! The endpoint of the notifications that an agent's browser shows while the console is closed (Web Push).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::accounts::web_push::{
    AUTH_SECRET_BYTES, BrowserKeys, PUBLIC_KEY_BYTES, WebPushKey, WebPushSubscription,
};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::error::Error;
use crate::store::connections::sessions::Session;
use crate::wire::fields::urls::ReceiverUrl;
use crate::wire::fields::values::{Optional, Text, True};

const MAX_KEY_CHARS: usize = 128;
/// The first byte of an uncompressed point.
const UNCOMPRESSED_POINT: u8 = 4;

pub(super) fn operations() -> Vec<Operation> {
    const PATH: &str = "/agent/web-push";
    vec![
        Operation::get(PATH, "webPush", "Shows whether this session's browser gets notifications")
            .describe("A browser subscribes with `public_key` as its `applicationServerKey`.")
            .answers::<WebPush>(200, "The account's key and the browser of the session."),
        Operation::put(PATH, "subscribeWebPush", "Notifies this session's browser while the console is closed")
            .describe(
                "The body contains what `PushManager.subscribe` returns. The browser is notified of messages in the \
                 agent's chats and, unless `notifies_of_waiting` is false, of chats that wait for an agent and that \
                 the agent sees. A notification that a colleague makes pointless is withdrawn. The subscription ends \
                 with the session. A notification is sent once; if the push service does not accept it within a \
                 second, it is lost.",
            )
            .body::<NewWebPushSubscription>()
            .answers::<WebPush>(200, "The browser is notified from now on.")
            .never_fails(Failure::Conflict),
        Operation::delete(PATH, "unsubscribeWebPush", "Ends the notifications of this session's browser")
            .describe("Does nothing if the browser gets none.")
            .answers::<UnsubscribedWebPush>(200, "The browser gets no further notifications."),
    ]
}

/// A browser's subscription.
#[derive(Deserialize, JsonSchema)]
pub struct NewWebPushSubscription {
    /// The address at the browser's push service.
    endpoint: ReceiverUrl,
    keys: SubscriptionKeys,
    /// Whether notifications contain the visitor's name and the beginning of the message. Default: true.
    #[schemars(extend("default" = true))]
    shows_text: Option<bool>,
    /// Whether the agent is also notified of chats that wait for an agent. Default: true.
    #[schemars(extend("default" = true))]
    notifies_of_waiting: Option<bool>,
}

/// The keys of a subscription in URL-safe base64.
#[derive(Deserialize, JsonSchema)]
struct SubscriptionKeys {
    /// The browser's public key: an uncompressed point of the curve P-256.
    p256dh: Text<MAX_KEY_CHARS>,
    /// A secret of 16 bytes.
    auth: Text<MAX_KEY_CHARS>,
}

impl SubscriptionKeys {
    fn checked(&self) -> Result<BrowserKeys, Error> {
        let public_key: [u8; PUBLIC_KEY_BYTES] = decode(&self.p256dh.0)
            .filter(|key: &[u8; PUBLIC_KEY_BYTES]| key.first() == Some(&UNCOMPRESSED_POINT))
            .ok_or_else(|| Error::field("keys.p256dh", "must be an uncompressed point of P-256 in URL-safe base64"))?;
        let auth: [u8; AUTH_SECRET_BYTES] =
            decode(&self.auth.0).ok_or_else(|| Error::field("keys.auth", "must be 16 bytes in URL-safe base64"))?;
        Ok(BrowserKeys { public_key, auth })
    }
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?.try_into().ok()
}

impl NewWebPushSubscription {
    /// Returns the subscription of the session's browser. `contact` is where the push service finds out who sends the
    /// notifications. Fails if the SSRF guard forbids the endpoint.
    pub fn of_session(
        self,
        session: Session,
        contact: String,
        guard: &SsrfGuard,
    ) -> Result<WebPushSubscription, Error> {
        Ok(WebPushSubscription {
            endpoint: self.endpoint.checked("endpoint", guard)?,
            keys: self.keys.checked()?,
            account_id: session.account_id,
            agent_id: session.agent.agent_id,
            session_id: session.id,
            shows_text: self.shows_text.unwrap_or(true),
            notifies_of_waiting: self.notifies_of_waiting.unwrap_or(true),
            contact,
            notified_chats: std::collections::BTreeSet::new(),
            expires_at: session.ends_at,
        })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct WebPush {
    /// An uncompressed point of the curve P-256 in URL-safe base64.
    #[schemars(length(equal = 87))]
    public_key: String,
    /// Absent if the session's browser gets no notifications.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    subscription: Optional<WebPushOptions>,
}

#[derive(Serialize, JsonSchema)]
struct WebPushOptions {
    shows_text: bool,
    notifies_of_waiting: bool,
}

impl WebPush {
    pub fn new(key: &WebPushKey, subscription: Option<&WebPushSubscription>) -> Self {
        let options = |subscription: &WebPushSubscription| WebPushOptions {
            shows_text: subscription.shows_text,
            notifies_of_waiting: subscription.notifies_of_waiting,
        };
        Self { public_key: URL_SAFE_NO_PAD.encode(&key.public_key), subscription: Optional(subscription.map(options)) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct UnsubscribedWebPush {
    pub unsubscribed: True,
}
