//! Web Push: notifications that an agent's browser shows while the console is closed (RFC 8030).

use std::collections::BTreeSet;

use crate::domain::timestamp::Timestamp;

/// The size of an uncompressed point of the curve P-256.
pub const PUBLIC_KEY_BYTES: usize = 65;
pub const AUTH_SECRET_BYTES: usize = 16;

/// A browser that gets notifications. It belongs to a session and gets none once the session has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPushSubscription {
    pub account_id: String,
    pub agent_id: u64,
    pub session_id: String,
    /// The address at the browser's push service. Whoever knows it can reach the browser, so it is a secret.
    pub endpoint: String,
    pub keys: BrowserKeys,
    /// Whether notifications contain names and texts.
    pub shows_text: bool,
    /// Whether the agent is also notified of chats that wait for an agent.
    pub notifies_of_waiting: bool,
    /// Where the push service finds out who sends the notifications.
    pub contact: String,
    /// The chats of which the browser was notified and whose notification was not withdrawn.
    pub notified_chats: BTreeSet<u64>,
    pub expires_at: Timestamp,
}

/// What a browser needs to decrypt its notifications (RFC 8291, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrowserKeys {
    pub public_key: [u8; PUBLIC_KEY_BYTES],
    pub auth: [u8; AUTH_SECRET_BYTES],
}

/// The key pair with which an account signs its requests to push services (VAPID, RFC 8292). A browser accepts
/// notifications only from the key with which it has subscribed.
#[derive(Clone, PartialEq, Eq)]
pub struct WebPushKey {
    /// PKCS #8.
    pub private_key: Vec<u8>,
    pub public_key: Vec<u8>,
}
