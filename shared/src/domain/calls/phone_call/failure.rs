//! Why a call has failed.

/// The reason for which a call has failed, see [`text`](Self::text).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// Found by the service or reported by the provider, like the next one.
    NoAnswerFromAgent,
    NoAnswerFromClient,
    NoAgentAvailable,
    /// The provider has not accepted the call.
    NotPlaced,
    /// The provider has not reported the end of the call.
    NotReported,
    /// The provider has reported another reason.
    Reported(String),
}

impl CallFailure {
    /// Returns the reason in the APIs and in stored items.
    pub fn text(&self) -> &str {
        match self {
            Self::NoAnswerFromAgent => "no answer from the agent",
            Self::NoAnswerFromClient => "no answer from the client",
            Self::NoAgentAvailable => "no agent is available",
            Self::NotPlaced => "the call could not be placed",
            Self::NotReported => "the provider did not report the end of the call",
            Self::Reported(reason) => reason,
        }
    }

    /// Returns the failure with this text.
    pub fn parse(text: String) -> Self {
        let own = [
            Self::NoAnswerFromAgent,
            Self::NoAnswerFromClient,
            Self::NoAgentAvailable,
            Self::NotPlaced,
            Self::NotReported,
        ];
        own.into_iter().find(|failure| failure.text() == text).unwrap_or(Self::Reported(text))
    }

    /// Whether a conversation that the provider reports later overrides the failure: a report was missing, or nobody
    /// seemed to answer.
    pub fn is_refutable(&self) -> bool {
        match self {
            Self::NoAnswerFromAgent | Self::NoAnswerFromClient | Self::NotPlaced | Self::NotReported => true,
            Self::NoAgentAvailable | Self::Reported(_) => false,
        }
    }
}
