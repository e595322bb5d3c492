//! POST /widget/{widget_id}/callback: returns whether the visitor can ask for a callback now (specification, part D,
//! isCallbackEnabled). A browser without a token can ask too.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::calls::CallService;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::{CallbackRequest, CallbackResult};

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let CallbackRequest { token } = accepted.body_as()?;
    let visitor = match &token.0 {
        Some(token) => Some(chats.widget_visitor(&accepted.channel.channel_id, token, accepted.now).await?),
        None => None,
    };
    let service = CallService { directory: &directory, chats: &chats, connections: &connections, now: accepted.now };
    let availability = service.callback_availability(&accepted.channel, visitor.as_ref()).await?;
    Ok(Response::ok(CallbackResult::from(availability)))
}
