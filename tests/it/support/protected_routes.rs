//! The routes in template.yaml that require a bearer token, and valid requests for them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::sam_template::routes;

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
    routes()
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
pub fn required_query(template: &str) -> &'static str {
    if template == "/agent/search" { "?q=visitor" } else { "" }
}

/// Returns a valid request body for a route, so that only the resource in the path can cause an error.
pub fn valid_body(method: &Method, template: &str) -> Value {
    let end = template.rsplit('/').next().unwrap();
    match (method.as_str(), end) {
        ("POST", "messages") => json!({"type": "text", "text": "Hi"}),
        ("POST", "notes") => json!({"text": "Hi"}),
        ("POST", "typing") => json!({"type": "typein"}),
        ("POST", "transfer") => json!({"agent_id": 1}),
        ("PATCH", "{id}") => json!({"text": "Mine"}),
        ("PATCH", "{account_id}") => json!({"suspended": true}),
        ("PATCH", "{webhook_id}") => json!({"events": ["chat_finished"]}),
        ("PATCH", _) => json!({"name": "Mine"}),
        _ => json!({}),
    }
}
