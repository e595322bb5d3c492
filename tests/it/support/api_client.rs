//! Clients for the public API, each with at most one credential. The helper types act as an account, an agent, or a
//! channel's integrator.

use std::net::Ipv4Addr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::project::openapi_contract;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

/// A response of the service. `ApiClient` and [`send`] check it against the OpenAPI document.
#[derive(Debug, Clone)]
pub struct ApiResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl ApiResponse {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Checks the status and returns the JSON body, or null if the body is empty.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        body
    }
}

#[derive(Clone)]
pub struct ApiClient {
    http: Client,
    base: String,
    token: Option<String>,
}

impl ApiClient {
    pub fn new(base: &str) -> Self {
        let url = reqwest::Url::parse(base).unwrap();
        let mut http = Client::builder().no_proxy().timeout(seconds(40));
        // Host names ending in .localhost belong to this machine (RFC 6761), but not every resolver supports this.
        if let Some(host) = url.host_str().filter(|host| host.ends_with(".localhost")) {
            http = http.resolve(host, (Ipv4Addr::LOCALHOST, 0).into());
        }
        // API Gateway sets this header itself. MiniStack, the AWS emulator used by `tests/deploy/run`, forwards the
        // client's header instead.
        let scheme = HeaderValue::try_from(url.scheme()).unwrap();
        let http = http.default_headers(HeaderMap::from_iter([(HeaderName::from_static("x-forwarded-proto"), scheme)]));
        Self { http: http.build().unwrap(), base: base.to_owned(), token: None }
    }

    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    pub fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    /// Returns a request with the client's credential. `target` is a path of the service or an absolute URL.
    pub fn request(&self, method: Method, target: &str) -> RequestBuilder {
        let url = if target.starts_with("http") { target.to_owned() } else { format!("{}{target}", self.base) };
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn get(&self, target: &str) -> ApiResponse {
        send(self.request(Method::GET, target)).await
    }

    pub async fn delete(&self, target: &str) -> ApiResponse {
        send(self.request(Method::DELETE, target)).await
    }

    pub async fn post(&self, target: &str, body: &Value) -> ApiResponse {
        send(self.request(Method::POST, target).json(body)).await
    }

    pub async fn put(&self, target: &str, body: &Value) -> ApiResponse {
        send(self.request(Method::PUT, target).json(body)).await
    }

    pub async fn patch(&self, target: &str, body: &Value) -> ApiResponse {
        send(self.request(Method::PATCH, target).json(body)).await
    }

    /// Returns `None` if there is no response, for example because the host was killed.
    pub async fn try_get(&self, target: &str) -> Option<ApiResponse> {
        try_send(self.request(Method::GET, target)).await.ok()
    }

    /// Returns `None` if there is no response, for example because the host was killed.
    pub async fn try_post(&self, target: &str, body: &Value) -> Option<ApiResponse> {
        try_send(self.request(Method::POST, target).json(body)).await.ok()
    }
}

/// The maximum number of times that a request is sent while the response is 503.
pub const MAX_REPETITIONS: usize = 30;

/// Repeats the request while the response is 503. Panics after `MAX_REPETITIONS` such responses.
pub async fn repeat_while_unavailable(request: impl AsyncFn() -> ApiResponse) -> ApiResponse {
    for _ in 0..MAX_REPETITIONS {
        let reply = request().await;
        if reply.status != 503 {
            return reply;
        }
    }
    panic!("only 503 responses")
}

pub async fn send(request: RequestBuilder) -> ApiResponse {
    try_send(request).await.expect("the service answers")
}

async fn try_send(request: RequestBuilder) -> reqwest::Result<ApiResponse> {
    let (client, request) = request.build_split();
    let request = request?;
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let body = request.body().and_then(|body| body.as_bytes()).map(<[u8]>::to_vec);
    let response = client.execute(request).await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let reply = ApiResponse { status, headers, text: response.text().await? };
    openapi_contract::check(&method, &path, body.as_deref(), &reply);
    Ok(reply)
}

pub struct TestAccount {
    pub id: Value,
    pub admin: TestAgent,
}

impl TestAccount {
    pub async fn create(operator: &ApiClient) -> Self {
        let email = unique_email("admin");
        let body = json!({
            "name": "Acme",
            "admin": {"name": "Grace", "email": email, "password": PASSWORD},
        });
        let created = operator.post("/operator/accounts", &body).await.expect(201);
        let admin = TestAgent::log_in(operator, created["admin_id"].clone(), &email).await;
        Self { id: created["account_id"].clone(), admin }
    }

    pub async fn create_agent(&self, name: &str) -> TestAgent {
        self.create_agent_with(name, json!({})).await
    }

    pub async fn create_agent_with(&self, name: &str, extra_fields: Value) -> TestAgent {
        let fields = json!({"name": name, "email": unique_email("agent"), "password": PASSWORD, "role": "agent"});
        let body = merged(fields, extra_fields);
        let created = self.admin.client.post("/admin/agents", &body).await.expect(201);
        TestAgent::log_in(&self.admin.client, created["agent_id"].clone(), body["email"].as_str().unwrap()).await
    }

    pub async fn create_channel(&self, integrator_url: &str) -> TestChannel {
        self.create_channel_with(integrator_url, json!({})).await
    }

    pub async fn create_channel_with(&self, integrator_url: &str, extra_fields: Value) -> TestChannel {
        let body = merged(json!({"kind": "api", "name": "App", "integrator_url": integrator_url}), extra_fields);
        let created = self.admin.client.post("/admin/channels", &body).await.expect(201);
        let field = |name: &str| created[name].as_str().unwrap_or_else(|| panic!("{name}: {created}")).to_owned();
        TestChannel {
            client: self.admin.client.without_token(),
            id: field("channel_id"),
            endpoint: field("endpoint"),
            signing_secret: field("signing_secret"),
        }
    }
}

pub const PASSWORD: &str = "tulips in the spring rain";

pub fn unique_email(prefix: &str) -> String {
    format!("{prefix}-{}@acme.example", local::random_and_digest::random_hex::<8>().unwrap())
}

/// Returns `base` with the fields of `changes` added or replaced.
pub fn merged(mut base: Value, changes: Value) -> Value {
    let (Value::Object(fields), Value::Object(changes)) = (&mut base, changes) else { panic!("two objects") };
    fields.extend(changes);
    base
}

#[derive(Clone)]
pub struct TestAgent {
    pub client: ApiClient,
    pub id: Value,
    pub email: String,
}

impl TestAgent {
    pub async fn log_in(anonymous: &ApiClient, id: Value, email: &str) -> Self {
        let credentials = json!({"email": email, "password": PASSWORD});
        let session = anonymous.post("/agent/login", &credentials).await.expect(200);
        let client = anonymous.with_token(session["token"].as_str().expect("a token"));
        Self { client, id, email: email.to_owned() }
    }

    pub async fn set_presence(&self, status: &str) {
        self.client.put("/agent/presence", &json!({"status": status})).await.expect(200);
    }

    pub async fn chats(&self, state: &str) -> Vec<Value> {
        let body = self.client.get(&format!("/agent/chats?state={state}")).await.expect(200);
        body["chats"].as_array().expect("chats").clone()
    }

    pub async fn chat(&self, chat: u64) -> Value {
        self.client.get(&format!("/agent/chats/{chat}")).await.expect(200)
    }

    pub async fn timeline(&self, chat: u64) -> Vec<Value> {
        self.timeline_after(chat, 0).await
    }

    /// Returns all timeline entries after `seq`, across all pages.
    pub async fn timeline_after(&self, chat: u64, seq: u64) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().map_or(seq, |last| number(&last["seq"]));
            let body = self.client.get(&format!("/agent/chats/{chat}/messages?after={after}")).await.expect(200);
            let page = body["messages"].as_array().expect("messages");
            if page.is_empty() {
                return all;
            }
            all.extend(page.iter().cloned());
        }
    }

    pub async fn timeline_entry(&self, chat: u64, seq: u64) -> Value {
        let page = self.timeline_after(chat, seq - 1).await;
        page.into_iter().find(|message| message["seq"] == seq).unwrap_or_else(|| panic!("no entry {seq}"))
    }

    pub async fn accept(&self, chat: u64) {
        let body = self.client.post(&format!("/agent/chats/{chat}/accept"), &json!({})).await.expect(200);
        assert_eq!(body["state"], "active");
    }

    pub async fn close(&self, chat: u64) {
        self.client.post(&format!("/agent/chats/{chat}/close"), &json!({})).await.expect(200);
    }

    /// Sends a text message and returns its `seq`.
    pub async fn send_text(&self, chat: u64, text: &str) -> u64 {
        self.send_message(chat, &json!({"type": "text", "text": text})).await
    }

    pub async fn send_message(&self, chat: u64, message: &Value) -> u64 {
        let body = self.client.post(&format!("/agent/chats/{chat}/messages"), message).await.expect(201);
        number(&body["seq"])
    }

    pub async fn send_typing(&self, chat: u64, kind: &str) {
        self.client.post(&format!("/agent/chats/{chat}/typing"), &json!({"type": kind})).await.expect(200);
    }

    /// Waits until an entry's delivery is no longer `pending`, and returns the delivery.
    pub async fn final_delivery(&self, chat: u64, seq: u64) -> Value {
        wait_for("the end of a delivery", WAIT_TIMEOUT, async || {
            let delivery = self.timeline_entry(chat, seq).await["delivery"].clone();
            if delivery["state"] == "pending" { Err(delivery) } else { Ok(delivery) }
        })
        .await
    }
}

#[track_caller]
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// Returns the numbers of the chats on a page of a list.
pub fn chat_numbers(page: &Value) -> Vec<u64> {
    page["chats"].as_array().unwrap().iter().map(|row| number(&row["chat_id"])).collect()
}

/// A channel as seen by its integrator, which sends visitors' messages to it.
#[derive(Clone)]
pub struct TestChannel {
    pub client: ApiClient,
    pub id: String,
    pub endpoint: String,
    pub signing_secret: String,
}

impl TestChannel {
    pub async fn post(&self, body: &Value) -> ApiResponse {
        self.client.post(&self.endpoint, body).await
    }

    /// Sends a text message from the visitor with this id.
    pub async fn send_text(&self, visitor: &str, text: &str) {
        let body = json!({"sender": {"id": visitor}, "message": {"type": "text", "text": text}});
        let answer = self.post(&body).await.expect(200);
        assert_eq!(answer["result"], "ok");
    }

    pub async fn status(&self) -> ApiResponse {
        self.client.get(&format!("{}/status", self.endpoint)).await
    }
}
