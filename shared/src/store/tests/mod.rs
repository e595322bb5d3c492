//! The stores against a real engine: dynoxide in memory, through the official SDK, with the tables that
//! `template.yaml` describes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::wildcard_enum_match_arm)]

mod agents;
mod backlog;
mod bots;
mod breakers;
mod chat_log;
mod chats;
mod connections;
mod deliveries;
mod departments;
mod directory;
mod keeping;
mod ledger;
mod listing;
mod login_attempts;
mod participants;
mod settings;
mod transitions;
mod visitors;

use std::net::SocketAddr;
use std::time::Duration;

use crate::domain::account::{Agent, Author, Role};
use crate::domain::bot::{Bot, BotNotice};
use crate::domain::channel::{AddressSecret, Channel, ChannelSettings, Validation};
use crate::domain::chat::Sender;
use crate::domain::chat_state::State;
use crate::domain::content::{Button, ButtonId, Content, Kind, Media, Rich, Shows};
use crate::domain::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Failure, Target};
use crate::domain::delivery_log::Retry;
use crate::domain::entry::Entry;
use crate::domain::panel::{CustomData, Panel, PanelChange};
use crate::domain::presence::{Presence, Status};
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Profile, Source};
use crate::domain::webhook::{SigningSecret, Webhook};
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::agent_messages::Outgoing;
use crate::store::chats::deliveries::{Backlog, DUE_PARTITIONS, Overdue};
use crate::store::chats::idempotency::IdempotencyKey;
use crate::store::chats::transitions::Transition;
use crate::store::chats::visitor_messages::Incoming;
use crate::store::connections::Connections;
use crate::store::directory::agents::Authority;
use crate::store::directory::{Directory, opens};
use crate::store::table::{Item, Table};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType,
};
use futures_util::future::join_all;

/// Three empty tables of an engine of their own.
struct Stores {
    directory: Directory,
    chats: Chats,
    connections: Connections,
    /// The settings of the account.
    settings: Settings,
    client: Client,
}

/// The states of a chat that is not over.
const OPEN: &[&str] = &["bot", "waiting", "active"];

const NOW: Timestamp = Timestamp(1_700_000_000_000);

async fn stores() -> Stores {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let database = dynoxide::Database::memory().unwrap();
    tokio::spawn(async move { dynoxide::server::serve_on(listener, database).await });
    let client = client(address);
    create(&client, "directory", &[("by_account", "account_id", ("pk", ScalarAttributeType::S))]).await;
    let listing = ("listing", "listing", ("chat_id", ScalarAttributeType::N));
    let due = ("due", "due", ("due_at", ScalarAttributeType::N));
    create(&client, "chats", &[listing, due]).await;
    create(&client, "connections", &[]).await;
    Stores {
        directory: Directory::new(Table::new(client.clone(), "directory")),
        chats: Chats::new(Table::new(client.clone(), "chats")),
        connections: Connections::new(Table::new(client.clone(), "connections")),
        settings: Settings::default(),
        client,
    }
}

fn client(address: SocketAddr) -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .endpoint_url(format!("http://{address}"))
        .build();
    Client::from_conf(config)
}

type Index = (&'static str, &'static str, (&'static str, ScalarAttributeType));

async fn create(client: &Client, name: &str, indexes: &[Index]) {
    let attribute = |name: &str, kind: &ScalarAttributeType| {
        AttributeDefinition::builder().attribute_name(name).attribute_type(kind.clone()).build().unwrap()
    };
    let key =
        |name: &str, kind: KeyType| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    let mut request = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute("pk", &ScalarAttributeType::S))
        .attribute_definitions(attribute("sk", &ScalarAttributeType::S))
        .key_schema(key("pk", KeyType::Hash))
        .key_schema(key("sk", KeyType::Range));
    for (index, hash, (range, kind)) in indexes {
        let built = GlobalSecondaryIndex::builder()
            .index_name(*index)
            .key_schema(key(hash, KeyType::Hash))
            .key_schema(key(range, KeyType::Range))
            .projection(Projection::builder().projection_type(ProjectionType::All).build());
        request = request
            .global_secondary_indexes(built.build().unwrap())
            .attribute_definitions(attribute(hash, &ScalarAttributeType::S));
        if *range != "pk" {
            request = request.attribute_definitions(attribute(range, kind));
        }
    }
    request.send().await.unwrap();
}

fn channel() -> Channel {
    let settings = ChannelSettings {
        name: "App".into(),
        integrator_url: "https://example.com".into(),
        append_channel_id: true,
        enabled: true,
        chunked: true,
        agent_ids: vec![2],
        department_ids: vec![3],
        validation: Validation::Lenient,
        hidden_error_codes: vec![-1, 9],
        shows: Shows { markdown: true, buttons: false },
    };
    Channel {
        channel_id: "CH".into(),
        account_id: "acc".into(),
        settings,
        bot_id: None,
        secrets: vec![AddressSecret { hash: crate::runtime::secret::hash("random"), valid_until: None }],
        signing_secret: "whsec_x".into(),
        created_at: NOW,
    }
}

fn agent(agent_id: u64, email: &str) -> Agent {
    Agent {
        account_id: "acc".into(),
        agent_id,
        name: "Bob".into(),
        email: email.into(),
        phone: None,
        photo: Some("https://x.example/b.png".into()),
        role: Role::Admin,
        created_at: NOW,
    }
}

fn bob() -> Author {
    Author { agent_id: 1, name: "Bob".into(), photo: None }
}

/// A webhook that is told of everything.
fn webhook(webhook_id: &str) -> Webhook {
    let secret = SigningSecret { secret: "whsec_x".into(), valid_until: None };
    Webhook { webhook_id: webhook_id.into(), url: "https://crm.example".into(), events: vec![], secrets: vec![secret] }
}

fn named(name: &str) -> Profile {
    Profile { name: Some(name.into()), ..Profile::default() }
}

fn at(seconds: u64) -> Timestamp {
    NOW.after(Duration::from_secs(seconds))
}

impl Stores {
    /// A visitor writes a text; the answer is the chat and the number of the entry.
    async fn visitor_writes(&self, visitor: &str, text: &str, now: Timestamp) -> Result<(u64, u64), Error> {
        self.visitor_says(visitor, &Profile::default(), text, None, now).await
    }

    async fn visitor_says(
        &self,
        external_id: &str,
        profile: &Profile,
        text: &str,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<(u64, u64), Error> {
        let (channel, content) = (channel(), Content::text(text));
        let incoming = Incoming {
            channel: &channel,
            department: None,
            external_id,
            has_numeric_id: false,
            invite: None,
            profile,
            content: &content,
            settings: &self.settings,
            key,
            now,
        };
        self.chats.visitor_message(&incoming).await.map(|received| {
            let answered = received.unwrap().answered;
            (answered.chat_id, answered.seq)
        })
    }

    /// An agent accepts a chat as it is now.
    async fn accept(
        &self,
        chat_id: u64,
        agent: &Author,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let seen = self.chats.chat("acc", chat_id).await?.ok_or(Error::NotFound)?;
        self.chats.accept(seen, agent, webhooks, now).await
    }

    /// An agent closes a chat as it is now.
    async fn close(
        &self,
        chat_id: u64,
        agent: &Author,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let seen = self.chats.chat("acc", chat_id).await?.ok_or(Error::NotFound)?;
        self.chats.close(seen, agent, webhooks, now).await
    }

    async fn agent_writes(&self, chat_id: u64, text: &str, now: Timestamp) -> Result<u64, Error> {
        let (agent, content) = (bob(), Content::text(text));
        let outgoing = Outgoing { account_id: "acc", chat_id, agent: &agent, content, key: None, now };
        self.chats.agent_message(&outgoing).await.map(|answered| answered.seq)
    }

    /// The deliveries of a chat that should have been over before then.
    async fn overdue(&self, chat_id: u64, before: Timestamp) -> Vec<Overdue> {
        let partition = chat_id % DUE_PARTITIONS;
        self.chats.overdue(Backlog::Deliveries, partition, before, None, 10).await.unwrap().items
    }

    /// Every item of the Chats table.
    async fn items(&self) -> Vec<Item> {
        self.client.scan().table_name("chats").consistent_read(true).send().await.unwrap().items.unwrap()
    }

    /// A chat that Bob has, with one undelivered message of his; its number.
    async fn undelivered(&self) -> u64 {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
        self.agent_writes(1, "hello", NOW).await.unwrap()
    }
}
