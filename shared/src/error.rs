//! What can go wrong, independent of how it is told. The public text and the internal context are
//! different fields: the context goes to the log, never to a caller.

use std::time::Duration;

use crate::domain::chat_state::Refusal;

/// A refused or failed request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller sent something wrong; `message` says what and names `field`.
    #[error("{message}")]
    #[allow(missing_docs, reason = "said above")]
    Invalid { field: Option<String>, message: String },
    /// Wrong e-mail or password; which of them is not told.
    #[error("e-mail or password is wrong")]
    InvalidCredentials,
    /// B-1: no bot of the provider has this token.
    #[error("the token is not known")]
    InvalidClient,
    /// B-1: the provider's `Authorization` header is missing or wrong.
    #[error("the Authorization header is missing or wrong")]
    UnauthorizedClient,
    /// No bearer token, or one that is not valid any more.
    #[error("a valid bearer token is required")]
    Unauthorized,
    /// Known, but not allowed; why.
    #[error("{0}")]
    Forbidden(&'static str),
    /// There is no such thing, or it belongs to somebody else.
    #[error("not found")]
    NotFound,
    /// The endpoint does not take this method; the ones it takes.
    #[error("only {0} is allowed here")]
    MethodNotAllowed(&'static str),
    /// B-1: not an event that a provider sends; the ones it may send.
    #[error("event must be one of {0}")]
    EventNotSupported(&'static str),
    /// Any of the others, told as the Bot API tells it.
    #[error("{0}")]
    Bot(Box<Error>),
    /// The state of things does not allow it; why.
    #[error("{0}")]
    Conflict(&'static str),
    /// The `Idempotency-Key` came before, with another body.
    #[error("the Idempotency-Key was used before with another body; a new message needs a new key")]
    IdempotencyMismatch,
    /// The body is over the limit, in bytes.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// the admin has switched the channel off.
    #[error("the channel is switched off")]
    ChannelDisabled,
    /// the channel has opened too many chats; when to come back.
    #[error("too many new chats on this channel")]
    TooManyChats(Duration),
    /// Too many requests; when to come back.
    #[error("too many requests")]
    RateLimited(Duration),
    /// A service we need does not answer; worth another try.
    #[error("temporarily unavailable")]
    Unavailable(Context),
    /// A table refuses a request for good, such as a write that would make an item too large. A fault of ours, and not
    /// worth another try.
    #[error("internal error")]
    Unwritable(Context),
    /// A fault of ours.
    #[error("internal error")]
    Internal(Context),
}

/// What the log should know about a failure. It has no `Display`, so that it cannot slip into an answer.
pub struct Context(Box<dyn std::fmt::Debug + Send + Sync>);

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Context {
    /// Keeps what is known; it must not hold a secret, a token or the text of a message.
    pub fn new(detail: impl std::fmt::Debug + Send + Sync + 'static) -> Self {
        Self(Box::new(detail))
    }
}

impl Error {
    /// A wrong field: `path` as the caller knows it, and what is expected of it ("must be a string").
    pub fn field(path: impl Into<String>, expected: impl std::fmt::Display) -> Self {
        let path = path.into();
        Self::Invalid { message: format!("{path} {expected}"), field: Some(path) }
    }

    /// A body that is wrong as a whole.
    pub fn body(message: impl Into<String>) -> Self {
        Self::Invalid { field: None, message: message.into() }
    }

    /// A fault of ours.
    pub fn internal(detail: impl std::fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Internal(Context::new(detail))
    }

    /// The HTTP status (specification, Errors).
    pub fn status(&self) -> u16 {
        match self {
            Self::Invalid { .. } => 400,
            Self::InvalidCredentials | Self::InvalidClient | Self::UnauthorizedClient | Self::Unauthorized => 401,
            Self::Forbidden(_) | Self::ChannelDisabled => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed(_) | Self::EventNotSupported(_) => 405,
            // The Bot API has no 422.
            Self::Bot(error) if matches!(**error, Self::IdempotencyMismatch) => 400,
            Self::Bot(error) => error.status(),
            Self::Conflict(_) => 409,
            Self::TooLarge(_) => 413,
            Self::IdempotencyMismatch => 422,
            Self::RateLimited(_) | Self::TooManyChats(_) => 429,
            Self::Unavailable(_) => 503,
            Self::Unwritable(_) | Self::Internal(_) => 500,
        }
    }

    /// The machine-readable code of the error body.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_request",
            Self::InvalidCredentials => "invalid_credentials",
            Self::InvalidClient => "invalid_client",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden(_) => "forbidden",
            Self::ChannelDisabled => "channel_disabled",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed(_) => "method_not_allowed",
            Self::EventNotSupported(_) => "event_not_supported",
            // The Bot API knows three codes; the third covers every other error of a request.
            Self::Bot(error) => match error.code() {
                code @ ("invalid_client" | "unauthorized_client" | "unavailable" | "internal") => code,
                _ => "invalid_request",
            },
            Self::Conflict(_) => "conflict",
            Self::TooLarge(_) => "payload_too_large",
            Self::IdempotencyMismatch => "idempotency_mismatch",
            Self::RateLimited(_) | Self::TooManyChats(_) => "rate_limited",
            Self::Unavailable(_) => "unavailable",
            Self::Unwritable(_) | Self::Internal(_) => "internal",
        }
    }

    /// The field that is wrong.
    pub fn wrong_field(&self) -> Option<&str> {
        if let Self::Invalid { field, .. } = self.inner() { field.as_deref() } else { None }
    }

    /// Why a message was refused, in our own words: nothing of what the caller sent is in it, and there are few such
    /// reasons. None where the service or the address is at fault.
    pub fn refusal_reason(&self) -> Option<String> {
        match self {
            // Behind the colon is the place at which a parser stopped.
            Self::Invalid { field: None, message } => message.split(": ").next().map(str::to_owned),
            Self::Invalid { field: Some(_), .. }
            | Self::Conflict(_)
            | Self::IdempotencyMismatch
            | Self::TooLarge(_)
            | Self::ChannelDisabled
            | Self::TooManyChats(_)
            | Self::RateLimited(_) => Some(self.to_string()),
            Self::Bot(error) => error.refusal_reason(),
            Self::InvalidCredentials
            | Self::InvalidClient
            | Self::UnauthorizedClient
            | Self::Unauthorized
            | Self::Forbidden(_)
            | Self::NotFound
            | Self::MethodNotAllowed(_)
            | Self::EventNotSupported(_)
            | Self::Unavailable(_)
            | Self::Unwritable(_)
            | Self::Internal(_) => None,
        }
    }

    /// When to try again, where that may help.
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::RateLimited(wait) | Self::TooManyChats(wait) = self.inner() {
            return Some(*wait);
        }
        matches!(self.inner(), Self::Unavailable(_)).then_some(Duration::from_secs(1))
    }

    /// The methods that the endpoint takes.
    pub fn allowed_methods(&self) -> Option<&'static str> {
        if let Self::MethodNotAllowed(methods) = self.inner() { Some(methods) } else { None }
    }

    /// What only the log may say.
    pub fn context(&self) -> Option<&Context> {
        if let Self::Unavailable(context) | Self::Unwritable(context) | Self::Internal(context) = self.inner() {
            Some(context)
        } else {
            None
        }
    }

    fn inner(&self) -> &Self {
        if let Self::Bot(error) = self { error } else { self }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Closed => Self::Conflict("the chat is closed"),
            Refusal::Taken => Self::Conflict("another agent has this chat"),
            Refusal::NotWithBot => Self::Forbidden("the chat is not with the bot any more"),
            Refusal::NotAccepted => Self::Conflict("accept the chat first"),
            Refusal::OfferChanged => Self::Conflict("the chat has just been offered to others"),
            Refusal::AlreadyTheirs => Self::Conflict("the agent has this chat already"),
        }
    }
}
