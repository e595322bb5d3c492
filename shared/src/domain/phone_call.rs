//! Phone calls, which are reported to webhooks as call_event events (specification, table C1).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    Callback,
    Incoming,
    Outgoing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallStatus {
    Start,
    AgentConnected,
    ClientConnected,
    /// The call has ended. The field contains the URL of the recording, if there is one.
    End(Option<String>),
    /// The call failed. The field contains the reason.
    Error(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneCall {
    pub kind: CallKind,
    /// The phone number of the visitor.
    pub phone: String,
    pub status: CallStatus,
}

impl CallKind {
    /// The name of this value in the APIs and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Callback => "callback",
            Self::Incoming => "incoming",
            Self::Outgoing => "outgoing",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Callback, Self::Incoming, Self::Outgoing].into_iter().find(|kind| kind.name() == name)
    }
}

impl CallStatus {
    /// The name of this value in the APIs and in stored items.
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
            "error" => Self::Error(reason.unwrap_or_default()),
            _ => return None,
        })
    }

    pub fn reason(&self) -> Option<&str> {
        if let Self::Error(reason) = self { Some(reason) } else { None }
    }

    pub fn record_url(&self) -> Option<&str> {
        if let Self::End(url) = self { url.as_deref() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let url = Some("https://x.example/1.mp3".to_owned());
        let statuses = [
            CallStatus::Start,
            CallStatus::AgentConnected,
            CallStatus::ClientConnected,
            CallStatus::End(url),
            CallStatus::End(None),
            CallStatus::Error("busy".to_owned()),
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
