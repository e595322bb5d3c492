//! Tests of the links that sign in the users of the demo account.

use local::Host;
use local::api_client::ApiClient;
use local::demo::DemoAccount;
use local::demo::sign_in::SignInLinks;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::probe_host::{link_binaries, memory_options};

fn request(host: &Host, body: &Value) -> RequestBuilder {
    let request = Client::new().post(format!("{}/_local/sign-in", host.base_url()));
    request.header("content-type", "application/json").body(body.to_string())
}

async fn status(request: RequestBuilder) -> StatusCode {
    request.send().await.unwrap().status()
}

/// Returns the request body with the code of a link.
fn code(link: &str) -> Value {
    let (_, code) = link.split_once("/console/#code=").unwrap();
    json!({"code": code})
}

fn demo_account() -> DemoAccount {
    let account = json!({
        "account_id": "x", "admin_email": "admin@demo.example", "admin_password": "x",
        "agent_email": "agent@demo.example", "agent_password": "secret", "channel_id": "x", "channel_url": "x",
        "provider_id": "x", "bot_token": "x", "bot_channel_url": "x",
    });
    serde_json::from_value(account).unwrap()
}

#[tokio::test]
async fn link_signs_in_once_and_only_on_this_machine() {
    let folder = link_binaries();
    let (mut options, _) = memory_options(folder.path());
    let links = SignInLinks::default();
    options.extra_routes = links.clone().router();
    let host = Host::start(options).await.unwrap();

    // The demo account does not exist yet.
    assert_eq!(status(request(&host, &json!({"code": "x"}))).await, StatusCode::NOT_FOUND);

    links.connect(ApiClient::new(host.base_url()).unwrap(), &demo_account());
    let link = links.create(host.base_url()).unwrap();
    assert!(link.starts_with(host.base_url()), "{link}");
    for host_header in ["switchboard.example", "192.168.1.7:3000"] {
        let foreign = request(&host, &code(&link)).header("host", host_header);
        assert_eq!(status(foreign).await, StatusCode::FORBIDDEN, "{host_header}");
    }
    assert_eq!(status(request(&host, &json!({"code": "0".repeat(32)}))).await, StatusCode::NOT_FOUND);
    assert_eq!(status(request(&host, &json!({}))).await, StatusCode::BAD_REQUEST);

    // The probe function serves /agent/login and returns its event, which contains the credentials.
    let session: Value = request(&host, &code(&link)).send().await.unwrap().json().await.unwrap();
    let credentials: Value = serde_json::from_str(session["body"].as_str().unwrap()).unwrap();
    assert_eq!(credentials, json!({"email": "agent@demo.example", "password": "secret"}));

    let second = request(&host, &code(&link)).send().await.unwrap();
    assert_eq!(second.status(), StatusCode::GONE);
    let error: Value = second.json().await.unwrap();
    let message = "this sign-in link has already been used; the terminal shows a new one";
    assert_eq!(error, json!({"error": {"code": "gone", "message": message}}));

    let next = links.create(host.base_url()).unwrap();
    assert_eq!(status(request(&host, &code(&next))).await, StatusCode::OK);
}
