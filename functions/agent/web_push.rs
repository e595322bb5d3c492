//! /agent/web-push: GET returns the account's key for Web Push and whether the session's browser gets notifications,
//! PUT subscribes the browser, and DELETE ends its notifications.

use std::process::ExitCode;

use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{NewWebPushSubscription, UnsubscribedWebPush, WebPush};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, SsrfGuard, PublicBaseUrl);

async fn handle((directory, connections, guard, url): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PUT")?;
    let caller = auth::agent(&connections, &request).await?;
    if request.method == "DELETE" {
        connections.delete_web_push_subscription(&caller.account_id, &caller.id).await?;
        return Ok(Response::ok(UnsubscribedWebPush { unsubscribed: True }));
    }
    let key = directory.web_push_key_or_new(&caller.account_id).await?;
    let subscription = if request.method == "PUT" {
        let body: NewWebPushSubscription = request.body_as()?;
        let subscription = body.of_session(caller, url.of_request(&request), &guard)?;
        connections.put_web_push_subscription(&subscription).await?;
        Some(subscription)
    } else {
        connections.web_push_subscription(&caller).await?
    };
    Ok(Response::ok(WebPush::new(&key, subscription.as_ref())))
}
