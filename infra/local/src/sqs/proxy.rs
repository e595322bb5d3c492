//! The SQS endpoint for functions. It checks the function's permission, counts the request, injects faults and forwards
//! the request to the local queues. Every function has its own path, `/sqs/{function}`, and signs its requests with its
//! own access key. Requests that are signed with the credentials of a customer's role go to the customer's queues.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde::Deserialize;
use tower::ServiceExt;

use crate::aws::access_keys::AccessKeys;
use crate::aws::iam::{AccessDenied, Permission, Roles};
use crate::aws::operation::operation_name;
use crate::customer_aws::CustomerAws;
use crate::faults::sqs_outage::SqsOutage;
use crate::faults::{Faults, sqs_rejection};
use crate::sqs::{Queues, SERVICE};
use crate::usage::UsageMeter;

/// The maximum size of a request body. It exceeds the limit of the local queues, so that their limit applies.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct SqsProxy {
    pub access_keys: AccessKeys,
    /// The router that serves the local queues.
    pub queues: Router,
    pub meter: UsageMeter,
    pub roles: Roles,
    pub outage: SqsOutage,
    pub faults: Faults,
    pub customers: CustomerAws,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct QueueRequest {
    queue_url: String,
}

impl SqsProxy {
    pub fn router(self) -> Router {
        Router::new().route("/sqs/{function}", any(forward)).route("/sqs/{function}/", any(forward)).with_state(self)
    }

    /// Checks that the function has the permission for the request. If so, counts the request.
    fn authorize(&self, function: &str, request: &QueueRequest, action: &str) -> Result<(), AccessDenied> {
        let queue = request.queue_url.rsplit('/').next().unwrap_or_default();
        // IAM has no batch actions for SQS, so a batch needs the permission for the corresponding single action.
        let iam_action = format!("sqs:{}", action.trim_end_matches("Batch"));
        self.roles.authorize(function, &[Permission { action: iam_action, resource: Queues::arn(queue) }])?;
        self.meter.count_sqs_request(function, queue, action);
        Ok(())
    }
}

async fn forward(State(proxy): State<SqsProxy>, Path(function): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let customer_session = proxy.customers.session(&head.headers);
    if customer_session.is_none()
        && let Err(unrecognized) = proxy.access_keys.verify(&function, &head.headers)
    {
        return unrecognized.into_response();
    }
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let action = operation_name(&head.headers, SERVICE);
    if let Some(session) = customer_session {
        let handle = async { proxy.customers.handle_queue_request(&session, action, &body) };
        return proxy.customers.with_faults(sqs_rejection, handle).await;
    }
    // A request without a `QueueUrl`, such as ListQueues, is forwarded without a check and is not counted. If the
    // request is invalid, the queues return the same error as SQS.
    if let Ok(request) = serde_json::from_slice::<QueueRequest>(&body)
        && let Err(denied) = proxy.authorize(&function, &request, action)
    {
        return denied.into_response();
    }
    if let Some(rejection) = proxy.outage.reject(action) {
        return rejection;
    }
    let fault = proxy.faults.of_queue_request();
    let request = Request::from_parts(head, Body::from(body));
    let handle = async { proxy.queues.oneshot(request).await.into_response() };
    match fault {
        Some(fault) => fault.apply(sqs_rejection, handle).await,
        None => handle.await,
    }
}
