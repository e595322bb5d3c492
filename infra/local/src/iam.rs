//! Plays IAM: a function may do what its role in the template allows, and nothing else. A policy that lacks
//! something is found here, not on AWS.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::identity::role_session_arn;

/// An action on a resource, as a policy names them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// Service and operation, such as `dynamodb:GetItem`.
    pub action: String,
    /// Its ARN.
    pub resource: String,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.action, self.resource)
    }
}

/// What each function may do and whether it ever did. A clone is another handle to the same.
#[derive(Debug, Clone)]
pub(crate) struct Roles(Arc<BTreeMap<String, Role>>);

type Role = BTreeMap<Permission, AtomicBool>;

impl Roles {
    pub fn new<'p>(functions: impl Iterator<Item = (&'p str, &'p [Permission])>) -> Self {
        let role = |(name, permissions): (&str, &[Permission])| {
            let allowed = permissions.iter().filter(|it| is_played_here(it)).cloned();
            (name.to_owned(), allowed.map(|permission| (permission, AtomicBool::new(false))).collect())
        };
        Self(Arc::new(functions.map(role).collect()))
    }

    /// Notes that the function does these things, unless its role forbids one. Who is no function may do anything.
    pub fn check(&self, caller: &str, wanted: &[Permission]) -> Result<(), Denied> {
        let Some(role) = self.0.get(caller) else {
            return Ok(());
        };
        for permission in wanted {
            let Some(used) = role.get(permission) else {
                return Err(Denied { caller: caller.to_owned(), permission: permission.clone() });
            };
            used.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// What functions were allowed and did not do so far.
    pub fn unused(&self) -> BTreeSet<(String, Permission)> {
        let unused = |(function, role): (&String, &Role)| {
            let unused = role.iter().filter(|(_, used)| !used.load(Ordering::Relaxed));
            unused.map(|(permission, _)| (function.clone(), permission.clone())).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(unused).collect()
    }
}

/// Other services, such as the one that keeps logs, are not on this machine.
fn is_played_here(permission: &Permission) -> bool {
    ["dynamodb:", "sqs:"].iter().any(|service| permission.action.starts_with(service))
}

/// What a role does not allow, in the words of AWS.
#[derive(Debug, thiserror::Error)]
#[error(
    "User: {} is not authorized to perform: {} on resource: {} because no identity-based policy allows the {} action",
    role_session_arn(caller), permission.action, permission.resource, permission.action
)]
pub struct Denied {
    caller: String,
    permission: Permission,
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        let body = json!({
            "__type": "com.amazon.coral.service#AccessDeniedException",
            "message": self.to_string(),
        });
        (StatusCode::BAD_REQUEST, Json(body)).into_response()
    }
}
