//! Plays API Gateway: an HTTP API with payload format 2.0 in front of the functions.
//!
//! # Layout
//! - `routes.rs`: which route a request takes
//! - `event.rs`: the request as the function sees it
//! - `answer.rs`: the function's result as the caller sees it
//! - `refusal.rs`: what the gateway answers by itself
//! - `body.rs`: reading a request within the limits

mod answer;
mod body;
mod event;
mod refusal;
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

use self::event::Incoming;
use self::refusal::Refusal;
use self::routes::Routes;
use crate::lambda::{Functions, MAX_PAYLOAD_BYTES};
use crate::template::Function;

pub(crate) struct Gateway {
    routes: Routes,
    functions: Functions,
}

impl Gateway {
    pub fn new(template: &[Function], functions: Functions) -> Self {
        let routes = Routes::new(template);
        Self { routes, functions }
    }

    /// The gateway behind `extra`, whose routes come first.
    pub fn router(self, extra: Router) -> Router {
        let gateway = Router::new().fallback(handle).with_state(Arc::new(self));
        extra.fallback_service(gateway)
    }

    async fn answer(&self, caller: SocketAddr, request: Request, id: &str) -> Result<Response, Refusal> {
        let (head, body) = request.into_parts();
        body::check_head(&head)?;
        let target = self.routes.find(head.method.as_str(), head.uri.path()).ok_or(Refusal::NotFound)?;
        let body = body::read(body).await?;
        let incoming =
            Incoming { head: &head, body: &body, caller, target: &target, id, at: OffsetDateTime::now_utc() };
        let event = Bytes::from(incoming.event().to_string());
        if event.len() > MAX_PAYLOAD_BYTES {
            return Err(Refusal::TooLarge);
        }
        let invocation = self.functions.invoke(&target.route.function, event);
        let result = tokio::time::timeout(target.route.timeout, invocation).await;
        let result = result.map_err(|_| Refusal::Unavailable)?;
        answer::response(&result.map_err(|_| Refusal::Failed)?)
    }
}

async fn handle(
    State(gateway): State<Arc<Gateway>>,
    ConnectInfo(caller): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let id = Uuid::now_v7().to_string();
    let answer = gateway.answer(caller, request, &id).await;
    let mut response = answer.unwrap_or_else(Refusal::into_response);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("apigw-requestid", id);
    }
    response
}
