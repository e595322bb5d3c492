//! The public API as tests call it: one person, one credential.

use std::net::Ipv4Addr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::contract;
use crate::wait::{PATIENCE, seconds, wait_for};

/// An answer, read whole. Every one is held against the OpenAPI document.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The body, provided that the status is the one expected.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks for an error in the shape that every endpoint uses.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        body
    }
}

/// Someone who calls the service, with or without a bearer token.
#[derive(Clone)]
pub struct Caller {
    http: Client,
    base: String,
    bearer: Option<String>,
}

impl Caller {
    pub fn new(base: &str) -> Self {
        let url = reqwest::Url::parse(base).unwrap();
        let mut http = Client::builder().no_proxy().timeout(seconds(40));
        // Names under .localhost are loopback by RFC 6761, which not every resolver knows.
        if let Some(host) = url.host_str().filter(|host| host.ends_with(".localhost")) {
            http = http.resolve(host, (Ipv4Addr::LOCALHOST, 0).into());
        }
        // A gateway says so itself; MiniStack hands on what the caller says.
        let scheme = HeaderValue::try_from(url.scheme()).unwrap();
        let http = http.default_headers(HeaderMap::from_iter([(HeaderName::from_static("x-forwarded-proto"), scheme)]));
        Self { http: http.build().unwrap(), base: base.to_owned(), bearer: None }
    }

    pub fn with(&self, bearer: &str) -> Self {
        Self { bearer: Some(bearer.to_owned()), ..self.clone() }
    }

    pub fn anonymous(&self) -> Self {
        Self { bearer: None, ..self.clone() }
    }

    pub fn bearer(&self) -> &str {
        self.bearer.as_deref().unwrap_or_default()
    }

    /// A request to a path of the service, or to a whole address.
    pub fn request(&self, method: Method, target: &str) -> RequestBuilder {
        let url = if target.starts_with("http") { target.to_owned() } else { format!("{}{target}", self.base) };
        let request = self.http.request(method, url);
        match &self.bearer {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn get(&self, target: &str) -> Reply {
        send(self.request(Method::GET, target)).await
    }

    pub async fn delete(&self, target: &str) -> Reply {
        send(self.request(Method::DELETE, target)).await
    }

    pub async fn post(&self, target: &str, body: &Value) -> Reply {
        send(self.request(Method::POST, target).json(body)).await
    }

    pub async fn put(&self, target: &str, body: &Value) -> Reply {
        send(self.request(Method::PUT, target).json(body)).await
    }

    pub async fn patch(&self, target: &str, body: &Value) -> Reply {
        send(self.request(Method::PATCH, target).json(body)).await
    }

    /// None when there is no answer: the host may have been killed.
    pub async fn try_get(&self, target: &str) -> Option<Reply> {
        try_send(self.request(Method::GET, target)).await.ok()
    }

    /// None when there is no answer: the host may have been killed.
    pub async fn try_post(&self, target: &str, body: &Value) -> Option<Reply> {
        try_send(self.request(Method::POST, target).json(body)).await.ok()
    }
}

pub async fn send(request: RequestBuilder) -> Reply {
    try_send(request).await.expect("the service answers")
}

async fn try_send(request: RequestBuilder) -> reqwest::Result<Reply> {
    let (client, request) = request.build_split();
    let request = request?;
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let body = request.body().and_then(|body| body.as_bytes()).map(<[u8]>::to_vec);
    let response = client.execute(request).await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let reply = Reply { status, headers, text: response.text().await? };
    contract::check(&method, &path, body.as_deref(), &reply);
    Ok(reply)
}

/// A tenant and its admin.
pub struct Account {
    pub id: Value,
    pub admin: Agent,
}

impl Account {
    /// Opens an account with an e-mail address nobody else has.
    pub async fn open(operator: &Caller) -> Self {
        let email = unique_email("admin");
        let body = json!({
            "name": "Acme",
            "admin": {"name": "Grace", "email": email, "password": PASSWORD},
        });
        let made = operator.post("/operator/accounts", &body).await.expect(201);
        let admin = Agent::log_in(operator, made["admin_id"].clone(), &email).await;
        Self { id: made["account_id"].clone(), admin }
    }

    pub async fn agent(&self, name: &str) -> Agent {
        self.agent_with(name, json!({})).await
    }

    /// An agent with these fields besides the required ones.
    pub async fn agent_with(&self, name: &str, more: Value) -> Agent {
        let fields = json!({"name": name, "email": unique_email("agent"), "password": PASSWORD, "role": "agent"});
        let body = merged(fields, more);
        let made = self.admin.call.post("/admin/agents", &body).await.expect(201);
        Agent::log_in(&self.admin.call, made["agent_id"].clone(), body["email"].as_str().unwrap()).await
    }

    pub async fn channel(&self, integrator_url: &str) -> Channel {
        self.channel_with(integrator_url, json!({})).await
    }

    /// A channel with these settings besides the required ones.
    pub async fn channel_with(&self, integrator_url: &str, more: Value) -> Channel {
        let body = merged(json!({"kind": "api", "name": "App", "integrator_url": integrator_url}), more);
        let made = self.admin.call.post("/admin/channels", &body).await.expect(201);
        let field = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{name}: {made}")).to_owned();
        Channel {
            call: self.admin.call.anonymous(),
            id: field("channel_id"),
            endpoint: field("endpoint"),
            signing_secret: field("signing_secret"),
        }
    }
}

pub const PASSWORD: &str = "correct horse battery staple";

pub fn unique_email(who: &str) -> String {
    format!("{who}-{}@acme.example", local::home::random_hex::<8>().unwrap())
}

/// `base` with the fields of `more` set over it.
pub fn merged(mut base: Value, more: Value) -> Value {
    let (Value::Object(fields), Value::Object(more)) = (&mut base, more) else { panic!("two objects") };
    fields.extend(more);
    base
}

/// A person who answers.
#[derive(Clone)]
pub struct Agent {
    pub call: Caller,
    pub id: Value,
    pub email: String,
}

impl Agent {
    pub async fn log_in(anyone: &Caller, id: Value, email: &str) -> Self {
        let credentials = json!({"email": email, "password": PASSWORD});
        let session = anyone.post("/agent/login", &credentials).await.expect(200);
        let call = anyone.with(session["token"].as_str().expect("a token"));
        Self { call, id, email: email.to_owned() }
    }

    pub async fn presence(&self, status: &str) {
        self.call.put("/agent/presence", &json!({"status": status})).await.expect(200);
    }

    pub async fn chats(&self, state: &str) -> Vec<Value> {
        let body = self.call.get(&format!("/agent/chats?state={state}")).await.expect(200);
        body["chats"].as_array().expect("chats").clone()
    }

    pub async fn chat(&self, chat: u64) -> Value {
        self.call.get(&format!("/agent/chats/{chat}")).await.expect(200)
    }

    pub async fn messages(&self, chat: u64) -> Vec<Value> {
        self.messages_after(chat, 0).await
    }

    /// The timeline from `seq` on, however many pages that takes.
    pub async fn messages_after(&self, chat: u64, seq: u64) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().map_or(seq, |last| number(&last["seq"]));
            let body = self.call.get(&format!("/agent/chats/{chat}/messages?after={after}")).await.expect(200);
            let page = body["messages"].as_array().expect("messages");
            if page.is_empty() {
                return all;
            }
            all.extend(page.iter().cloned());
        }
    }

    pub async fn message(&self, chat: u64, seq: u64) -> Value {
        let page = self.messages_after(chat, seq - 1).await;
        page.into_iter().find(|message| message["seq"] == seq).unwrap_or_else(|| panic!("no entry {seq}"))
    }

    pub async fn accept(&self, chat: u64) {
        let body = self.call.post(&format!("/agent/chats/{chat}/accept"), &json!({})).await.expect(200);
        assert_eq!(body["state"], "active");
    }

    pub async fn close(&self, chat: u64) {
        self.call.post(&format!("/agent/chats/{chat}/close"), &json!({})).await.expect(200);
    }

    /// Writes a text and returns its place in the timeline.
    pub async fn write(&self, chat: u64, text: &str) -> u64 {
        self.write_message(chat, &json!({"type": "text", "text": text})).await
    }

    pub async fn write_message(&self, chat: u64, message: &Value) -> u64 {
        let body = self.call.post(&format!("/agent/chats/{chat}/messages"), message).await.expect(201);
        number(&body["seq"])
    }

    pub async fn typing(&self, chat: u64, kind: &str) {
        self.call.post(&format!("/agent/chats/{chat}/typing"), &json!({"type": kind})).await.expect(200);
    }

    /// The delivery of an entry, once it has left `pending`.
    pub async fn verdict(&self, chat: u64, seq: u64) -> Value {
        wait_for("a verdict", PATIENCE, async || {
            let delivery = self.message(chat, seq).await["delivery"].clone();
            if delivery["state"] == "pending" { Err(delivery) } else { Ok(delivery) }
        })
        .await
    }
}

#[track_caller]
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// An API channel, from the integrator's side.
#[derive(Clone)]
pub struct Channel {
    pub call: Caller,
    pub id: String,
    pub endpoint: String,
    pub signing_secret: String,
}

impl Channel {
    pub async fn post(&self, body: &Value) -> Reply {
        self.call.post(&self.endpoint, body).await
    }

    /// A visitor writes a text.
    pub async fn say(&self, visitor: &str, text: &str) {
        let body = json!({"sender": {"id": visitor}, "message": {"type": "text", "text": text}});
        let answer = self.post(&body).await.expect(200);
        assert_eq!(answer, json!({"result": "ok"}));
    }

    pub async fn status(&self) -> Reply {
        self.call.get(&format!("{}/status", self.endpoint)).await
    }
}
