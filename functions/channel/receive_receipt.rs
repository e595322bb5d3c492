//! POST /channel/{secret}/{channel_id}/receipts: stores that a message has reached the visitor of an API channel, or
//! that the visitor has read it. Agents see it beside the message.

use std::process::ExitCode;

use shared::chats::visitor::receive_receipt::{ReceivedReceipt, receive_receipt};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::channels::visitor_report::ReceiptReport;
use shared::wire::fields::described::{ResultOk, Success};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, chats): (Directory, Chats), request: Request) -> Result<Response, Error> {
    let now = clock::now();
    let (channel, _) = auth::integrator(&directory, &request, now).await?;
    let report: ReceiptReport = request.body_as()?;
    let receipt = ReceivedReceipt {
        channel: &channel,
        external_id: report.external_id(),
        message_id: report.message_id(),
        kind: report.kind(),
        now,
    };
    receive_receipt(&chats, &receipt).await?;
    Ok(Response::ok(Success { result: ResultOk::Ok }).with_logged_message_id(report.message_id()))
}
