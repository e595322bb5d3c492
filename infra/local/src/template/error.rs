//! An error in the template. The message is a single line that contains the value's line number and path.

use std::fmt;

use crate::filter_pattern::FilterPatternError;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {path}{kind}")]
pub struct Error {
    /// The line number in the template, counted from 1.
    pub line: usize,
    pub path: ValuePath,
    pub kind: ErrorKind,
}

/// The path of a value, such as `DeliverChannel.Events.Retries.BatchSize`. The path of the template itself is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValuePath(String);

impl ValuePath {
    pub(super) fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}.{name}", self.0)) }
    }

    pub(super) fn error(&self, line: usize, kind: ErrorKind) -> Error {
        Error { line, path: self.clone(), kind }
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "{}: ", self.0)
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ErrorKind {
    #[error("{0}")]
    Yaml(String),
    /// A key or a list item has no value, or the template is empty. CloudFormation rejects this, too.
    #[error("has no value")]
    MissingValue,
    /// CloudFormation rejects aliases, too.
    #[error("YAML aliases are not supported")]
    UnsupportedAlias,
    #[error("{0} is defined twice")]
    DuplicateKey(String),
    #[error("{0} is missing")]
    MissingProperty(&'static str),
    #[error("expected {expected}, found {found}")]
    UnexpectedValue { expected: String, found: String },
    #[error("the parameter has no default value, so a value is required")]
    ParameterWithoutValue,
    /// The caller overrides a parameter that the template does not declare.
    #[error("the template has no such parameter")]
    UnknownParameter,
    #[error("{0:?} is not one of the allowed values")]
    DisallowedValue(String),
    /// `Ref`, `GetAtt` or `Sub` refers to a resource or parameter that is not declared, or to a resource whose
    /// condition is false.
    #[error("the template has no resource or parameter {0:?}")]
    UnknownResource(String),
    #[error("the template has no condition {0:?}")]
    UnknownCondition(String),
    #[error("condition {0:?} depends on itself")]
    CircularCondition(String),
    #[error("the local host does not support the intrinsic function {0}")]
    UnsupportedIntrinsic(String),
    #[error("the local host does not support events of type {0:?}")]
    UnsupportedEvent(String),
    #[error("the route {route} already belongs to function {owner}")]
    DuplicateRoute {
        route: String,
        /// The logical id of the other function.
        owner: String,
    },
    #[error("the binary {binary} already belongs to function {owner}")]
    DuplicateBinary {
        binary: String,
        /// The logical id of the other function.
        owner: String,
    },
    #[error("{0:?} is not a function of this template")]
    UnknownFunction(String),
    #[error("the local host supports only one WebSocket API")]
    SecondWebSocketApi,
    #[error("{0:?} is not a queue of this template")]
    UnknownQueue(String),
    /// `GetAtt` or `Sub` refers to the stream of a table without a `StreamSpecification`.
    #[error("the table {0} has no StreamSpecification")]
    TableWithoutStream(String),
    #[error("{0:?} is not a stream of this template")]
    UnknownStream(String),
    #[error(transparent)]
    FilterPattern(#[from] FilterPatternError),
    #[error("{0:?} is not a role of this template")]
    UnknownRole(String),
}
