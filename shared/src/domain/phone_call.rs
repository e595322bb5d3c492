//! Calls as call_event tells of them (specification, C1). The telephony that makes them comes with its own endpoints.

/// Who calls whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub enum CallKind {
    Callback,
    Incoming,
    Outgoing,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub enum CallStatus {
    Start,
    AgentConnected,
    ClientConnected,
    /// With the address of the recording, when there is one.
    End(Option<String>),
    /// With the reason.
    Error(String),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who calls whom.
    pub kind: CallKind,
    /// The visitor's number.
    pub phone: String,
    /// How far it is.
    pub status: CallStatus,
}

impl CallKind {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Callback => "callback",
            Self::Incoming => "incoming",
            Self::Outgoing => "outgoing",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Callback, Self::Incoming, Self::Outgoing].into_iter().find(|kind| kind.name() == name)
    }
}

impl CallStatus {
    /// The wire and storage name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::AgentConnected => "agent_connected",
            Self::ClientConnected => "client_connected",
            Self::End(_) => "end",
            Self::Error(_) => "error",
        }
    }

    /// The status of that name, with what it is defined together with.
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

    /// Why it failed.
    pub fn reason(&self) -> Option<&str> {
        if let Self::Error(reason) = self { Some(reason) } else { None }
    }

    /// Where the recording is.
    pub fn record_url(&self) -> Option<&str> {
        if let Self::End(url) = self { url.as_deref() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_statuses_and_kinds_are_a_bijection() {
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
