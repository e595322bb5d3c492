//! The account of a round, with its channels, agents, bot, webhooks and receivers.

use std::path::Path;
use std::time::Duration;

use local::faults::Generator;
use local::random_and_digest::random_hex;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep;

use crate::client::ApiClient;
use crate::customer::Customer;
use crate::evidence::{ChannelFacts, Journal, Promises};
use crate::fetcher::Fetcher;
use crate::receiver::{JournalEntry, Kind, Receiver};
use crate::records::Records;

const PASSWORD: &str = "tulips in the spring rain";
pub const AGENTS: usize = 3;
pub const BOT_ANSWER_SECONDS: u64 = 15;
/// The events that webhooks get that name none, as far as the load causes them.
const DEFAULT_EVENTS: [&str; 2] = ["chat_accepted", "chat_finished"];
pub const ANSWER_DUE_SOON: &str = "answer_due_soon";
/// The time limit of agents' answers, which many conversations exceed.
pub const ANSWER_SECONDS: u64 = 10;
pub const OWNERSHIP_EVENTS: [&str; 7] =
    ["bot_handed_over", "chat_ended", "chat_joined", "chat_opened", "chat_rated", "chat_transferred", "chat_waiting"];
/// How long functions may use settings that they have read before.
const SETTINGS_CACHE: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct Agent {
    pub id: u64,
    pub client: ApiClient,
}

#[derive(Clone)]
pub struct Channel {
    pub id: String,
    pub endpoint: String,
    pub facts: ChannelFacts,
}

pub struct Account {
    pub admin: Agent,
    pub agents: Vec<Agent>,
    pub channels: Vec<Channel>,
    /// The servers, each with what the service promises about its deliveries.
    pub receivers: Vec<(Receiver, Promises)>,
    fetcher: Fetcher,
    customer: Customer,
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
        let settings = json!({
            "limits": {"channel_chats": 10_000, "bot_requests": 10_000, "visitor_messages": 1_000},
            "answer_times": {"first_answer_seconds": ANSWER_SECONDS, "next_answer_seconds": ANSWER_SECONDS},
        });
        admin.client.must_put("/admin/settings", &settings).await;
        let mut agents = Vec::new();
        for number in 0..AGENTS {
            agents.push(create_agent(&admin, anonymous, number).await);
        }

        let customer = Customer::new();
        let settings = admin.client.must_get("/admin/settings").await;
        customer.trust(anonymous, &settings["aws_external_id"]).await;
        let start = async |name, kind, misbehaves| Receiver::start(name, kind, misbehaves, generator, records).await;
        let (steady_integrator, _) = start("steady integrator", Kind::Integrator, false).await;
        let (moody_integrator, _) = start("moody integrator", Kind::Integrator, true).await;
        let (strict_integrator, _) = start("strict integrator", Kind::Integrator, true).await;
        let (steady_webhook, _) = start("steady webhook", Kind::Webhook, false).await;
        let (answers_webhook, _) = start("steady webhook of answers", Kind::Webhook, false).await;
        let (moody_webhook, _) = start("moody webhook", Kind::Webhook, true).await;
        let (strict_webhook, _) = start("strict webhook of owners", Kind::Webhook, true).await;
        let (provider, events) = start("bot", Kind::Bot, true).await;

        let by_default = json!({});
        let strict_owners = json!({"events": OWNERSHIP_EVENTS, "strict_order": true});
        for (target, settings) in [
            (json!({"url": steady_webhook.url()}), &by_default),
            (json!({"url": moody_webhook.url()}), &by_default),
            (json!({"url": answers_webhook.url()}), &json!({"events": [ANSWER_DUE_SOON]})),
            (json!({"url": strict_webhook.url()}), &strict_owners),
            (customer.queue_webhook(), &strict_owners),
            (customer.event_bus_webhook(), &by_default),
        ] {
            admin.client.must_post("/admin/settings/webhooks", &merged(&target, settings)).await;
        }

        let to = |integrator: &Receiver| json!({"integrator_url": integrator.url()});
        let strict = merged(&to(&strict_integrator), &json!({"late_delivery": true, "strict_order": true}));
        let posted = ChannelFacts::default();
        let mut channels = Vec::new();
        for (settings, facts) in [
            (to(&steady_integrator), posted),
            (to(&moody_integrator), posted),
            (strict, ChannelFacts { is_late: true, ..posted }),
            (to(&steady_integrator), ChannelFacts { has_bot: true, ..posted }),
            (json!({"pull": true}), ChannelFacts { has_bot: true, is_fetched: true, ..posted }),
        ] {
            channels.push(create_channel(&admin, &settings, facts).await);
        }
        let bot_path = connect_bot(&operator, &admin, &provider, &channels).await;
        let fetched = channels.iter().find(|channel| channel.facts.is_fetched).unwrap();
        let fetcher = Fetcher::start(anonymous, &fetched.endpoint, generator, records);
        let receivers = vec![
            (steady_integrator, Promises::default()),
            (moody_integrator, Promises::default()),
            (strict_integrator, Promises { strict_order: true, ..Promises::default() }),
            (steady_webhook, Promises::of_events(DEFAULT_EVENTS)),
            (moody_webhook, Promises::of_events(DEFAULT_EVENTS)),
            (answers_webhook, Promises::of_events([ANSWER_DUE_SOON])),
            (strict_webhook, Promises { strict_order: true, ..Promises::of_events(OWNERSHIP_EVENTS) }),
            (provider, Promises::default()),
        ];
        sleep(SETTINGS_CACHE).await;
        (Self { admin, agents, channels, receivers, fetcher, customer, bot_path }, events)
    }

    pub fn calm_receivers(&self) {
        self.receivers.iter().for_each(|(receiver, _)| receiver.behave());
        self.fetcher.behave();
    }

    /// Returns what all receivers have received. `customer_file` is the file in which the host keeps what customers'
    /// AWS accounts have received.
    pub fn journals(&self, customer_file: &Path, records: &Records) -> Vec<Journal> {
        let journal = |receiver: &str, kind, requests: Vec<JournalEntry>, promises: &Promises| Journal {
            receiver: receiver.to_owned(),
            kind,
            requests,
            promises: promises.clone(),
        };
        let servers = self.receivers.iter();
        let servers = servers.map(|(server, promises)| journal(server.name, server.kind, server.journal(), promises));
        let [queue, event_bus] = self.customer.journals(customer_file, records);
        let strict_owners = Promises { strict_order: true, ..Promises::of_events(OWNERSHIP_EVENTS) };
        let fetched = Promises { is_fetched: true, ..Promises::default() };
        servers
            .chain([
                journal("queue of owners", Kind::Webhook, queue, &strict_owners),
                journal("event bus", Kind::Webhook, event_bus, &Promises::of_events(DEFAULT_EVENTS)),
                journal("fetching program", Kind::Integrator, self.fetcher.journal(), &fetched),
            ])
            .collect()
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

async fn create_channel(admin: &Agent, settings: &Value, facts: ChannelFacts) -> Channel {
    let body = merged(&json!({"kind": "api", "name": "App"}), settings);
    let created = admin.client.must_post("/admin/channels", &body).await;
    Channel { id: text(&created["channel_id"]), endpoint: text(&created["endpoint"]), facts }
}

fn merged(first: &Value, second: &Value) -> Value {
    first.as_object().unwrap().clone().into_iter().chain(second.as_object().unwrap().clone()).collect()
}

/// Returns the path to which the bot posts.
async fn connect_bot(operator: &ApiClient, admin: &Agent, provider: &Receiver, channels: &[Channel]) -> String {
    let channel_ids: Vec<&str> =
        channels.iter().filter(|channel| channel.facts.has_bot).map(|channel| channel.id.as_str()).collect();
    let fields = json!({"name": "Bots & Co", "endpoint": provider.url()});
    let provider_id = text(&operator.must_post("/operator/providers", &fields).await["provider_id"]);
    let token = random_hex::<16>().unwrap();
    let fields = json!({
        "provider_id": provider_id, "token": token, "channel_ids": channel_ids, "name": "Robin",
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
