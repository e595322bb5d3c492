//! Stands before the local SQS and counts what each function uses, if it may. Every function has its own
//! address: `/sqs/{function}`.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde::Deserialize;
use tower::ServiceExt;

use crate::operation::operation;
use crate::outage::Outage;
use crate::permission::{Denied, Permission, Roles};
use crate::sqs::{Queues, SERVICE};
use crate::usage::Meter;

/// More than any request that SQS takes.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone)]
struct Proxy {
    queues: Router,
    meter: Meter,
    roles: Roles,
    outage: Outage,
}

/// What counting and allowing need to know of a request.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Call {
    queue_url: String,
}

/// `base_url` is what queue URLs begin with.
pub(crate) fn router(queues: &Queues, base_url: String, meter: Meter, roles: Roles, outage: Outage) -> Router {
    let proxy = Proxy { queues: queues.router(base_url), meter, roles, outage };
    Router::new().route("/sqs/{function}", any(forward)).route("/sqs/{function}/", any(forward)).with_state(proxy)
}

impl Proxy {
    /// Counts what the function may ask for.
    fn admit(&self, function: &str, call: &Call, action: &str) -> Result<(), Denied> {
        let queue = call.queue_url.rsplit('/').next().unwrap_or_default();
        // A batch needs what each of its entries would need alone.
        let action_of_one = format!("sqs:{}", action.trim_end_matches("Batch"));
        self.roles.check(function, &[Permission { action: action_of_one, resource: Queues::arn(queue) }])?;
        self.meter.sqs(function, queue, action);
        Ok(())
    }
}

async fn forward(State(proxy): State<Proxy>, Path(function): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    // The queues will say what is wrong with a body that cannot be read.
    let action = operation(&head.headers, SERVICE);
    if let Ok(call) = serde_json::from_slice::<Call>(&body)
        && let Err(denied) = proxy.admit(&function, &call, action)
    {
        return denied.into_response();
    }
    if let Some(refusal) = proxy.outage.refuses(action) {
        return refusal;
    }
    let request = Request::from_parts(head, Body::from(body));
    proxy.queues.oneshot(request).await.into_response()
}
