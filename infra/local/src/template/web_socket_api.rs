//! Reads `AWS::Serverless::WebSocketApi`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::error::{Error, ErrorKind};
use super::evaluated_value::EvaluatedValue;
use super::function::Function;
use crate::aws::arn::function_arn;

/// API Gateway's maximum timeout for a route, which is also the default.
const MAX_INTEGRATION_TIMEOUT_MS: u32 = 29_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketApi {
    /// On this host, the logical id is also the id of the API.
    pub id: String,
    /// The stage is also the path of the API.
    pub stage: String,
    /// The names in the `RouteSelectionExpression` after `$request.body`. They are the path to the member of a message
    /// that contains its route key.
    route_selection: Vec<String>,
    routes: BTreeMap<String, SocketRoute>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketRoute {
    /// The route key, such as `$connect`.
    pub key: String,
    pub function: String,
    /// How long the gateway waits for the function.
    pub timeout: Duration,
}

impl WebSocketApi {
    #[must_use]
    pub fn route(&self, key: &str) -> Option<&SocketRoute> {
        self.routes.get(key)
    }

    /// Returns the route that the message selects, or else `$default`. Returns `None` if the API has neither route.
    #[must_use]
    pub fn route_for_message(&self, body: &str) -> Option<&SocketRoute> {
        let selected = self.selected_key(body).filter(|key| !key.starts_with('$'));
        selected.and_then(|key| self.route(&key)).or_else(|| self.route("$default"))
    }

    fn selected_key(&self, body: &str) -> Option<String> {
        let body: Value = serde_json::from_str(body).ok()?;
        let key = self.route_selection.iter().try_fold(&body, |value, name| value.get(name))?;
        key.as_str().map(str::to_owned)
    }
}

pub(super) fn read(
    logical_id: &str,
    properties: &EvaluatedValue<'_>,
    functions: &[Function],
) -> Result<WebSocketApi, Error> {
    let mut routes = BTreeMap::new();
    for (key, properties) in properties.require("Routes")?.entries()? {
        routes.insert(key.clone(), route(key, &properties, functions)?);
    }
    Ok(WebSocketApi {
        id: logical_id.to_owned(),
        stage: stage(properties)?,
        route_selection: route_selection(&properties.require("RouteSelectionExpression")?)?,
        routes,
    })
}

fn route(key: String, properties: &EvaluatedValue<'_>, functions: &[Function]) -> Result<SocketRoute, Error> {
    let arn = properties.require("FunctionArn")?;
    let text = arn.text()?;
    let function = functions.iter().find(|function| function_arn(&function.logical_id) == text);
    let function = function.ok_or_else(|| arn.error(ErrorKind::UnknownFunction(text)))?;
    let max_timeout = MAX_INTEGRATION_TIMEOUT_MS;
    let timeout_ms = properties.number_or("IntegrationTimeout", 50..=max_timeout, max_timeout)?;
    Ok(SocketRoute { key, function: function.name.clone(), timeout: Duration::from_millis(timeout_ms.into()) })
}

fn stage(properties: &EvaluatedValue<'_>) -> Result<String, Error> {
    let Some(stage) = properties.get("StageName")? else {
        return Ok("default".to_owned());
    };
    let text = stage.text()?;
    if text.is_empty() || text.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c)) {
        return Err(stage.unexpected_value("letters, digits, hyphens and underscores"));
    }
    Ok(text)
}

/// Parses an expression such as `$request.body.type`.
fn route_selection(expression: &EvaluatedValue<'_>) -> Result<Vec<String>, Error> {
    let text = expression.text()?;
    let names = text.strip_prefix("$request.body.").map(|names| names.split('.').map(str::to_owned).collect());
    let is_valid = |names: &Vec<String>| names.iter().all(|name| !name.is_empty() && !name.contains(['$', '{', '[']));
    names.filter(is_valid).ok_or_else(|| expression.unexpected_value("$request.body.<name>"))
}
