//! The error responses that operations share: the components under `responses` of the OpenAPI document.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

/// An error response. Its status and code are those of [`Error`](crate::error::Error) or, for the Bot API, of
/// [`BotError`](crate::wire::bots::bot_error).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    InvalidRequest,
    Unauthorized,
    InvalidSignature,
    InvalidVisitorToken,
    Forbidden,
    AccountSuspended,
    SiteNotAllowed,
    ChannelDisabled,
    NotFound,
    WidgetNotFound,
    Conflict,
    CursorExpired,
    PayloadTooLarge,
    VisitorPayloadTooLarge,
    IdempotencyKeyReused,
    TooManyRequests,
    TooManyPasswords,
    InternalError,
    ServiceUnavailable,
    /// A rejection by the Bot API with this status.
    BotError(u16),
    BotPayloadTooLarge,
    BotTooManyRequests,
    /// All callers together send more requests than the gateway accepts.
    Throttled,
}

/// The body of an error response.
#[derive(Serialize, JsonSchema)]
// TypeScript has a type `Error`.
#[schemars(rename = "ErrorBody")]
pub struct Error {
    pub error: ErrorDetails,
}

#[derive(Serialize, JsonSchema)]
pub struct ErrorDetails {
    pub code: ErrorCode,
    #[schemars(length(min = 1))]
    pub message: String,
    /// The path of the invalid field, such as message.file_size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    InvalidRequest,
    InvalidCredentials,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    CursorExpired,
    PayloadTooLarge,
    RateLimited,
    Unavailable,
    Internal,
    InvalidClient,
    UnauthorizedClient,
    IdempotencyMismatch,
    ChannelDisabled,
    SiteNotAllowed,
    InvalidToken,
    InvalidSignature,
    AccountSuspended,
    PasswordChangeRequired,
}

/// The body of an error response of the Bot API.
#[derive(Serialize, JsonSchema)]
pub struct BotError {
    pub error: BotErrorDetails,
}

#[derive(Serialize, JsonSchema)]
pub struct BotErrorDetails {
    pub code: BotErrorCode,
    #[schemars(length(min = 1))]
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BotErrorCode {
    InvalidClient,
    UnauthorizedClient,
    InvalidRequest,
    Superseded,
}

/// The body of an error that the gateway returns by itself.
#[derive(Serialize, JsonSchema)]
pub struct GatewayError {
    pub message: String,
}

/// The code, the message and the field in the examples of failures.
const EXAMPLES: [(Failure, &str, &str, Option<&str>); 9] = [
    (Failure::InvalidRequest, "invalid_request", "message.file_size is required", Some("message.file_size")),
    (Failure::InvalidVisitorToken, "invalid_token", "the visitor's token is not valid", None),
    (Failure::SiteNotAllowed, "site_not_allowed", "the widget may not be embedded on this site", None),
    (Failure::ChannelDisabled, "channel_disabled", "the channel is switched off", None),
    (Failure::NotFound, "not_found", "not found", None),
    (
        Failure::IdempotencyKeyReused,
        "idempotency_mismatch",
        "the Idempotency-Key was used before with another body; a new message needs a new key",
        None,
    ),
    (Failure::TooManyRequests, "rate_limited", "too many requests", None),
    (Failure::ServiceUnavailable, "unavailable", "temporarily unavailable", None),
    (Failure::BotError(401), "invalid_client", "the token is not known", None),
];

/// Who writes the body of a failure.
enum Source {
    Service,
    BotApi,
    ServiceOrGateway,
    BotApiOrGateway,
    Gateway,
}

impl Failure {
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::Unauthorized | Self::InvalidSignature | Self::InvalidVisitorToken => 401,
            Self::Forbidden | Self::AccountSuspended | Self::SiteNotAllowed | Self::ChannelDisabled => 403,
            Self::NotFound | Self::WidgetNotFound => 404,
            Self::Conflict => 409,
            Self::CursorExpired => 410,
            Self::PayloadTooLarge | Self::VisitorPayloadTooLarge | Self::BotPayloadTooLarge => 413,
            Self::IdempotencyKeyReused => 422,
            Self::TooManyRequests | Self::TooManyPasswords | Self::BotTooManyRequests | Self::Throttled => 429,
            Self::InternalError => 500,
            Self::ServiceUnavailable => 503,
            Self::BotError(status) => status,
        }
    }

    /// Returns the name of the component, which is the name of the variant.
    pub fn name(self) -> String {
        let name = format!("{self:?}");
        name.split('(').next().unwrap_or_default().to_owned()
    }

    fn description(self) -> &'static str {
        match self {
            Self::InvalidRequest => "A field is invalid; the error names it.",
            Self::Unauthorized => "The credential is missing or wrong.",
            Self::InvalidSignature => "The signature is missing, wrong or too old.",
            Self::InvalidVisitorToken => {
                "The visitor's token is unknown or expired, or belongs to another widget. The widget forgets the token."
            }
            Self::Forbidden => {
                "The credential is valid but does not permit the request. account_suspended: the operator has \
                 suspended the account. password_change_required: the agent must replace the password first."
            }
            Self::AccountSuspended => "The operator has suspended the account.",
            Self::SiteNotAllowed => {
                "The Origin header names a site on which the widget may not be embedded. account_suspended: the \
                 operator has suspended the account."
            }
            Self::ChannelDisabled => {
                "The channel is disabled (channel_disabled); nothing is stored. account_suspended: the operator has \
                 suspended the account."
            }
            Self::NotFound => "The resource does not exist, or it belongs to another account.",
            Self::WidgetNotFound => "There is no such widget, or it is disabled.",
            Self::Conflict => "The current state does not permit the request.",
            Self::CursorExpired => "cursor_expired: the cursor is too old.",
            Self::PayloadTooLarge | Self::BotPayloadTooLarge => {
                "The body is larger than 131072 bytes; the gateway rejects bodies over 10 MB."
            }
            Self::VisitorPayloadTooLarge => {
                "The body is larger than 1048576 bytes; the gateway rejects bodies over 10 MB."
            }
            Self::IdempotencyKeyReused => "The Idempotency-Key was used before with another body.",
            Self::TooManyRequests | Self::BotTooManyRequests => "Too many requests.",
            Self::TooManyPasswords => {
                "Too many wrong passwords. The gateway also returns 429, without Retry-After, if all callers together \
                 send more than 500 logins a second."
            }
            Self::Throttled => "All callers together send more requests than the gateway accepts.",
            Self::InternalError => "An internal error, or a function that crashed.",
            Self::ServiceUnavailable => {
                "Temporarily unavailable. The gateway also returns 503, without Retry-After, when a function takes too \
                 long."
            }
            Self::BotError(_) => "Rejected; the code is one of the Bot API's error codes.",
        }
    }

    fn source(self) -> Source {
        match self {
            Self::PayloadTooLarge
            | Self::VisitorPayloadTooLarge
            | Self::TooManyPasswords
            | Self::InternalError
            | Self::ServiceUnavailable => Source::ServiceOrGateway,
            Self::BotPayloadTooLarge => Source::BotApiOrGateway,
            Self::Throttled => Source::Gateway,
            Self::BotError(_) | Self::BotTooManyRequests => Source::BotApi,
            Self::InvalidRequest
            | Self::Unauthorized
            | Self::InvalidSignature
            | Self::InvalidVisitorToken
            | Self::Forbidden
            | Self::AccountSuspended
            | Self::SiteNotAllowed
            | Self::ChannelDisabled
            | Self::NotFound
            | Self::WidgetNotFound
            | Self::Conflict
            | Self::CursorExpired
            | Self::IdempotencyKeyReused
            | Self::TooManyRequests => Source::Service,
        }
    }

    /// Returns the `Retry-After` header of the response, if it has one.
    fn retry_after(self) -> Option<Value> {
        if matches!(self, Self::TooManyRequests | Self::BotTooManyRequests) {
            let schema = json!({ "type": "integer", "minimum": 1 });
            return Some(json!({ "required": true, "description": "Seconds.", "schema": schema }));
        }
        let max = match self.status() {
            429 if self == Self::TooManyPasswords => json!({ "type": "integer", "minimum": 1, "maximum": 300 }),
            503 => json!({ "type": "integer", "minimum": 1 }),
            _ => return None,
        };
        Some(json!({ "description": "Seconds.", "schema": max }))
    }

    fn example(self) -> Option<Value> {
        let (_, code, message, field) = EXAMPLES.into_iter().find(|(failure, ..)| *failure == self)?;
        let mut error = json!({ "code": code, "message": message });
        if let Some(field) = field {
            error["field"] = json!(field);
        }
        Some(json!({ code: { "value": { "error": error } } }))
    }

    /// Returns the response as a component of the document.
    pub(super) fn response(self, schemas: &mut SchemaGenerator) -> Value {
        let schema = match self.source() {
            Source::Service => json!(schemas.subschema_for::<Error>()),
            Source::BotApi => json!(schemas.subschema_for::<BotError>()),
            Source::Gateway => json!(schemas.subschema_for::<GatewayError>()),
            Source::ServiceOrGateway => {
                json!({ "anyOf": [schemas.subschema_for::<Error>(), schemas.subschema_for::<GatewayError>()] })
            }
            Source::BotApiOrGateway => {
                json!({ "anyOf": [schemas.subschema_for::<BotError>(), schemas.subschema_for::<GatewayError>()] })
            }
        };
        let mut content = json!({ "schema": schema });
        if let Some(examples) = self.example() {
            content["examples"] = examples;
        }
        let mut response = json!({ "description": self.description(), "content": { "application/json": content } });
        if let Some(header) = self.retry_after() {
            response["headers"] = json!({ "Retry-After": header });
        }
        response
    }
}
