//! The stores against a real engine: dynoxide in memory, through the official SDK, with the tables that
//! `template.yaml` describes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::wildcard_enum_match_arm)]

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType,
};
use futures_util::future::join_all;

use super::agent_writes::Outgoing;
use super::chats::Chats;
use super::connections::Connections;
use super::directory::{Directory, opens};
use super::idempotency::IdempotencyKey;
use super::table::Table;
use super::visitor_writes::Incoming;
use crate::domain::account::{Agent, Author, Role};
use crate::domain::bot::{Bot, Notice};
use crate::domain::channel::{AddressSecret, Channel, ChannelSettings, Validation};
use crate::domain::chat::From;
use crate::domain::content::{Button, Content, Kind, Media, Rich, Shows};
use crate::domain::delivery::{Attempt, Change, Failure, Progress, Target};
use crate::domain::entry::Entry;
use crate::domain::ownership::State;
use crate::domain::presence::{Presence, Status};
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Profile;
use crate::error::Error;

/// Three empty tables of an engine of their own.
struct Stores {
    directory: Directory,
    chats: Chats,
    connections: Connections,
}

const NOW: Timestamp = Timestamp(1_700_000_000_000);

async fn stores() -> Stores {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let database = dynoxide::Database::memory().unwrap();
    tokio::spawn(async move { dynoxide::server::serve_on(listener, database).await });
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .endpoint_url(format!("http://{address}"))
        .build();
    let client = Client::from_conf(config);
    create(&client, "directory", &[("by_account", "account_id", ("pk", ScalarAttributeType::S))]).await;
    let listing = ("listing", "listing", ("chat_id", ScalarAttributeType::N));
    let due = ("due", "due", ("due_at", ScalarAttributeType::N));
    create(&client, "chats", &[listing, due]).await;
    create(&client, "connections", &[]).await;
    Stores {
        directory: Directory::new(Table::new(client.clone(), "directory")),
        chats: Chats::new(Table::new(client.clone(), "chats")),
        connections: Connections::new(Table::new(client, "connections")),
    }
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
        chunked: true,
        agent_ids: vec![2],
        validation: Validation::Lenient,
        hidden_error_codes: vec![-1, 9],
        shows: Shows { markdown: true, buttons: false },
    };
    Channel {
        channel_id: "CH".into(),
        account_id: "acc".into(),
        settings,
        bot_id: None,
        secrets: vec![AddressSecret { hash: crate::secret::hash("random"), valid_until: None }],
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
        let incoming = Incoming { channel: &channel, external_id, profile, content: &content, key, now };
        self.chats.visitor_message(&incoming).await.map(|answered| (answered.chat_id, answered.seq))
    }

    async fn agent_writes(&self, chat_id: u64, text: &str, now: Timestamp) -> Result<u64, Error> {
        let (agent, content) = (bob(), Content::text(text));
        let outgoing = Outgoing { account_id: "acc", chat_id, agent: &agent, content, key: None, now };
        self.chats.agent_message(&outgoing).await.map(|answered| answered.seq)
    }

    /// A chat that Bob has, with one undelivered message of his; its number.
    async fn undelivered(&self) -> u64 {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.chats.accept("acc", 1, &bob(), NOW).await.unwrap();
        self.agent_writes(1, "hello", NOW).await.unwrap()
    }
}

#[tokio::test]
async fn channels_agents_and_logins_come_back_as_they_were_stored() {
    let Stores { directory, .. } = stores().await;
    let (made, address) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    assert!(opens(Some(&made), &address, NOW));
    assert_eq!(made.settings, channel().settings);
    assert_eq!(directory.channel_of("acc", &made.channel_id).await.unwrap(), made);
    assert!(matches!(directory.channel_of("other", &made.channel_id).await, Err(Error::NotFound)));
    assert_eq!(directory.channels("acc").await.unwrap(), [made]);
    assert_eq!(directory.channels("other").await.unwrap(), []);
    let bob = agent(1, "bob@example.com");
    directory.create_account("Acme", &bob, "hash").await.unwrap();
    assert_eq!(directory.agents("acc").await.unwrap(), std::slice::from_ref(&bob));
    assert_eq!(directory.login("bob@example.com").await.unwrap().unwrap().agent_id, 1);
    assert_eq!(directory.next_agent_id("acc").await.unwrap(), 2);
    directory.delete_agent(&bob).await.unwrap();
    assert!(directory.login("bob@example.com").await.unwrap().is_none());
    assert_eq!(directory.agent("acc", 1).await.unwrap(), None);
}

#[tokio::test]
async fn an_e_mail_belongs_to_one_agent_of_the_whole_service() {
    let Stores { directory, .. } = stores().await;
    directory.create_account("Acme", &agent(1, "bob@example.com"), "hash").await.unwrap();
    let twin = Agent { account_id: "other".into(), ..agent(1, "bob@example.com") };
    let refused = directory.create_account("Other", &twin, "hash").await;
    assert!(matches!(refused, Err(Error::Conflict("the e-mail is taken"))), "{refused:?}");
    assert_eq!(directory.agent("other", 1).await.unwrap(), None, "all or nothing");
    let ann = agent(2, "ann@example.com");
    directory.create_agent(&ann, "hash").await.unwrap();
    let moved = Agent { email: "bob@example.com".into(), ..ann.clone() };
    assert!(matches!(directory.save_login(&ann, &moved, None).await, Err(Error::Conflict(_))));
    let moved = Agent { email: "anna@example.com".into(), ..ann.clone() };
    directory.save_login(&ann, &moved, None).await.unwrap();
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    assert_eq!(directory.login("anna@example.com").await.unwrap().unwrap().password_hash, "hash");
}

#[test]
fn only_a_living_secret_opens_a_channel() {
    let mut rotated = channel();
    rotated.rotate(crate::secret::hash("newer"), NOW, at(10));
    assert!(opens(Some(&rotated), "newer", at(60)));
    assert!(opens(Some(&rotated), "random", at(9)));
    assert!(!opens(Some(&rotated), "random", at(10)));
    assert!(!opens(Some(&rotated), "wrong", NOW));
    assert!(!opens(None, "random", NOW));
}

#[tokio::test]
async fn a_session_lives_by_its_token_until_it_is_ended_or_unused() {
    let Stores { connections, .. } = stores().await;
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    let session = connections.session(&token, at(1)).await.unwrap().unwrap();
    assert_eq!((session.account_id.as_str(), session.agent.agent_id, session.role), ("acc", 1, Role::Admin));
    for wrong in ["", "acc", "acc.1", "acc.1.x", "acc.2.x", &format!("{token}x"), "a#b.1.x"] {
        assert!(connections.session(wrong, at(1)).await.unwrap().is_none(), "{wrong}");
    }
    let eleven_hours = 11 * 3_600;
    assert!(connections.session(&token, at(eleven_hours)).await.unwrap().is_some(), "a use extends it");
    assert!(connections.session(&token, at(2 * eleven_hours)).await.unwrap().is_some());
    assert!(connections.session(&token, at(4 * eleven_hours)).await.unwrap().is_none());
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    connections.rename_sessions(&Agent { name: "Rob".into(), ..agent(1, "b@x.y") }).await.unwrap();
    assert_eq!(connections.session(&token, at(1)).await.unwrap().unwrap().agent.name, "Rob");
    connections.end_sessions("acc", 1).await.unwrap();
    assert!(connections.session(&token, at(1)).await.unwrap().is_none());
}

#[tokio::test]
async fn presence_is_refreshed_by_calls() {
    let Stores { connections, .. } = stores().await;
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    let presence = Presence { agent_id: 1, status: Status::Online, seen_at: NOW };
    connections.set_presence("acc", presence).await.unwrap();
    connections.session(&token, at(300)).await.unwrap().unwrap();
    let refreshed = connections.presences("acc").await.unwrap();
    assert_eq!(refreshed, [Presence { seen_at: at(300), ..presence }]);
    connections.forget_presence("acc", 1).await.unwrap();
    assert_eq!(connections.presence("acc", 1).await.unwrap(), None);
}

#[tokio::test]
async fn numbers_of_chats_and_visitors_are_sequential_in_an_account() {
    let stores = stores().await;
    assert_eq!(stores.visitor_writes("a", "1", NOW).await.unwrap(), (1, 1));
    assert_eq!(stores.visitor_writes("a", "2", NOW).await.unwrap(), (1, 2));
    assert_eq!(stores.visitor_writes("b", "1", NOW).await.unwrap(), (2, 1));
    let head = stores.chats.chat("acc", 2).await.unwrap().unwrap();
    assert_eq!((head.state, head.visitor_number, head.visitor_name.as_str()), (State::Waiting, 2, "Anonymous"));
}

#[tokio::test]
async fn a_visitor_who_writes_from_many_places_at_once_opens_one_chat() {
    let stores = stores().await;
    let texts: Vec<String> = (0..5).map(|n| n.to_string()).collect();
    let written = join_all(texts.iter().map(|text| stores.visitor_writes("v", text, NOW))).await;
    let written: Vec<(u64, u64)> = written.into_iter().map(Result::unwrap).collect();
    let chat_id = written[0].0;
    assert!(written.iter().all(|(chat, _)| *chat == chat_id), "{written:?}");
    let timeline = stores.chats.timeline("acc", chat_id, 0, 100).await.unwrap();
    let mut found: Vec<&str> = timeline.iter().filter_map(|entry| entry.content.text.as_deref()).collect();
    found.sort_unstable();
    assert_eq!(found, texts);
}

#[tokio::test]
async fn a_visitors_data_is_kept_and_updated_during_a_chat() {
    let stores = stores().await;
    let ann = Profile { phone: Some("+1".into()), ..named("Ann") };
    stores.visitor_says("v", &ann, "hi", None, NOW).await.unwrap();
    stores.visitor_says("v", &named("Anna"), "again", None, NOW).await.unwrap();
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    assert_eq!(visitor.profile, Profile { phone: Some("+1".into()), ..named("Anna") });
    let head = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    assert_eq!((head.visitor_name.as_str(), head.last_message.unwrap().text.as_str()), ("Anna", "again"));
}

#[tokio::test]
async fn a_visitor_over_the_rate_is_refused_and_nothing_is_stored() {
    let stores = stores().await;
    for n in 0..30 {
        stores.visitor_writes("v", &n.to_string(), NOW).await.unwrap();
    }
    let refused = stores.visitor_writes("v", "more", at(4)).await;
    assert!(matches!(refused, Err(Error::RateLimited(wait)) if wait == Duration::from_secs(6)), "{refused:?}");
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 30);
    stores.visitor_writes("v", "later", at(10)).await.unwrap();
}

#[tokio::test]
async fn a_repeated_idempotency_key_stores_nothing_and_gets_the_first_answer() {
    let stores = stores().await;
    let key = IdempotencyKey::new("CH".into(), "k1");
    let first = stores.visitor_says("v", &Profile::default(), "hi", Some(&key), NOW).await.unwrap();
    for _ in 0..2 {
        let again = stores.visitor_says("v", &Profile::default(), "hi", Some(&key), NOW).await.unwrap();
        assert_eq!(again, first);
    }
    let other = IdempotencyKey::new("CH".into(), "k2");
    let second = stores.visitor_says("v", &Profile::default(), "ho", Some(&other), NOW).await.unwrap();
    assert_ne!(second, first);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 2);
    let late = stores.visitor_says("v", &Profile::default(), "hi", Some(&key), at(2 * 86_400)).await.unwrap();
    assert_eq!(late, first, "expired, but not deleted yet");
}

#[tokio::test]
async fn of_agents_who_press_reply_together_one_gets_the_chat() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let agents: Vec<Author> = (1..=8).map(|agent_id| Author { agent_id, ..bob() }).collect();
    let results = join_all(agents.iter().map(|agent| stores.chats.accept("acc", 1, agent, NOW))).await;
    let taken = results.iter().filter(|result| result.is_ok()).count();
    let refused = results.iter().filter(|result| matches!(result, Err(Error::Conflict(_)))).count();
    assert_eq!((taken, refused), (1, 7));
}

#[tokio::test]
async fn only_the_agent_who_has_a_chat_writes_and_the_refusal_says_why() {
    let stores = stores().await;
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::NotFound)));
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict(m)) if m.starts_with("accept")));
    stores.chats.accept("acc", 1, &Author { agent_id: 2, ..bob() }, NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict("another agent has this chat"))));
    stores.chats.close("acc", 1, &Author { agent_id: 2, ..bob() }, NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict("the chat is closed"))));
}

#[tokio::test]
async fn a_visitor_who_writes_after_the_close_opens_a_new_chat() {
    let stores = stores().await;
    let ann = named("Ann");
    stores.visitor_says("v", &ann, "hi", None, NOW).await.unwrap();
    stores.chats.close("acc", 1, &bob(), NOW).await.unwrap();
    assert_eq!(stores.visitor_writes("v", "again", NOW).await.unwrap(), (2, 1));
    let head = stores.chats.chat("acc", 2).await.unwrap().unwrap();
    assert_eq!((head.visitor_number, head.visitor_name.as_str()), (1, "Ann"), "the same visitor");
    let everything = |_: &_| true;
    let ids = |chats: Vec<crate::domain::chat::Chat>| chats.iter().map(|chat| chat.chat_id).collect::<Vec<_>>();
    assert_eq!(ids(stores.chats.list("acc", false, None, 10, &everything).await.unwrap()), [2]);
    assert_eq!(ids(stores.chats.list("acc", true, None, 10, &everything).await.unwrap()), [1]);
}

#[tokio::test]
async fn a_list_pages_through_more_chats_than_one_read_brings() {
    let stores = stores().await;
    for n in 0..130 {
        stores.visitor_writes(&format!("v{n}"), "hi", NOW).await.unwrap();
    }
    let odd = |chat: &crate::domain::chat::Chat| chat.chat_id % 2 == 1;
    let chats = stores.chats.list("acc", false, None, 60, &odd).await.unwrap();
    assert_eq!((chats.len(), chats[0].chat_id, chats[59].chat_id), (60, 129, 11));
    let rest = stores.chats.list("acc", false, Some(11), 60, &odd).await.unwrap();
    assert_eq!(rest.iter().map(|chat| chat.chat_id).collect::<Vec<_>>(), [9, 7, 5, 3, 1]);
}

#[tokio::test]
async fn a_timeline_comes_back_with_every_field_and_from_any_place() {
    let stores = stores().await;
    let (channel, profile) = (channel(), Profile::default());
    let media = Media {
        file: Some("https://x.example/f".into()),
        file_size: Some(u64::MAX / 2),
        latitude: Some(-12.345_678),
        ..Media::default()
    };
    let content = Content { kind: Kind::Photo, text: Some("look".into()), media, rich: None };
    let (key, now, external_id) = (None, NOW, "v");
    let incoming = Incoming { channel: &channel, external_id, profile: &profile, content: &content, key, now };
    stores.chats.visitor_message(&incoming).await.unwrap();
    stores.chats.accept("acc", 1, &bob(), NOW).await.unwrap();
    stores.agent_writes(1, "nice", NOW).await.unwrap();
    let timeline = stores.chats.timeline("acc", 1, 0, 10).await.unwrap();
    assert_eq!(timeline[0].content, content);
    assert_eq!(timeline[1].delivery.as_ref().unwrap().progress, Progress::Pending);
    assert_eq!(stores.chats.timeline("acc", 1, 1, 10).await.unwrap(), timeline[1..]);
    assert_eq!(stores.chats.timeline("acc", 1, 2, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_try_is_recorded_once_however_often_its_task_comes() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let delivery = entry.delivery.clone().unwrap();
    let attempt = Attempt { at: NOW, status: Some(500), ms: 7, error: Some("HTTP 500".into()) };
    let again = Change::Again(Duration::from_secs(3));
    assert!(stores.chats.record_try(&entry, &delivery, &attempt, &again).await.unwrap());
    assert!(!stores.chats.record_try(&entry, &delivery, &attempt, &again).await.unwrap());
    let stored = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((stored.tries, stored.attempts), (1, vec![attempt]));
}

#[tokio::test]
async fn a_failed_delivery_can_be_begun_anew_and_keeps_its_ledger() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    assert!(matches!(stores.chats.retry("acc", 1, seq, at(1)).await, Err(Error::Conflict(_))), "still pending");
    assert!(matches!(stores.chats.retry("acc", 1, 99, at(1)).await, Err(Error::NotFound)));
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let attempt = Attempt { at: NOW, status: None, ms: 3_000, error: Some("x".into()) };
    let failure = Failure { code: Some(5), message: "no".into(), hidden: false };
    let failed = Change::Failed(failure.clone(), at(9));
    let delivery = entry.delivery.clone().unwrap();
    assert!(stores.chats.record_try(&entry, &delivery, &attempt, &failed).await.unwrap());
    let stored = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((stored.progress, stored.failure), (Progress::Failed, Some(failure)));
    assert!(matches!(stores.chats.retry("acc", 1, seq, at(8)).await, Err(Error::Conflict(_))), "not shown yet");
    let anew = stores.chats.retry("acc", 1, seq, at(20)).await.unwrap().delivery.unwrap();
    assert_eq!((anew.progress, anew.round, anew.tries, anew.since), (Progress::Pending, 2, 0, at(20)));
    assert_eq!((anew.failure, anew.attempts.len()), (None, 1));
}

#[tokio::test]
async fn what_is_overdue_is_found_once_and_begun_anew() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    let shard = 1 % super::deliveries::SHARDS;
    assert!(stores.chats.overdue(shard, at(9), 10).await.unwrap().is_empty());
    let found = stores.chats.overdue(shard, at(30), 10).await.unwrap();
    assert_eq!(found.len(), 1);
    let revived = stores.chats.revive(&found[0], at(30)).await.unwrap().unwrap();
    assert_eq!((revived.seq, revived.delivery.unwrap().round), (seq, 2));
    assert!(stores.chats.revive(&found[0], at(30)).await.unwrap().is_none(), "somebody was faster");
    assert!(stores.chats.overdue(shard, at(30), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_delivery_whose_every_consumer_dies_fails_in_the_end() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    for run in 1..=30 {
        for overdue in stores.chats.overdue(1, at(run * 60), 10).await.unwrap() {
            stores.chats.revive(&overdue, at(run * 60)).await.unwrap();
        }
    }
    let delivery = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((delivery.progress, delivery.round), (Progress::Failed, 20));
}

#[tokio::test]
async fn a_done_delivery_is_not_due_any_more() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let attempt = Attempt { at: NOW, status: Some(200), ms: 7, error: None };
    let delivery = entry.delivery.clone().unwrap();
    assert!(stores.chats.record_try(&entry, &delivery, &attempt, &Change::Delivered).await.unwrap());
    assert!(stores.chats.overdue(1, at(1_000), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn failing_and_typing_marks_come_and_go() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let head = || async { stores.chats.chat("acc", 1).await.unwrap().unwrap() };
    stores.chats.mark_failing(&head().await, Target::Channel, NOW).await.unwrap();
    assert!(head().await.is_failing(Target::Channel, at(1)) && !head().await.is_failing(Target::Channel, at(9)));
    assert!(!head().await.is_failing(Target::Bot, NOW), "each receiver has its own mark");
    stores.chats.mark_healthy(&head().await, Target::Channel).await.unwrap();
    assert!(!head().await.is_failing(Target::Channel, NOW));
    stores.chats.visitor_typing(&channel(), "v", Some(NOW)).await.unwrap();
    assert!(head().await.visitor_is_typing(at(1)));
    stores.visitor_writes("v", "done", NOW).await.unwrap();
    assert!(!head().await.visitor_is_typing(at(1)), "a message ends typing");
    stores.chats.visitor_typing(&channel(), "stranger", Some(NOW)).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "stranger").await.unwrap(), None, "typing alone opens nothing");
}

fn bot(channel_ids: &[&str]) -> Bot {
    Bot {
        bot_id: "B".into(),
        account_id: "acc".into(),
        provider_id: "P".into(),
        token: "secret token".into(),
        name: "Robo".into(),
        channel_ids: channel_ids.iter().map(|id| (*id).to_owned()).collect(),
        answer_within: Some(Duration::from_secs(60)),
        signing_secret: "whsec_y".into(),
        created_at: NOW,
    }
}

impl Stores {
    /// A chat of a visitor of a channel with a bot; its message is due there.
    async fn with_bot(&self) -> u64 {
        let channel = Channel { bot_id: Some("B".into()), ..channel() };
        let (profile, content, key) = (Profile::default(), Content::text("hi"), None);
        let incoming =
            Incoming { channel: &channel, external_id: "v", profile: &profile, content: &content, key, now: NOW };
        let stored = self.chats.visitor_message(&incoming).await.unwrap();
        assert!(stored.to_bot);
        stored.chat_id
    }

    async fn bot_writes(&self, bot: &Bot, content: Content, shows: Shows) -> Result<Entry, Error> {
        let head = self.chats.bot_advance(bot, 1, &content, NOW).await?;
        self.chats.bot_message(bot, &head, content, shows, NOW).await
    }

    async fn state(&self) -> &'static str {
        self.chats.chat("acc", 1).await.unwrap().unwrap().state.name()
    }
}

#[tokio::test]
async fn a_bot_comes_back_by_its_id_and_by_its_token() {
    let Stores { directory, .. } = stores().await;
    let (made, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let bot = bot(&[&made.channel_id]);
    directory.create_bot(&bot).await.unwrap();
    assert_eq!(directory.bot_of("acc", "B").await.unwrap(), bot);
    assert!(matches!(directory.bot_of("other", "B").await, Err(Error::NotFound)));
    assert_eq!(*directory.bot_of_token("P", "secret token").await.unwrap().unwrap(), bot);
    assert!(directory.bot_of_token("P", "other token").await.unwrap().is_none());
    assert!(directory.bot_of_token("Q", "secret token").await.unwrap().is_none());
    assert_eq!(directory.account_bots("acc").await.unwrap(), std::slice::from_ref(&bot));
    assert_eq!(directory.channel(&made.channel_id).await.unwrap().unwrap().bot_id.as_deref(), Some("B"));
}

#[tokio::test]
async fn a_channel_has_one_bot_a_token_one_connection_and_an_account_its_own_channels() {
    let Stores { directory, .. } = stores().await;
    let (one, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let (foreign, _) = directory.create_channel("other", channel().settings, NOW).await.unwrap();
    let first = bot(&[&one.channel_id]);
    directory.create_bot(&first).await.unwrap();
    let second = |token: &str, channel_id: &str| Bot { bot_id: "B2".into(), token: token.into(), ..bot(&[channel_id]) };
    for refused in [second("t2", &one.channel_id), second("t2", &foreign.channel_id), second("t2", "nowhere")] {
        assert!(matches!(directory.create_bot(&refused).await, Err(Error::Conflict(_))));
    }
    let same_token = Bot { bot_id: "B2".into(), ..bot(&[]) };
    assert!(matches!(directory.create_bot(&same_token).await, Err(Error::Conflict(_))));
    directory.delete_channel(&directory.channel_of("acc", &one.channel_id).await.unwrap()).await.unwrap();
    assert_eq!(directory.bot_of("acc", "B").await.unwrap().channel_ids, Vec::<String>::new());
    directory.delete_bot(&first.clone()).await.unwrap_err();
    directory.delete_bot(&bot(&[])).await.unwrap();
    directory.create_bot(&same_token).await.unwrap();
}

#[tokio::test]
async fn a_bots_message_takes_the_way_to_the_visitor_that_the_channel_can_show() {
    let stores = stores().await;
    stores.with_bot().await;
    let buttons = vec![Button { text: "One".into(), id: Some("1".into()) }];
    let rich = Rich { title: Some("Choose".into()), buttons, ..Rich::default() };
    let content = Content { kind: Kind::Buttons, text: None, rich: Some(Box::new(rich)), ..Content::text("") };
    let all = Shows { markdown: true, buttons: true };
    let sent = stores.bot_writes(&bot(&[]), content.clone(), all).await.unwrap();
    assert_eq!(sent.delivery.map(|delivery| delivery.target), Some(Target::Channel));
    let kept = stores.bot_writes(&bot(&[]), content.clone(), Shows::default()).await.unwrap();
    assert_eq!(kept.delivery, None, "not sent where it cannot be shown");
    let timeline = stores.chats.timeline("acc", 1, 1, 10).await.unwrap();
    assert_eq!(timeline[0].content, content);
    assert_eq!(timeline[0].from, From::Bot("Robo".into()));
}

#[tokio::test]
async fn another_bots_chat_does_not_exist_for_a_bot() {
    let stores = stores().await;
    stores.with_bot().await;
    let stranger = Bot { bot_id: "X".into(), ..bot(&[]) };
    let refused = stores.bot_writes(&stranger, Content::text("hi"), Shows::default()).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    let elsewhere = Bot { account_id: "other".into(), ..bot(&[]) };
    let refused = stores.bot_writes(&elsewhere, Content::text("hi"), Shows::default()).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
}

#[tokio::test]
async fn an_invitation_hands_over_when_an_agent_is_online_and_tells_the_bot_when_none_is() {
    let stores = stores().await;
    stores.with_bot().await;
    let nobody = stores.chats.invite_agent("acc", 1, false, NOW).await.unwrap();
    let notice = nobody.notice.unwrap();
    assert_eq!(notice.content.kind, Kind::Notice(Notice::AgentUnavailable));
    assert_eq!((notice.delivery.unwrap().target, stores.state().await), (Target::Bot, "bot"));
    let handed = stores.chats.invite_agent("acc", 1, true, NOW).await.unwrap();
    assert!(handed.notice.is_none());
    assert_eq!(stores.state().await, "waiting");
    assert!(matches!(stores.chats.invite_agent("acc", 1, true, NOW).await, Err(Error::Forbidden(_))));
    let late = stores.bot_writes(&bot(&[]), Content::text("late"), Shows::default()).await;
    assert!(matches!(late, Err(Error::Forbidden(_))), "{late:?}");
}

#[tokio::test]
async fn a_bot_is_told_that_an_agent_joined_and_that_the_chat_was_closed() {
    let stores = stores().await;
    stores.with_bot().await;
    let joined = stores.chats.accept("acc", 1, &bob(), NOW).await.unwrap();
    assert_eq!(joined.notice.unwrap().content.kind, Kind::Notice(Notice::AgentJoined));
    assert!(stores.chats.accept("acc", 1, &bob(), NOW).await.unwrap().notice.is_none(), "told once");
    let closed = stores.chats.close("acc", 1, &bob(), NOW).await.unwrap();
    assert_eq!(closed.notice.unwrap().content.kind, Kind::Notice(Notice::ChatClosed));
    let kinds: Vec<_> = stores.chats.timeline("acc", 1, 1, 10).await.unwrap().iter().map(|e| e.content.kind).collect();
    assert_eq!(kinds, [Kind::Notice(Notice::AgentJoined), Kind::Notice(Notice::ChatClosed)]);
    assert!(matches!(
        stores.bot_writes(&bot(&[]), Content::text("late"), Shows::default()).await,
        Err(Error::Forbidden(_))
    ));
}

#[tokio::test]
async fn a_bot_that_fails_loses_the_chat_unless_it_reacted_in_time() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.bot_writes(&bot(&[]), Content::text("hello"), Shows::default()).await.unwrap();
    assert!(!stores.chats.bot_failed("acc", 1, Some(1), NOW).await.unwrap(), "it answered entry 1");
    assert!(stores.chats.bot_failed("acc", 1, Some(2), NOW).await.unwrap());
    assert_eq!(stores.state().await, "waiting");
    assert!(!stores.chats.bot_failed("acc", 1, None, NOW).await.unwrap(), "nothing to hand over");
}

#[tokio::test]
async fn a_visitor_is_found_by_their_number_and_learns_from_the_bot() {
    let stores = stores().await;
    stores.with_bot().await;
    let visitor = stores.chats.visitor_by_number("acc", 1).await.unwrap().unwrap();
    assert_eq!(visitor.external_id, "v");
    assert!(stores.chats.visitor_by_number("other", 1).await.unwrap().is_none());
    stores.chats.learn(&visitor, &named("Ann")).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "v").await.unwrap().unwrap().profile, named("Ann"));
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap().visitor_name, "Ann");
}

#[tokio::test]
async fn a_bot_may_make_300_requests_in_a_window_counted_over_all_processes() {
    let Stores { connections, .. } = stores().await;
    for n in 0..300 {
        connections.take_bot_request("B", NOW).await.unwrap_or_else(|error| panic!("request {n}: {error}"));
    }
    assert!(matches!(connections.take_bot_request("B", NOW).await, Err(Error::RateLimited(_))));
    connections.take_bot_request("C", NOW).await.unwrap();
    connections.take_bot_request("B", at(10)).await.unwrap();
    let other_process = Connections::new(connections.table.clone());
    let mut taken = 0;
    while other_process.take_bot_request("B", NOW).await.is_ok() {
        taken += 1;
    }
    assert!(taken < 10, "{taken} more");
}
