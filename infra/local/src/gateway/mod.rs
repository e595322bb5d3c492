//! Emulates API Gateway: an HTTP API with payload format 2.0 in front of the functions.
//!
//! # Layout
//! - `request.rs`: validates a request and reads its body within the limits
//! - `routes.rs`: finds the route for a request
//! - `event.rs`: builds the event for the function
//! - `response.rs`: converts the function's result to an HTTP response
//! - `error_response.rs`: the error responses that the gateway itself sends

mod error_response;
mod event;
mod request;
mod response;
mod routes;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use time::OffsetDateTime;
use uuid::Uuid;

use self::error_response::GatewayError;
use self::event::RoutedRequest;
use self::routes::Routes;
use crate::lambda::{Functions, MAX_PAYLOAD_BYTES};
use crate::template::Function;

pub(crate) struct Gateway {
    routes: Routes,
    functions: Functions,
}

impl Gateway {
    pub fn new(definitions: &[Function], functions: Functions) -> Self {
        let routes = Routes::new(definitions);
        Self { routes, functions }
    }

    /// Returns a router that serves `extra_routes` and, for all other requests, the template's routes.
    pub fn router(self, extra_routes: Router) -> Router {
        let gateway = Router::new().fallback(handle).with_state(Arc::new(self));
        extra_routes.fallback_service(gateway)
    }

    async fn forward(&self, client: SocketAddr, request: Request, request_id: &str) -> Result<Response, GatewayError> {
        let (head, body) = request.into_parts();
        request::validate_head(&head)?;
        let route_match = self.routes.find(head.method.as_str(), head.uri.path()).ok_or(GatewayError::NoRoute)?;
        let body = request::read_body(body).await?;
        let received_at = OffsetDateTime::now_utc();
        let routed =
            RoutedRequest { head: &head, body: &body, client, route_match: &route_match, request_id, received_at };
        let event = Bytes::from(routed.to_event().to_string());
        if event.len() > MAX_PAYLOAD_BYTES {
            return Err(GatewayError::PayloadTooLarge);
        }
        let invocation = self.functions.invoke(&route_match.route.function, event);
        let result = tokio::time::timeout(route_match.route.timeout, invocation).await;
        let result = result.map_err(|_| GatewayError::FunctionTimedOut)?;
        response::http_response(&result.map_err(|_| GatewayError::FunctionFailed)?)
    }
}

async fn handle(
    State(gateway): State<Arc<Gateway>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let request_id = Uuid::now_v7().to_string();
    let result = gateway.forward(client, request, &request_id).await;
    let mut response = result.unwrap_or_else(GatewayError::into_response);
    if let Ok(request_id) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert("apigw-requestid", request_id);
    }
    response
}
