//! The demo site at `/demo`: a shop with the widget and, next to it, the demo agent's console and the journal of the
//! demo account's receivers. The files are built from `functions/www/demo` and compiled into this program. They are not
//! served by a function, because only the local host has a demo account.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::json;

use super::account::{self, DemoAccount};
use super::local_caller::LocalCaller;
use super::sign_in::{DemoUser, SignInLinks};
use crate::api_client::{self, ApiClient};

/// `{service}` stands for the URL of the service, and `{widget_id}` for the id of the demo widget.
const PAGE: &str = include_str!("../../../../functions/www/dist/demo/index.html");
const SCRIPT: &str = include_str!("../../../../functions/www/dist/demo/demo.js");
const STYLES: &str = include_str!("../../../../functions/www/dist/demo/demo.css");
const ICON: &str = include_str!("../../../../functions/www/dist/demo/icon.svg");
const LICENCES: &str = include_str!("../../../../functions/www/dist/demo/LICENSES.txt");

/// `{sockets}` stands for the origins of the WebSockets. Uploaded files have another port.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' https: http: data:; media-src https: http:; connect-src 'self' {sockets} http://127.0.0.1:*; frame-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

/// The routes of the demo site. Until the demo account is connected, the site's page and the console in its frame get
/// the response 503. Clones share the connection.
#[derive(Clone)]
pub struct DemoSite {
    sign_in_links: SignInLinks,
    connection: Arc<OnceLock<Connection>>,
}

struct Connection {
    api: ApiClient,
    demo: DemoAccount,
}

#[derive(Deserialize)]
struct Presence {
    status: String,
    online: bool,
}

impl DemoSite {
    #[must_use]
    pub fn new(sign_in_links: SignInLinks) -> Self {
        Self { sign_in_links, connection: Arc::default() }
    }

    /// Only the first call has an effect.
    pub fn connect(&self, api: ApiClient, demo: &DemoAccount) {
        let _ = self.connection.set(Connection { api, demo: demo.clone() });
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/demo", get(page))
            .route("/demo/", get(page))
            .route("/demo/assets/{file}", get(asset))
            .route(
                "/demo/sign-in/agent",
                get(async |_: LocalCaller, State(site): State<Self>| {
                    site.redirect_to_console("/console/", DemoUser::Agent)
                }),
            )
            .route(
                "/demo/sign-in/admin",
                get(async |_: LocalCaller, State(site): State<Self>| {
                    site.redirect_to_console("/console/", DemoUser::Admin)
                }),
            )
            .route(
                "/demo/console/sign-in",
                get(async |_: LocalCaller, State(site): State<Self>| {
                    site.redirect_to_console("/demo/console/", DemoUser::Agent)
                }),
            )
            .route("/demo/console/", get(framed_console))
            .with_state(self)
    }

    fn redirect_to_console(&self, console: &str, user: DemoUser) -> Response {
        match self.sign_in_links.create_code(user) {
            Ok(code) => Redirect::to(&format!("{console}#code={code}")).into_response(),
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}

impl Connection {
    /// Makes the demo agent available for chats, unless the agent is away, because the widget shows its offline form
    /// while no agent is available. Later, the console in the page keeps the agent online.
    async fn put_agent_online(&self) -> Result<(), api_client::Error> {
        let token = account::log_in(&self.api, &self.demo.agent_email, &self.demo.agent_password).await?;
        let presence: Presence = self.api.get("/agent/presence", &token).await?;
        if !presence.online && presence.status != "away" {
            self.api.put("/agent/presence", &token, &json!({"status": "online"})).await?;
        }
        Ok(())
    }
}

async fn page(caller: LocalCaller, State(site): State<DemoSite>) -> Response {
    let Some(connection) = site.connection.get() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "There is no demo account; the terminal shows the reason.")
            .into_response();
    };
    // If this fails, the visitor sees the offline form until the agent is online.
    let _ = connection.put_agent_online().await;
    let (host, widget_id) = (&caller.host, connection.demo.widget_id.as_deref().unwrap_or_default());
    let page = PAGE.replace("{service}", &format!("http://{host}")).replace("{widget_id}", widget_id);
    let socket_origin = connection.api.base_url().replacen("http", "ws", 1);
    let policy = CONTENT_SECURITY_POLICY.replace("{sockets}", &format!("ws://{host} {socket_origin}"));
    html(page, &policy)
}

async fn asset(_: LocalCaller, Path(file): Path<String>) -> Response {
    let (content_type, text) = match file.as_str() {
        "demo.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "demo.css" => ("text/css; charset=utf-8", STYLES),
        "icon.svg" => ("image/svg+xml", ICON),
        "LICENSES.txt" => ("text/plain; charset=utf-8", LICENCES),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}

/// Returns the console's page with a policy that lets the demo site frame it. The console's own policy does not allow
/// any site to frame it.
async fn framed_console(_: LocalCaller, State(site): State<DemoSite>) -> Response {
    let Some(connection) = site.connection.get() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    match connection.api.get_page("/console/").await {
        Ok((policy, page)) => html(page, &policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

fn html(page: String, policy: &str) -> Response {
    let mut response = Html(page).into_response();
    let policy = HeaderValue::from_str(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    response.headers_mut().extend([
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]);
    response
}
