//! The error responses of S3.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::StorageError;
use crate::aws::iam::AccessDenied;
use crate::terminal;

#[derive(Debug)]
pub(super) enum S3Error {
    /// The reason is shown to the caller.
    AccessDenied(String),
    SignatureDoesNotMatch,
    NoSuchKey,
    NoSuchBucket,
    EntityTooLarge,
    EntityTooSmall,
    InvalidRange,
    MalformedPost(&'static str),
    MethodNotAllowed,
    PreconditionFailed,
    Internal,
}

impl From<StorageError> for S3Error {
    fn from(error: StorageError) -> Self {
        terminal::print_error(&error.to_string());
        Self::Internal
    }
}

impl From<AccessDenied> for S3Error {
    fn from(denied: AccessDenied) -> Self {
        Self::AccessDenied(denied.to_string())
    }
}

impl IntoResponse for S3Error {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::AccessDenied(reason) => (StatusCode::FORBIDDEN, "AccessDenied", reason),
            Self::SignatureDoesNotMatch => {
                (StatusCode::FORBIDDEN, "SignatureDoesNotMatch", "The signature does not match.".to_owned())
            }
            Self::NoSuchKey => (StatusCode::NOT_FOUND, "NoSuchKey", "The key does not exist.".to_owned()),
            Self::NoSuchBucket => (StatusCode::NOT_FOUND, "NoSuchBucket", "The bucket does not exist.".to_owned()),
            Self::EntityTooLarge => {
                (StatusCode::BAD_REQUEST, "EntityTooLarge", "The file is larger than the policy allows.".to_owned())
            }
            Self::EntityTooSmall => {
                (StatusCode::BAD_REQUEST, "EntityTooSmall", "The file is smaller than the policy allows.".to_owned())
            }
            Self::InvalidRange => {
                (StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange", "The range is not satisfiable.".to_owned())
            }
            Self::MalformedPost(reason) => (StatusCode::BAD_REQUEST, "MalformedPOSTRequest", reason.to_owned()),
            Self::MethodNotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", "The method is not allowed.".to_owned())
            }
            Self::PreconditionFailed => {
                (StatusCode::PRECONDITION_FAILED, "PreconditionFailed", "A condition does not hold.".to_owned())
            }
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "Internal error.".to_owned()),
        };
        let message = message.replace('&', "&amp;").replace('<', "&lt;");
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>"
        );
        (status, [(header::CONTENT_TYPE, "application/xml")], xml).into_response()
    }
}
