//! The status of a call.

use crate::domain::calls::phone_call::failure::CallFailure;

/// The status of a call (specification, table C1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallStatus {
    Start,
    AgentConnected,
    ClientConnected,
    /// The field contains the URL of the recording, if there is one.
    End(Option<String>),
    Error(CallFailure),
}

impl CallStatus {
    /// Returns the name of this value in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::AgentConnected => "agent_connected",
            Self::ClientConnected => "client_connected",
            Self::End(_) => "end",
            Self::Error(_) => "error",
        }
    }

    /// Creates a status from its name and the fields that accompany it: `reason` for `error`, and `record_url` for
    /// `end`.
    pub fn parse(name: &str, reason: Option<String>, record_url: Option<String>) -> Option<Self> {
        Some(match name {
            "start" => Self::Start,
            "agent_connected" => Self::AgentConnected,
            "client_connected" => Self::ClientConnected,
            "end" => Self::End(record_url),
            "error" => Self::Error(CallFailure::parse(reason.unwrap_or_default())),
            _ => return None,
        })
    }

    pub fn reason(&self) -> Option<&str> {
        if let Self::Error(failure) = self { Some(failure.text()) } else { None }
    }

    pub fn record_url(&self) -> Option<&str> {
        if let Self::End(url) = self { url.as_deref() } else { None }
    }

    pub fn is_final(&self) -> bool {
        matches!(self, Self::End(_) | Self::Error(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::calls::phone_call::call::CallKind;

    #[test]
    fn names_round_trip() {
        let statuses = [
            CallStatus::Start,
            CallStatus::AgentConnected,
            CallStatus::ClientConnected,
            CallStatus::End(Some("https://x.example/1.mp3".to_owned())),
            CallStatus::End(None),
            CallStatus::Error(CallFailure::Reported("busy".to_owned())),
            CallStatus::Error(CallFailure::NotPlaced),
        ];
        for status in statuses {
            let (reason, url) = (status.reason().map(str::to_owned), status.record_url().map(str::to_owned));
            assert_eq!(CallStatus::parse(status.name(), reason, url), Some(status));
        }
        for kind in [CallKind::Callback, CallKind::Incoming, CallKind::Outgoing] {
            assert_eq!(CallKind::parse(kind.name()), Some(kind));
        }
        assert_eq!((CallKind::parse("other"), CallStatus::parse("other", None, None)), (None, None));
    }
}
