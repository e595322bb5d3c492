//! The HTTP response of a receiver, such as an integrator or a webhook, before it is interpreted.

pub struct ReceiverResponse {
    pub status: u16,
    /// The body. It is truncated to the size limit of the outbound client.
    pub body: Vec<u8>,
}
