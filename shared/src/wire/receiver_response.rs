//! The HTTP response of a receiver (an integrator, a bot provider or a webhook) before its interpretation.

pub struct ReceiverResponse {
    pub status: u16,
    /// The body, truncated to the size limit of the outbound client.
    pub body: Vec<u8>,
}
