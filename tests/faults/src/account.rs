//! The account of a round, with its channels, agents, bot, webhooks and receivers.

use local::faults::Generator;
use local::random_and_digest::random_hex;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::client::ApiClient;
use crate::receiver::{Kind, Receiver};
use crate::records::Records;

const PASSWORD: &str = "tulips in the spring rain";
pub const AGENTS: usize = 3;
pub const BOT_ANSWER_SECONDS: u64 = 15;

#[derive(Clone)]
pub struct Agent {
    pub id: u64,
    pub client: ApiClient,
}

#[derive(Clone)]
pub struct Channel {
    pub endpoint: String,
    pub has_bot: bool,
}

pub struct Account {
    pub admin: Agent,
    pub agents: Vec<Agent>,
    pub channels: Vec<Channel>,
    pub receivers: Vec<Receiver>,
    /// The path to which the bot posts its messages.
    pub bot_path: String,
}

impl Account {
    /// Returns the account and the events that its bot gets.
    pub async fn create(
        anonymous: &ApiClient,
        operator_key: &str,
        generator: &Generator,
        records: &Records,
    ) -> (Self, UnboundedReceiver<Value>) {
        let operator = anonymous.with_token(operator_key);
        let email = unique_email();
        let fields = json!({"name": "Acme", "admin": {"name": "Grace", "email": email, "password": PASSWORD}});
        let created = operator.must_post("/operator/accounts", &fields).await;
        let admin = log_in(anonymous, &created["admin_id"], &email).await;
        let limits = json!({"limits": {"channel_chats": 10_000, "bot_requests": 10_000, "visitor_messages": 1_000}});
        admin.client.must_put("/admin/settings", &limits).await;
        let mut agents = Vec::new();
        for number in 0..AGENTS {
            agents.push(create_agent(&admin, anonymous, number).await);
        }

        let start = async |name, kind, misbehaves| Receiver::start(name, kind, misbehaves, generator, records).await;
        let (steady_integrator, _) = start("steady integrator", Kind::Integrator, false).await;
        let (moody_integrator, _) = start("moody integrator", Kind::Integrator, true).await;
        let (steady_webhook, _) = start("steady webhook", Kind::Webhook, false).await;
        let (moody_webhook, _) = start("moody webhook", Kind::Webhook, true).await;
        let (provider, events) = start("bot", Kind::Bot, true).await;

        let mut channels = Vec::new();
        for (integrator, has_bot) in
            [(&steady_integrator, false), (&moody_integrator, false), (&steady_integrator, true)]
        {
            let body = json!({"kind": "api", "name": "App", "integrator_url": integrator.url()});
            let created = admin.client.must_post("/admin/channels", &body).await;
            channels.push((created["channel_id"].clone(), Channel { endpoint: text(&created["endpoint"]), has_bot }));
        }
        for webhook in [&steady_webhook, &moody_webhook] {
            admin.client.must_post("/admin/settings/webhooks", &json!({"url": webhook.url()})).await;
        }
        let bot_channel = channels.last().unwrap().0.clone();
        let bot_path = connect_bot(&operator, &admin, &provider, &bot_channel).await;
        let receivers = vec![steady_integrator, moody_integrator, steady_webhook, moody_webhook, provider];
        let channels = channels.into_iter().map(|(_, channel)| channel).collect();
        (Self { admin, agents, channels, receivers, bot_path }, events)
    }

    pub fn calm_receivers(&self) {
        self.receivers.iter().for_each(Receiver::behave);
    }

    pub fn agent(&self, id: u64) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }
}

async fn create_agent(admin: &Agent, anonymous: &ApiClient, number: usize) -> Agent {
    let email = unique_email();
    let fields = json!({"name": format!("Agent {number}"), "email": email, "password": PASSWORD, "role": "agent"});
    let created = admin.client.must_post("/admin/agents", &fields).await;
    let agent = log_in(anonymous, &created["agent_id"], &email).await;
    agent.client.must_put("/agent/presence", &json!({"status": "online"})).await;
    agent
}

async fn log_in(anonymous: &ApiClient, id: &Value, email: &str) -> Agent {
    let session = anonymous.must_post("/agent/login", &json!({"email": email, "password": PASSWORD})).await;
    Agent { id: id.as_u64().unwrap(), client: anonymous.with_token(&text(&session["token"])) }
}

/// Returns the path to which the bot posts.
async fn connect_bot(operator: &ApiClient, admin: &Agent, provider: &Receiver, channel_id: &Value) -> String {
    let fields = json!({"name": "Bots & Co", "endpoint": provider.url()});
    let provider_id = text(&operator.must_post("/operator/providers", &fields).await["provider_id"]);
    let token = random_hex::<16>().unwrap();
    let fields = json!({
        "provider_id": provider_id, "token": token, "channel_ids": [channel_id], "name": "Robin",
        "answer_within": BOT_ANSWER_SECONDS,
    });
    admin.client.must_post("/admin/bots", &fields).await;
    format!("/bot/webhooks/{provider_id}/{token}")
}

fn unique_email() -> String {
    format!("{}@acme.example", random_hex::<8>().unwrap())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}
