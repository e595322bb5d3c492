//! What a receiver answered, before anybody has read it.

/// An HTTP answer; the body as far as it was read.
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, of a long one the beginning.
    pub body: Vec<u8>,
}
