//! The errors of the Bot API (specification, B-1). Their statuses and bodies are the same as in the other APIs, with
//! two exceptions: a rejected request gets one of the codes that the Bot API defines, and status 400 replaces 422.

use crate::error::{Error, ErrorResponse};

#[derive(Debug, thiserror::Error)]
pub enum BotApiError {
    /// The provider has no bot with the token that is in the request's URL.
    #[error("the token is not known")]
    InvalidClient,
    #[error("the Authorization header is missing or wrong")]
    UnauthorizedClient,
    /// The event name is not supported. The field lists the supported names.
    #[error("event must be one of {0}")]
    UnsupportedEvent(&'static str),
    #[error(transparent)]
    Common(#[from] Error),
}

impl From<BotApiError> for ErrorResponse {
    fn from(error: BotApiError) -> Self {
        let (status, code) = match &error {
            BotApiError::InvalidClient => (401, "invalid_client"),
            BotApiError::UnauthorizedClient => (401, "unauthorized_client"),
            BotApiError::UnsupportedEvent(_) => (405, "invalid_request"),
            BotApiError::Common(Error::IdempotencyMismatch) => (400, "invalid_request"),
            BotApiError::Common(
                error @ (Error::Superseded | Error::Unavailable(_) | Error::Unwritable(_) | Error::Internal(_)),
            ) => (error.status(), error.code()),
            BotApiError::Common(error) => (error.status(), "invalid_request"),
        };
        let message = error.to_string();
        let cause = if let BotApiError::Common(cause) = error { Some(cause) } else { None };
        Self { status, code, message, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_code_of_the_bot_api() {
        let table = [
            (BotApiError::InvalidClient, (401, "invalid_client")),
            (BotApiError::UnauthorizedClient, (401, "unauthorized_client")),
            (BotApiError::UnsupportedEvent("BOT_MESSAGE"), (405, "invalid_request")),
            (Error::MethodNotAllowed("POST").into(), (405, "invalid_request")),
            (Error::NotFound.into(), (404, "invalid_request")),
            (Error::Superseded.into(), (409, "superseded")),
            (Error::IdempotencyMismatch.into(), (400, "invalid_request")),
            (Error::internal("detail").into(), (500, "internal")),
        ];
        for (error, expected) in table {
            let text = error.to_string();
            let ErrorResponse { status, code, message, .. } = error.into();
            assert_eq!((status, code), expected, "{text}");
            assert_eq!(message, text);
        }
    }
}
