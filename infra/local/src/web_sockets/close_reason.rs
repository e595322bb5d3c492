//! Why a connection ends: the status code and text of the close frame and of the `$disconnect` event.

use tokio_tungstenite::tungstenite::error::{Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// The client closed the connection. `None` stands for an empty close frame.
    Client(Option<CloseFrame>),
    /// The TCP connection ended without a close frame.
    ConnectionLost,
    ProtocolError,
    /// The client sent a binary message. As in API Gateway, only text is accepted.
    BinaryMessage,
    InvalidText,
    MessageTooLarge,
    /// A function closed the connection.
    Deleted,
    /// The connection was idle or open for too long, or the host is stopping.
    GoingAway,
}

impl CloseReason {
    pub fn of_error(error: &Error) -> Self {
        match error {
            Error::Capacity(_) => Self::MessageTooLarge,
            Error::Utf8(_) => Self::InvalidText,
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::ConnectionLost,
            Error::Protocol(_) => Self::ProtocolError,
            Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Io(_)
            | Error::Tls(_)
            | Error::WriteBufferFull(_)
            | Error::AttackAttempt
            | Error::Url(_)
            | Error::Http(_)
            | Error::HttpFormat(_) => Self::ConnectionLost,
        }
    }

    pub fn status_code(&self) -> u16 {
        match self {
            Self::Client(Some(frame)) => frame.code.into(),
            Self::Client(None) => 1005,
            Self::ConnectionLost => 1006,
            Self::ProtocolError => 1002,
            Self::BinaryMessage => 1003,
            Self::InvalidText => 1007,
            Self::MessageTooLarge => 1009,
            Self::Deleted => 1000,
            Self::GoingAway => 1001,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Client(Some(frame)) => &frame.reason,
            Self::Client(None) => "Client-side close frame status not set",
            Self::ConnectionLost => "Connection lost",
            Self::ProtocolError => "Protocol error",
            Self::BinaryMessage => "Binary messages are not supported",
            Self::InvalidText => "Invalid UTF-8",
            Self::MessageTooLarge => "Message too big",
            Self::Deleted => "Connection Closed Normally",
            Self::GoingAway => "Going away",
        }
    }

    /// Returns the close frame for the client, or `None` if the client closed the connection or is gone.
    pub fn frame_to_send(&self) -> Option<CloseFrame> {
        match self {
            Self::Client(_) | Self::ConnectionLost => None,
            Self::ProtocolError
            | Self::BinaryMessage
            | Self::InvalidText
            | Self::MessageTooLarge
            | Self::Deleted
            | Self::GoingAway => {
                Some(CloseFrame { code: self.status_code().into(), reason: Utf8Bytes::from(self.text()) })
            }
        }
    }
}
