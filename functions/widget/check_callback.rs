//! POST /widget/{widget_id}/callback: returns whether the visitor can ask for a callback now (specification, part D,
//! isCallbackEnabled). A browser without a token can ask too.
//!
//! Costs these table requests:
//! - channel: one read, cached for ten seconds. A request from a site that is not allowed is rejected after this read
//! - rate limit: one write for every tenth request from a client network in each process
//! - visitor: one read, if the request has a token. A request with a wrong token is rejected after this read
//! - settings and telephony settings: one read each, cached for ten seconds. Nothing more is read if callbacks are
//!   disabled, if the visitor is blacklisted, or outside the working hours
//! - balance: one read. Nothing more is read if the balance is used up, or if the account has reached its limit of
//!   callbacks for the day
//! - agent: one query of the agents' presence and one read for each of at most 20 agents who are online. If the visitor
//!   has an open chat, also one read of it. If the widget names agents or departments, also one query of the roster
//!   (the account's agents and departments), cached for ten seconds
//! - call in progress: one read for a known visitor, and a second one if the visitor has had a call in the last day

use std::process::ExitCode;

use shared::error::{Error, ErrorResponse};
use shared::runtime::http::{self, Request, Response};
use shared::service::calls::CallService;
use shared::service::widget::{self, WidgetRequest};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::{callback_json, parse_optional_token};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, ErrorResponse> {
    widget::with_cors_headers(&request, check(&dependencies, &request).await)
}

async fn check((directory, chats, connections): &Dependencies, request: &Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(directory, connections, request).await?;
    let visitor = match parse_optional_token(&accepted.body)? {
        Some(_) => Some(accepted.visitor(chats).await?),
        None => None,
    };
    let service = CallService { directory, chats, connections, now: accepted.now };
    let availability = service.callback_availability(&accepted.channel, visitor.as_ref()).await?;
    Ok(Response::ok(callback_json(availability)))
}
