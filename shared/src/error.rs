//! The library's error type. Every variant has an HTTP status and a machine-readable code. The caller receives the
//! public text of an error. The internal context is written only to the log.

use std::time::Duration;

use tracing::field::{DebugValue, debug};

use crate::domain::accounts::account_settings::AccountSuspended;
use crate::domain::chats::chat_state::TransitionError;

/// The reason a request was rejected or failed, independent of the API that reports it; see [`ErrorResponse`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `field` is the path of the invalid field. `None` means that the body as a whole is invalid.
    #[error("{message}")]
    Invalid { field: Option<String>, message: String },
    /// The response does not reveal whether the e-mail address or the password is wrong.
    #[error("e-mail or password is wrong")]
    InvalidCredentials,
    #[error("a valid bearer token is required")]
    Unauthorized,
    /// The caller is authenticated but not allowed to make this request. The field contains the reason.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The agent signed in with a password that another person has set.
    #[error("set a new password first")]
    PasswordChangeRequired,
    /// The operator has suspended the account.
    #[error("the account is suspended")]
    AccountSuspended,
    #[error("the widget may not be embedded on this site")]
    SiteNotAllowed,
    /// The token of a widget's visitor is unknown, has expired, or belongs to another widget.
    #[error("the visitor's token is not valid")]
    InvalidVisitorToken,
    /// The signature of a telephony provider's request is missing or wrong.
    #[error("the signature is not valid")]
    InvalidSignature,
    /// The resource does not exist for the caller, for example because it has expired or belongs to another account.
    #[error("not found")]
    NotFound,
    /// The field lists the methods that the endpoint supports.
    #[error("only {0} is allowed here")]
    MethodNotAllowed(&'static str),
    /// The current state of the resource does not allow the request. The field contains the reason.
    #[error("{0}")]
    Conflict(&'static str),
    /// Only bots get this error: the visitor has written after the message that the event answers.
    #[error("the visitor has written since")]
    Superseded,
    /// Only `GET /agent/changes` returns this error. The caller must read its lists again.
    #[error("the cursor is too old; read the lists again")]
    CursorExpired,
    #[error("the Idempotency-Key was used before with another body; a new message needs a new key")]
    IdempotencyMismatch,
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// An admin has disabled the channel (specification, A-2).
    #[error("the channel is switched off")]
    ChannelDisabled,
    /// Too many chats were opened on the channel (specification, A-2). The field is the time to wait before a retry can
    /// succeed.
    #[error("too many new chats on this channel")]
    TooManyChats(Duration),
    /// The caller has sent too many requests. The field is the time to wait before a retry can succeed.
    #[error("too many requests")]
    RateLimited(Duration),
    /// A table failed temporarily or throttled the request, a queue did not accept a task, or concurrent writes
    /// prevented the request. A retry can succeed.
    #[error("temporarily unavailable")]
    Unavailable(ErrorContext),
    /// A table permanently rejected a write, for example because the item would become too large. A retry would fail as
    /// well.
    #[error("internal error")]
    Unwritable(ErrorContext),
    /// The service has a bug or is misconfigured.
    #[error("internal error")]
    Internal(ErrorContext),
}

/// Details of a failure that are meant only for the log. The type does not implement `Display`, so the details cannot
/// end up in a response by mistake.
pub struct ErrorContext(Box<dyn std::fmt::Debug + Send + Sync>);

impl std::fmt::Debug for ErrorContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl ErrorContext {
    /// `detail` is written to the log, so it must not contain secrets, tokens or message texts.
    pub fn new(detail: impl std::fmt::Debug + Send + Sync + 'static) -> Self {
        Self(Box::new(detail))
    }
}

impl Error {
    /// `path` is the field's path in the request. `expected` completes a sentence that starts with this path, such as
    /// "must be a string".
    pub fn field(path: impl Into<String>, expected: impl std::fmt::Display) -> Self {
        let path = path.into();
        Self::Invalid { message: format!("{path} {expected}"), field: Some(path) }
    }

    /// Creates the error for a body that is invalid as a whole.
    pub fn body(message: impl Into<String>) -> Self {
        Self::Invalid { field: None, message: message.into() }
    }

    pub fn internal(detail: impl std::fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Internal(ErrorContext::new(detail))
    }

    /// Whether an agent cannot get a chat because the agent has as many as the capacity allows.
    pub fn is_at_capacity(&self) -> bool {
        matches!(self, Self::Conflict(message) if *message == AT_CAPACITY)
    }

    pub fn unavailable(detail: impl std::fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Unavailable(ErrorContext::new(detail))
    }

    /// Returns the HTTP status of the error (specification, Errors).
    pub fn status(&self) -> u16 {
        match self {
            Self::Invalid { .. } => 400,
            Self::InvalidCredentials | Self::Unauthorized | Self::InvalidVisitorToken | Self::InvalidSignature => 401,
            Self::Forbidden(_)
            | Self::PasswordChangeRequired
            | Self::AccountSuspended
            | Self::ChannelDisabled
            | Self::SiteNotAllowed => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed(_) => 405,
            Self::Conflict(_) | Self::Superseded => 409,
            Self::CursorExpired => 410,
            Self::TooLarge(_) => 413,
            Self::IdempotencyMismatch => 422,
            Self::RateLimited(_) | Self::TooManyChats(_) => 429,
            Self::Unavailable(_) => 503,
            Self::Unwritable(_) | Self::Internal(_) => 500,
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_request",
            Self::InvalidCredentials => "invalid_credentials",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden(_) => "forbidden",
            Self::PasswordChangeRequired => "password_change_required",
            Self::AccountSuspended => "account_suspended",
            Self::SiteNotAllowed => "site_not_allowed",
            Self::InvalidVisitorToken => "invalid_token",
            Self::InvalidSignature => "invalid_signature",
            Self::ChannelDisabled => "channel_disabled",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed(_) => "method_not_allowed",
            Self::Conflict(_) => "conflict",
            Self::Superseded => "superseded",
            Self::CursorExpired => "cursor_expired",
            Self::TooLarge(_) => "payload_too_large",
            Self::IdempotencyMismatch => "idempotency_mismatch",
            Self::RateLimited(_) | Self::TooManyChats(_) => "rate_limited",
            Self::Unavailable(_) => "unavailable",
            Self::Unwritable(_) | Self::Internal(_) => "internal",
        }
    }

    /// Returns the path of the invalid field, or `None` if the error is not about a single field.
    pub fn invalid_field(&self) -> Option<&str> {
        if let Self::Invalid { field, .. } = self { field.as_deref() } else { None }
    }

    /// Returns the reason a message was rejected, as it appears in the counters that admins see. The reason contains no
    /// values from the request, so that rejections with the same cause are counted together. Returns `None` for errors
    /// that are not counted, such as a failed authentication or an internal error.
    pub fn refusal_reason(&self) -> Option<String> {
        match self {
            // The text after the colon is left out, because it contains the position at which the JSON parser stopped.
            Self::Invalid { field: None, message } => message.split(": ").next().map(str::to_owned),
            Self::Invalid { field: Some(_), .. }
            | Self::Conflict(_)
            | Self::IdempotencyMismatch
            | Self::TooLarge(_)
            | Self::ChannelDisabled
            | Self::AccountSuspended
            | Self::TooManyChats(_)
            | Self::RateLimited(_) => Some(self.to_string()),
            Self::InvalidCredentials
            | Self::Unauthorized
            | Self::Forbidden(_)
            | Self::PasswordChangeRequired
            | Self::SiteNotAllowed
            | Self::InvalidVisitorToken
            | Self::InvalidSignature
            | Self::NotFound
            | Self::MethodNotAllowed(_)
            | Self::Superseded
            | Self::CursorExpired
            | Self::Unavailable(_)
            | Self::Unwritable(_)
            | Self::Internal(_) => None,
        }
    }

    /// Returns how long to wait before a retry, or `None` if a retry is not expected to succeed.
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::RateLimited(wait) | Self::TooManyChats(wait) = self {
            return Some(*wait);
        }
        matches!(self, Self::Unavailable(_)).then_some(Duration::from_secs(1))
    }

    /// Returns the value of the `Allow` header. Returns `None` for errors other than `MethodNotAllowed`.
    pub fn allowed_methods(&self) -> Option<&'static str> {
        if let Self::MethodNotAllowed(methods) = self { Some(methods) } else { None }
    }

    /// Returns the context as the value of a log field, or `None` if this kind of error has no context.
    pub fn context(&self) -> Option<DebugValue<&ErrorContext>> {
        if let Self::Unavailable(context) | Self::Unwritable(context) | Self::Internal(context) = self {
            Some(debug(context))
        } else {
            None
        }
    }
}

/// An error as returned by an HTTP endpoint. The Bot API has its own error codes; see [`crate::wire::bots::bot_error`].
#[derive(Debug)]
pub struct ErrorResponse {
    pub status: u16,
    pub code: &'static str,
    pub message: String,
    /// The original error. It provides the path of the invalid field, the `Retry-After` and `Allow` headers, and the
    /// context for the log. `None` if the error is specific to one API.
    pub cause: Option<Error>,
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        Self { status: error.status(), code: error.code(), message: error.to_string(), cause: Some(error) }
    }
}

impl From<AccountSuspended> for Error {
    fn from(AccountSuspended: AccountSuspended) -> Self {
        Self::AccountSuspended
    }
}

const AT_CAPACITY: &str = "the agent has as many chats as the capacity allows";

impl From<TransitionError> for Error {
    fn from(error: TransitionError) -> Self {
        match error {
            TransitionError::Closed => Self::Conflict("the chat is closed"),
            TransitionError::OwnedByOtherAgent => Self::Conflict("another agent has this chat"),
            TransitionError::NotWithBot => Self::Forbidden("the chat is not with the bot any more"),
            TransitionError::NotAccepted => Self::Conflict("accept the chat first"),
            TransitionError::OfferChanged => Self::Conflict("the chat has just been offered to others"),
            TransitionError::AlreadyOwner => Self::Conflict("the agent has this chat already"),
            TransitionError::AlreadyWithBot => Self::Conflict("the bot has this chat already"),
            TransitionError::NotWaiting => Self::Conflict("the chat does not wait for an agent"),
            TransitionError::OfferedToOther => Self::Conflict("the chat is offered to another agent at the moment"),
            TransitionError::AtCapacity => Self::Conflict(AT_CAPACITY),
        }
    }
}
