//! POST /admin/settings/webhooks/{webhook_id}/test: sends a sample event once to the server, the queue or the event bus
//! of a webhook, and returns the request and the response. The event is `test` unless the body names another one, and
//! `clause` says which clause of the contract is tested.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::delivery::outbound_client::OutboundClient;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::customer_aws::CustomerAws;
use shared::runtime::http::{self, Request, Response};
use shared::service::webhooks::find_webhook;
use shared::service::{audit, auth, receiver_test};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::webhooks::webhook_sample::WebhookTestRequest;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, OutboundClient, CustomerAws);

async fn handle((directory, connections, outbound, aws): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (account_id, webhook_id, now) = (&caller.account_id, request.path_segment("webhook_id"), clock::now());
    connections.count_receiver_test(account_id, now)?;
    let test = request.optional_body_as::<WebhookTestRequest>()?;
    let mut settings = directory.settings(account_id).await?;
    let webhook = find_webhook(&mut settings, &webhook_id)?;
    let tested = AuditedChange::unnamed(AuditAction::Tested, AuditedKind::Webhook, &*webhook_id);
    audit::by_agent(&directory, &caller, &request).record(account_id, tested).await?;
    let tested = receiver_test::test_webhook((&outbound, &aws), account_id, webhook, &test, now).await?;
    Ok(Response::ok(tested))
}
