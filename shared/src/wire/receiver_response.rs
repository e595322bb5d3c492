//! The uninterpreted HTTP response of a receiver: an integrator, a bot provider or a webhook.

pub struct ReceiverResponse {
    pub status: u16,
    /// Truncated to the limit of the outbound client.
    pub body: Vec<u8>,
}
