//! The local host with somebody who plays on it through the public API, and the counting of what that used.

use std::time::{Duration, Instant};

use local::public_api::{self, Api};
use local::sqs::Depth;
use local::{Host, demo};
use serde_json::{Value, json};

use crate::counts::{self, Bill};
use crate::receiver::Receiver;

/// How long the queues may take to run empty: a failed try comes again after three seconds.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
const PASSWORD: &str = "correct horse battery staple";

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service refused what was played.
    #[error(transparent)]
    Api(#[from] public_api::Error),
    /// The host could not run a function.
    #[error(transparent)]
    Host(#[from] local::Error),
    /// A queue could not be looked at.
    #[error("cannot look at the queues: {0}")]
    Queues(#[from] local::sqs::Error),
    /// The receiver could not start.
    #[error("cannot receive: {0}")]
    Receiver(#[from] std::io::Error),
    /// The meter said something else than expected.
    #[error("cannot read the meter: {0}")]
    Meter(#[from] serde_json::Error),
    /// An answer lacks this field.
    #[error("no `{0}` in the answer")]
    Missing(&'static str),
    /// Tasks stayed in the queues.
    #[error("the queues do not run empty: {0}")]
    Unsettled(String),
}

/// Where the paths are played.
pub struct Stage<'h> {
    pub host: &'h Host,
    pub api: Api,
    pub receiver: Receiver,
    pub operator_key: &'h str,
}

/// Somebody who has logged in.
pub struct Person {
    pub id: Value,
    pub token: String,
}

impl<'h> Stage<'h> {
    pub async fn open(host: &'h Host, operator_key: &'h str) -> Result<Self, Error> {
        let (api, receiver) = (Api::new(host.base_url())?, Receiver::start().await?);
        Ok(Self { host, api, receiver, operator_key })
    }

    /// What each function used for this and for everything that follows from it. What the clocks do meanwhile is not
    /// part of it.
    pub async fn cost(&self, act: impl AsyncFnOnce() -> Result<(), Error>) -> Result<Bill, Error> {
        self.start_counting().await?;
        act().await?;
        self.stable_prefix().await?;
        self.bill()
    }

    pub async fn start_counting(&self) -> Result<(), Error> {
        self.stable_prefix().await?;
        self.host.reset_usage();
        Ok(())
    }

    /// What was used since the counting began, by all but the clocks.
    pub fn bill(&self) -> Result<Bill, Error> {
        let mut bill = counts::bill(self.host.usage())?;
        bill.retain(|function, _| !counts::is_scheduled(function));
        Ok(bill)
    }

    /// Waits until nothing is left to do.
    pub async fn stable_prefix(&self) -> Result<(), Error> {
        self.wait_until(|_| false).await
    }

    /// Waits until nothing is left to do but what was put off.
    pub async fn quiet(&self) -> Result<(), Error> {
        self.wait_until(|depth| depth.visible + depth.in_flight == 0).await
    }

    async fn wait_until(&self, may_stay: impl Fn(&Depth) -> bool) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            let left = self.host.queues().left()?;
            if left.values().all(&may_stay) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(Error::Unsettled(format!("{left:?}")));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    pub async fn post(&self, path: &str, person: &Person, body: Value) -> Result<Value, Error> {
        Ok(self.api.post(path, Some(&person.token), &body).await?)
    }

    /// Opens an account; returns its admin.
    pub async fn account(&self, name: &str) -> Result<Person, Error> {
        let email = format!("admin@{name}.example");
        let admin = json!({"name": "Grace", "email": email, "password": PASSWORD});
        let body = json!({"name": name, "admin": admin});
        let made: Value = self.api.post("/operator/accounts", Some(self.operator_key), &body).await?;
        self.log_in(&made, "admin_id", &email).await
    }

    /// Adds an agent to the admin's account.
    pub async fn agent(&self, admin: &Person, email: &str) -> Result<Person, Error> {
        let body = json!({"name": "Ann", "email": email, "password": PASSWORD, "role": "agent"});
        let made = self.post("/admin/agents", admin, body).await?;
        self.log_in(&made, "agent_id", email).await
    }

    /// Logs in whoever was just made, with an id in this field.
    async fn log_in(&self, made: &Value, id: &'static str, email: &str) -> Result<Person, Error> {
        let id = made.get(id).cloned().ok_or(Error::Missing(id))?;
        let token = demo::log_in(&self.api, email, PASSWORD).await?;
        Ok(Person { id, token })
    }

    /// Adds a channel to the admin's account; returns its id and the path where visitors write.
    pub async fn channel(&self, admin: &Person, url: &str, departments: Value) -> Result<(String, String), Error> {
        let body = json!({"kind": "api", "name": "App", "integrator_url": url, "department_ids": departments});
        let made = self.post("/admin/channels", admin, body).await?;
        let endpoint = text(&made, "endpoint")?;
        let path = endpoint.strip_prefix(self.api.base_url()).unwrap_or(&endpoint);
        Ok((text(&made, "channel_id")?, path.to_owned()))
    }

    /// A visitor writes.
    pub async fn say(&self, channel: &str, visitor: &str) -> Result<(), Error> {
        self.say_as(channel, json!({"id": visitor})).await
    }

    pub async fn say_as(&self, channel: &str, sender: Value) -> Result<(), Error> {
        let body = json!({"sender": sender, "message": {"type": "text", "text": "Hello"}});
        self.api.post::<Value>(channel, None, &body).await?;
        Ok(())
    }

    pub async fn accept(&self, agent: &Person, chat: u64) -> Result<(), Error> {
        self.act(agent, chat, "accept", json!({})).await
    }

    /// An agent does something to a chat.
    pub async fn act(&self, agent: &Person, chat: u64, what: &str, body: Value) -> Result<(), Error> {
        self.post(&format!("/agent/chats/{chat}/{what}"), agent, body).await?;
        Ok(())
    }

    /// An agent writes.
    pub async fn write(&self, agent: &Person, chat: u64) -> Result<(), Error> {
        self.act(agent, chat, "messages", json!({"type": "text", "text": "Hello"})).await
    }
}

/// A field of an answer that is a text.
pub fn text(answer: &Value, field: &'static str) -> Result<String, Error> {
    answer.get(field).and_then(Value::as_str).map(str::to_owned).ok_or(Error::Missing(field))
}
