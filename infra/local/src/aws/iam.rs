//! Emulates IAM: a function may do only what its role in the template allows, so missing permissions are found before
//! deployment to AWS. The permissions that functions use are recorded, so that a test can find the unused ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::aws::arn::role_session_arn;

/// An action on a resource, in IAM policy notation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// The action, such as `dynamodb:GetItem`.
    pub action: String,
    /// The ARN of the resource.
    pub resource: String,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.action, self.resource)
    }
}

/// The role of each function. Clones share the same record of used permissions.
#[derive(Debug, Clone)]
pub(crate) struct Roles(Arc<BTreeMap<String, RolePermissions>>);

/// The permissions of one function, and whether it has used each of them.
type RolePermissions = BTreeMap<Permission, AtomicBool>;

impl Roles {
    /// Creates a role for each function. Permissions for services that the host does not emulate are ignored.
    pub fn new<'p>(functions: impl Iterator<Item = (&'p str, &'p [Permission])>) -> Self {
        let role = |(name, permissions): (&str, &[Permission])| {
            let emulated = permissions.iter().filter(|permission| is_emulated(permission)).cloned();
            (name.to_owned(), emulated.map(|permission| (permission, AtomicBool::new(false))).collect())
        };
        Self(Arc::new(functions.map(role).collect()))
    }

    /// Checks that the caller's role allows the required permissions, and records that they have been used. Callers
    /// that are not functions may do anything: the tests and benchmarks whose URL contains the host's secret.
    pub fn authorize(&self, caller: &str, required: &[Permission]) -> Result<(), AccessDenied> {
        let Some(role) = self.0.get(caller) else {
            return Ok(());
        };
        for permission in required {
            let Some(is_used) = role.get(permission) else {
                return Err(AccessDenied { caller: caller.to_owned(), permission: permission.clone() });
            };
            is_used.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the permissions that functions have not used so far, each with the function's name.
    pub fn unused(&self) -> BTreeSet<(String, Permission)> {
        let unused = |(function, role): (&String, &RolePermissions)| {
            let unused = role.iter().filter(|(_, is_used)| !is_used.load(Ordering::Relaxed));
            unused.map(|(permission, _)| (function.clone(), permission.clone())).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(unused).collect()
    }
}

fn is_emulated(permission: &Permission) -> bool {
    ["dynamodb:", "execute-api:", "s3:", "ses:", "sqs:"].iter().any(|service| permission.action.starts_with(service))
}

/// The error message is the same as on AWS.
#[derive(Debug, thiserror::Error)]
#[error(
    "User: {} is not authorized to perform: {} on resource: {} because no identity-based policy allows the {} action",
    role_session_arn(caller), permission.action, permission.resource, permission.action
)]
pub struct AccessDenied {
    caller: String,
    permission: Permission,
}

impl IntoResponse for AccessDenied {
    fn into_response(self) -> Response {
        let body = json!({
            "__type": "com.amazon.coral.service#AccessDeniedException",
            "message": self.to_string(),
        });
        (StatusCode::BAD_REQUEST, Json(body)).into_response()
    }
}
