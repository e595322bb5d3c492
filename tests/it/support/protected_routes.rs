//! The routes in template.yaml that require a bearer token, and valid requests for them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::project::sam_template::documented_routes;
use crate::support::sample_values::{body, operation, required_parameters};

/// Returns a route's path with every parameter replaced by `1`.
pub fn fill_path(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>().join("/")
}

/// Returns the method and the path template of every route that requires a bearer token.
pub fn protected_routes() -> Vec<(Method, String)> {
    // Logout succeeds with any token, even an invalid one.
    let public = ["/agent/login", "/agent/logout"];
    let is_protected = |path: &str| {
        !public.contains(&path) && ["/agent/", "/admin/", "/operator/"].iter().any(|area| path.starts_with(area))
    };
    documented_routes()
        .into_iter()
        // HEAD is handled by the same code as GET, and its responses have no body.
        .filter(|(method, path)| method != "HEAD" && is_protected(path))
        .map(|(method, path)| (Method::from_bytes(method.as_bytes()).unwrap(), path))
        .collect()
}

/// Like [`protected_routes`], but with every path parameter replaced by `1`.
pub fn protected_paths() -> Vec<(Method, String)> {
    protected_routes().into_iter().map(|(method, path)| (method, fill_path(&path))).collect()
}

/// Returns the query that a GET route requires, or an empty string.
pub fn required_query(template: &str) -> String {
    let operation = operation("GET", template).unwrap();
    let parameters = required_parameters(template, operation, "query").into_iter();
    let pairs: Vec<_> = parameters.map(|(name, value)| format!("{name}={value}")).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Returns a valid request body for a route, so that only the resource in the path can cause an error.
pub fn valid_body(method: &Method, template: &str) -> Value {
    let operation = operation(method.as_str(), template).unwrap();
    body(operation).unwrap_or_else(|| json!({}))
}
