//! Runs the functions of the WebSocket API: one for each of its routes `$connect`, `$disconnect` and `$default`. If the
//! `$connect` function rejects an event, API Gateway refuses the connection with the same status.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Instant;

use futures_util::TryFutureExt;
use lambda_runtime::{LambdaEvent, service_fn};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::runtime::dependencies::Dependency;
use crate::runtime::startup::{self, BoxedHandler, Handler, RuntimeLoop};

/// An event of the WebSocket API. Only the fields in use are declared, because the type in the `aws_lambda_events`
/// crate would add a dependency on `chrono`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketEvent {
    request_context: SocketRequestContext,
    query_string_parameters: Option<HashMap<String, String>>,
    body: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SocketRequestContext {
    connection_id: String,
    route_key: String,
    request_id: Option<String>,
}

impl SocketEvent {
    pub fn connection_id(&self) -> &str {
        &self.request_context.connection_id
    }

    /// Returns a query parameter of the URL to which the client connects. Only `$connect` events have query parameters.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query_string_parameters.as_ref()?.get(name).map(String::as_str)
    }

    pub fn body(&self) -> &str {
        self.body.as_deref().unwrap_or_default()
    }
}

type SocketEventHandler = BoxedHandler<SocketEvent, Result<(), Error>>;

pub fn run<R: Dependency>(handler: impl Handler<R, SocketEvent, Result<(), Error>>) -> ExitCode {
    startup::run(handler, serve)
}

fn serve(handler: SocketEventHandler) -> RuntimeLoop {
    Box::pin(async move {
        let service = service_fn(|event| handle_event(&handler, event).map_err(lambda_runtime::Error::from));
        lambda_runtime::run(service).await
    })
}

/// If the service fails, the invocation fails too, so that an alarm is raised. If the handler rejects the event, the
/// invocation succeeds and returns the status of the error.
async fn handle_event(handler: &SocketEventHandler, event: LambdaEvent<SocketEvent>) -> Result<Value, Error> {
    let (started, LambdaEvent { payload, context }) = (Instant::now(), event);
    let SocketRequestContext { route_key: route, request_id: gateway_id, .. } = &payload.request_context;
    let (route, gateway_id, request_id) = (route.clone(), gateway_id.clone(), context.request_id);
    let result = handler(payload).await;
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = result.as_ref().err().map_or(200, Error::status);
    match result {
        Err(error) if status >= 500 => {
            let context = format!("{:?}", error.context());
            tracing::error!(route, request_id, gateway_id, status, duration_ms, context, "socket event failed");
            Err(error)
        }
        Ok(()) | Err(_) => {
            tracing::info!(route, request_id, gateway_id, status, duration_ms, "socket event answered");
            Ok(json!({ "statusCode": status }))
        }
    }
}
