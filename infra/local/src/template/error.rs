//! A mistake in the template, as one line that says where.

use std::fmt;

/// A mistake in the template.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {place}{problem}")]
pub struct Error {
    /// Line in the template, from 1.
    pub line: usize,
    /// Resource and property.
    pub place: Place,
    /// What is wrong.
    pub problem: Problem,
}

/// Resource and property, such as `DeliverChannel.Events.Retries.BatchSize`; empty for the whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place(String);

impl Place {
    /// The place called `name` inside this one.
    pub(super) fn inner(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}.{name}", self.0)) }
    }

    pub(super) fn error(&self, line: usize, problem: Problem) -> Error {
        Error { line, place: self.clone(), problem }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "{}: ", self.0)
    }
}

/// What is wrong with one place of the template.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Problem {
    /// The text is not YAML.
    #[error("{0}")]
    Yaml(String),
    /// A key without a value, which CloudFormation refuses too.
    #[error("has no value")]
    Null,
    /// A YAML alias, which CloudFormation does not know.
    #[error("YAML aliases are not supported")]
    Alias,
    /// A key twice in one mapping.
    #[error("{0} is given twice")]
    Duplicate(String),
    /// A required property is absent.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A value of another kind than the property's.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the property takes.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A parameter without default that the host was given no value for.
    #[error("the parameter has no default and no value was given")]
    ParameterWithoutValue,
    /// A value for a parameter that the template does not declare.
    #[error("the template has no such parameter")]
    UnknownParameter,
    /// A value outside the parameter's `AllowedValues`.
    #[error("{0:?} is not one of the allowed values")]
    NotAllowed(String),
    /// `Ref` or `GetAtt` of something that is not in the template, or not under its condition.
    #[error("nothing in the template is called {0:?}")]
    Unresolved(String),
    /// A condition that is not declared.
    #[error("no condition is called {0:?}")]
    UnknownCondition(String),
    /// A condition that depends on itself.
    #[error("condition {0:?} depends on itself")]
    CircularCondition(String),
    /// An intrinsic function the local host does not evaluate.
    #[error("the local host cannot evaluate {0}")]
    UnknownIntrinsic(String),
    /// A kind of event the local host does not play.
    #[error("the local host has no events of type {0:?}")]
    UnknownEvent(String),
    /// Two functions on one route.
    #[error("the route {route} is {owner}'s already")]
    DuplicateRoute {
        /// Method and path.
        route: String,
        /// The function that had it first.
        owner: String,
    },
    /// Two functions of one binary.
    #[error("the binary {binary} is {owner}'s already")]
    DuplicateBinary {
        /// The binary.
        binary: String,
        /// The function that had it first.
        owner: String,
    },
    /// A reference to something of another kind, or to nothing.
    #[error("{0:?} is not a queue of this template")]
    NotAQueue(String),
    /// The role of a function is not in the template.
    #[error("{0:?} is not a role of this template")]
    NotARole(String),
}
