//! Makes the requests of scenarios to a local host through the public API, and reads the host's usage counters.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use local::api_client::{self, ApiClient};
use local::sqs::QueueDepth;
use local::{Host, demo};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::function_usage::{self, PUSH_FUNCTION, Usage, UsageByFunction};
use crate::receiver::ReceiverServer;

/// The longest wait for empty queues or for the end of the pushes. It exceeds the delays of the scenarios' tasks: three
/// seconds for a retry, four for the check for a bot's answer, and eleven for the check of a call.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// If the usage of the pushes has not changed for this long, all changes have been pushed. The local host passes a
/// change on within a few milliseconds.
const PUSH_SETTLE_TIME: Duration = Duration::from_millis(300);
const PASSWORD: &str = "tulips in the spring rain";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    ApiClient(#[from] api_client::Error),
    #[error(transparent)]
    Host(#[from] local::Error),
    #[error("cannot read the queues: {0}")]
    Queues(#[from] local::sqs::Error),
    #[error("cannot start the receiver: {0}")]
    ReceiverServer(#[from] std::io::Error),
    #[error("cannot read the usage counters: {0}")]
    Usage(#[from] serde_json::Error),
    #[error("the response has no field `{0}`")]
    MissingField(&'static str),
    #[error("the socket failed: {0}")]
    Socket(#[from] Box<tokio_tungstenite::tungstenite::Error>),
    #[error("a change was not pushed in time")]
    NoPush,
    #[error("tasks remain in the queues: {0}")]
    TasksLeft(String),
}

pub type Socket = WebSocketStream<TcpStream>;

pub struct Driver<'h> {
    pub host: &'h Host,
    pub api: ApiClient,
    pub receiver: ReceiverServer,
    pub operator_key: &'h str,
}

pub struct LoggedInAgent {
    pub id: Value,
    pub token: String,
}

impl<'h> Driver<'h> {
    pub async fn open(host: &'h Host, operator_key: &'h str) -> Result<Self, Error> {
        let (api, receiver) = (ApiClient::new(host.base_url())?, ReceiverServer::start().await?);
        Ok(Self { host, api, receiver, operator_key })
    }

    /// Returns the usage of each function that `scenario` calls or that processes the tasks queued by `scenario`.
    /// Scheduled functions and pushes are not included.
    pub async fn measure(&self, scenario: impl AsyncFnOnce() -> Result<(), Error>) -> Result<UsageByFunction, Error> {
        self.start_measuring().await?;
        scenario().await?;
        self.wait_until_empty().await?;
        self.usage()
    }

    /// Resets the usage, and counts round trips exactly until [`usage`](Self::usage) is called. Exact counting delays
    /// the responses of the tables.
    pub async fn start_measuring(&self) -> Result<(), Error> {
        self.reset_usage().await?;
        self.host.separate_round_trips(true);
        Ok(())
    }

    /// Waits until no task is queued, then resets the usage.
    pub async fn reset_usage(&self) -> Result<(), Error> {
        self.wait_until_empty().await?;
        self.host.reset_usage();
        Ok(())
    }

    /// Returns each function's usage since the last reset, and ends the exact counting of round trips. Scheduled
    /// functions and pushes are not included.
    pub fn usage(&self) -> Result<UsageByFunction, Error> {
        self.host.separate_round_trips(false);
        let mut usage = function_usage::usage_by_function(self.host.usage())?;
        usage.retain(|function, _| !function_usage::is_scheduled(function) && function != PUSH_FUNCTION);
        Ok(usage)
    }

    /// Runs `scenario` and returns the usage of the push that it causes. All invocations of `deliver-push` are counted
    /// as one (see [`Usage::pushed_changes`](crate::Usage::pushed_changes)).
    pub async fn measure_push(
        &self,
        scenario: impl AsyncFnOnce() -> Result<(), Error>,
    ) -> Result<UsageByFunction, Error> {
        self.wait_until_pushed().await?;
        self.start_measuring().await?;
        scenario().await?;
        let push = Usage { pushes: 1.0, ..self.wait_until_pushed().await? };
        self.host.separate_round_trips(false);
        Ok(UsageByFunction::from([(PUSH_FUNCTION.to_owned(), push)]))
    }

    /// Waits until no more changes are pushed, and returns the usage of the pushes since the last reset.
    async fn wait_until_pushed(&self) -> Result<Usage, Error> {
        let usage = || -> Result<Option<Usage>, Error> {
            Ok(function_usage::usage_by_function(self.host.usage())?.get(PUSH_FUNCTION).copied())
        };
        let started = Instant::now();
        let mut last = usage()?;
        loop {
            tokio::time::sleep(PUSH_SETTLE_TIME).await;
            match (usage()?, last) {
                (Some(now), Some(before)) if now == before => return Ok(now),
                (now, _) => last = now,
            }
            if started.elapsed() > DRAIN_TIMEOUT {
                return Err(Error::NoPush);
            }
        }
    }

    pub async fn open_socket(&self, agent: &LoggedInAgent) -> Result<Socket, Error> {
        let ticket = self.post("/agent/socket-ticket", agent, json!({})).await?;
        let url = format!("{}?ticket={}", text(&ticket, "url")?, text(&ticket, "ticket")?);
        let stream = TcpStream::connect(("127.0.0.1", self.host.port())).await?;
        let (socket, _) = client_async(url, stream).await.map_err(Box::new)?;
        Ok(socket)
    }

    /// Reads frames from a socket until a chat's row arrives. Every new message in a chat causes such a frame.
    pub async fn read_until_chat(&self, socket: &mut Socket) -> Result<(), Error> {
        while let Some(frame) = socket.next().await {
            let frame = frame.map_err(Box::new)?;
            let push: Value = serde_json::from_str(frame.to_text().map_err(Box::new)?)?;
            if push.get("type").is_some_and(|kind| kind == "chat") {
                return Ok(());
            }
        }
        Err(Error::NoPush)
    }

    pub async fn wait_until_empty(&self) -> Result<(), Error> {
        self.wait_until(|_| false).await
    }

    pub async fn wait_until_only_delayed(&self) -> Result<(), Error> {
        self.wait_until(|depth| depth.visible + depth.in_flight == 0).await
    }

    async fn wait_until(&self, may_remain: impl Fn(&QueueDepth) -> bool) -> Result<(), Error> {
        let started = Instant::now();
        loop {
            let remaining = self.host.queues().non_empty_queues()?;
            if remaining.values().all(&may_remain) {
                return Ok(());
            }
            if started.elapsed() > DRAIN_TIMEOUT {
                return Err(Error::TasksLeft(format!("{remaining:?}")));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    pub async fn post(&self, path: &str, agent: &LoggedInAgent, body: Value) -> Result<Value, Error> {
        Ok(self.api.post(path, Some(&agent.token), &body).await?)
    }

    pub async fn create_account(&self, name: &str) -> Result<LoggedInAgent, Error> {
        let email = format!("admin@{name}.example");
        let admin = json!({"name": "Grace", "email": email, "password": PASSWORD});
        let body = json!({"name": name, "admin": admin});
        let response: Value = self.api.post("/operator/accounts", Some(self.operator_key), &body).await?;
        self.log_in(&response, "admin_id", &email).await
    }

    pub async fn create_agent(&self, admin: &LoggedInAgent, email: &str) -> Result<LoggedInAgent, Error> {
        let body = json!({"name": "Ann", "email": email, "password": PASSWORD, "role": "agent"});
        let response = self.post("/admin/agents", admin, body).await?;
        self.log_in(&response, "agent_id", email).await
    }

    /// Logs in a newly created agent. `response` is the response to the request that created the agent. Its field
    /// `id_field` contains the agent's id.
    async fn log_in(&self, response: &Value, id_field: &'static str, email: &str) -> Result<LoggedInAgent, Error> {
        let id = response.get(id_field).cloned().ok_or(Error::MissingField(id_field))?;
        let token = demo::log_in(&self.api, email, PASSWORD).await?;
        Ok(LoggedInAgent { id, token })
    }

    /// Returns the channel's id and endpoint path. Without a URL, the channel's messages are fetched.
    pub async fn create_channel(
        &self,
        admin: &LoggedInAgent,
        url: Option<&str>,
        departments: Value,
    ) -> Result<(String, String), Error> {
        let (name, pull) = ("App", url.is_none());
        let body = json!({
            "kind": "api", "name": name, "integrator_url": url, "pull": pull, "department_ids": departments,
        });
        let response = self.post("/admin/channels", admin, body).await?;
        let endpoint = text(&response, "endpoint")?;
        let path = endpoint.strip_prefix(self.api.base_url()).unwrap_or(&endpoint);
        Ok((text(&response, "channel_id")?, path.to_owned()))
    }

    /// Returns the widget's id.
    pub async fn create_widget(&self, admin: &LoggedInAgent) -> Result<String, Error> {
        let response = self.post("/admin/channels", admin, json!({"kind": "widget", "name": "Widget"})).await?;
        text(&response, "widget_id")
    }

    pub async fn call_widget(&self, widget_id: &str, endpoint: &str, body: Value) -> Result<Value, Error> {
        Ok(self.api.post(&format!("/widget/{widget_id}/{endpoint}"), None, &body).await?)
    }

    pub async fn send_visitor_message(&self, channel_path: &str, visitor: &str) -> Result<(), Error> {
        self.send_message_from(channel_path, json!({"id": visitor})).await
    }

    pub async fn send_message_from(&self, channel_path: &str, sender: Value) -> Result<(), Error> {
        let body = json!({"sender": sender, "message": {"type": "text", "text": "Hello"}});
        self.api.post::<Value>(channel_path, None, &body).await?;
        Ok(())
    }

    pub async fn accept(&self, agent: &LoggedInAgent, chat: u64) -> Result<(), Error> {
        self.chat_action(agent, chat, "accept", json!({})).await
    }

    pub async fn chat_action(&self, agent: &LoggedInAgent, chat: u64, action: &str, body: Value) -> Result<(), Error> {
        self.post(&format!("/agent/chats/{chat}/{action}"), agent, body).await?;
        Ok(())
    }

    pub async fn send_agent_message(&self, agent: &LoggedInAgent, chat: u64) -> Result<(), Error> {
        self.chat_action(agent, chat, "messages", json!({"type": "text", "text": "Hello"})).await
    }
}

/// Returns a field of a response. Fails if the field is missing or not a string.
pub fn text(response: &Value, field: &'static str) -> Result<String, Error> {
    response.get(field).and_then(Value::as_str).map(str::to_owned).ok_or(Error::MissingField(field))
}
