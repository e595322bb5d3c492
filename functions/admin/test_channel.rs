//! POST /admin/channels/{channel_id}/test: sends a sample message to the integrator of an API channel, and returns the
//! request and the response. `clause` in the body says which clause of the contract is tested.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::delivery::outbound_client::OutboundClient;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth, receiver_test};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::receiver_test::ChannelTestRequest;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, OutboundClient);

async fn handle((directory, connections, outbound): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let now = clock::now();
    let channel = directory.channel_of_account(&caller.account_id, &request.path_segment("channel_id")).await?;
    connections.count_receiver_test(&caller.account_id, now)?;
    let test = request.optional_body_as::<ChannelTestRequest>()?;
    let (kind, id, name) = (AuditedKind::Channel, &*channel.channel_id, &*channel.settings.name);
    let tested = AuditedChange::named(AuditAction::Tested, kind, id, name);
    audit::by_agent(&directory, &caller, &request).record(&channel.account_id, tested).await?;
    Ok(Response::ok(receiver_test::test_integrator(&outbound, &channel, &test, now).await?))
}
