//! Invokes the functions of the routes.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde_json::Value;

use super::close_reason::CloseReason;
use super::open_connections::ConnectionInfo;
use super::{SocketApi, events};
use crate::template::SocketRoute;

/// Why an invocation returned no result: the function failed, or it exceeded the timeout of its route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InvocationFailure {
    Failed,
    TimedOut,
}

/// The part of a `$connect` function's result that decides whether the connection is accepted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConnectResult {
    status_code: u16,
}

impl SocketApi {
    /// Invokes the `$connect` function, which accepts or refuses the connection. Without a `$connect` route, every
    /// connection is accepted. If the function refuses the connection or fails, returns the status for the response to
    /// the handshake.
    pub(super) async fn connect(&self, connection: &ConnectionInfo, handshake: &Parts) -> Result<(), StatusCode> {
        let Some(route) = self.definition.route("$connect") else {
            return Ok(());
        };
        let result = self.invoke(route, &events::connect(connection, handshake)).await;
        let result = result.map_err(|failure| match failure {
            InvocationFailure::Failed => StatusCode::BAD_GATEWAY,
            InvocationFailure::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        })?;
        let result: ConnectResult = serde_json::from_slice(&result).map_err(|_| StatusCode::BAD_GATEWAY)?;
        match StatusCode::from_u16(result.status_code) {
            Ok(status) if status.is_success() => Ok(()),
            Ok(status) if !status.is_informational() => Err(status),
            _ => Err(StatusCode::BAD_GATEWAY),
        }
    }

    pub(super) async fn disconnect(&self, connection: &ConnectionInfo, reason: &CloseReason) {
        if let Some(route) = self.definition.route("$connect") {
            self.meter.add_connection_time(&route.function, connection.activity.connected_for());
        }
        if let Some(route) = self.definition.route("$disconnect") {
            // A failure is ignored: as on AWS, the invocation is not repeated.
            let _ = self.invoke(route, &events::disconnect(connection, reason)).await;
        }
    }

    /// Invokes the function of the route that a message selects. The function's result is ignored, because API Gateway
    /// sends it to the client only if the route has a route response. If there is no route or the function fails, the
    /// client gets an error message.
    pub(super) async fn receive_message(&self, connection: &ConnectionInfo, body: &str) {
        let request_id = uuid::Uuid::now_v7().to_string();
        let Some(route) = self.definition.route_for_message(body) else {
            return self.send_error(connection, "Forbidden", &request_id);
        };
        self.meter.count_socket_message(&route.function, body.len());
        let event = events::message(connection, &route.key, &request_id, body);
        if self.invoke(route, &event).await.is_err() {
            self.send_error(connection, "Internal server error", &request_id);
        }
    }

    async fn invoke(&self, route: &SocketRoute, event: &Value) -> Result<Bytes, InvocationFailure> {
        let invocation = self.functions.invoke(&route.function, event.to_string().into());
        let result = tokio::time::timeout(route.timeout, invocation).await;
        result.map_err(|_| InvocationFailure::TimedOut)?.map_err(|_| InvocationFailure::Failed)
    }

    fn send_error(&self, connection: &ConnectionInfo, message: &str, request_id: &str) {
        let body = serde_json::json!({"message": message, "connectionId": connection.id, "requestId": request_id});
        if let Some(connection) = self.connections.get(&connection.id) {
            // The error is ignored: if the queue is full, the client is not reading its messages anyway.
            let _ = connection.send(body.to_string().into());
        }
    }
}
