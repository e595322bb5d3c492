//! Who may see and reach what.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Account, Agent, Caller, Channel, PASSWORD, Reply, send, unique_email};
use crate::harness::{Conversation, Stage, VISITOR, alone_on_stage, on_own_stage, on_stage, open_chat, visitor_text};
use crate::hook::{add, fine};
use crate::provider::{Bot, register};
use crate::receiver::{Answer, Receiver};
use crate::template::routes;
use crate::wait::{seconds, wait_for};

/// Longer than functions remember a channel.
const TTL_TIMEOUT: Duration = seconds(13);

/// Hosts that must never be called, in every way of writing them.
const PRIVATE_LITERALS: [&str; 40] = [
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.64.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fd00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
];

const PRIVATE_NAMES: [&str; 3] = ["localhost", "LOCALHOST", "localhost."];

#[test]
fn no_private_address_is_ever_called() {
    on_own_stage(&[("AllowedPrivateTargets", "")], async |stage| {
        let tripwire = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let mut suspects = Vec::new();
        for host in PRIVATE_LITERALS.into_iter().chain(PRIVATE_NAMES) {
            let url = format!("http://{host}:{}/hook", tripwire.port());
            let body = json!({"kind": "api", "name": host, "integrator_url": url});
            let reply = account.admin.call.post("/admin/channels", &body).await;
            if reply.status == 400 {
                assert_eq!(reply.json()["error"]["field"], "integrator_url", "{host}");
                continue;
            }
            assert!(PRIVATE_NAMES.contains(&host), "{host} was not refused: {reply:?}");
            suspects.push((host, channel_of(stage, &reply.expect(201))));
        }
        join_all(suspects.iter().map(|(host, channel)| refused_at_delivery(&account, host, channel))).await;
        assert_eq!(tripwire.connections(), 0);
    });
}

fn channel_of(stage: &Stage, made: &Value) -> Channel {
    let field = |name: &str| made[name].as_str().unwrap().to_owned();
    Channel {
        call: stage.anyone.clone(),
        id: field("channel_id"),
        endpoint: field("endpoint"),
        signing_secret: field("signing_secret"),
    }
}

async fn refused_at_delivery(account: &Account, host: &str, channel: &Channel) {
    channel.say(host, "Hello").await;
    let chats = account.admin.chats("waiting").await;
    let chat = chats.iter().find(|chat| chat["channel"]["channel_id"] == channel.id).expect("the chat waits");
    let chat = crate::client::number(&chat["chat_id"]);
    account.admin.accept(chat).await;
    let seq = account.admin.write(chat, "Anybody there?").await;
    let delivery = account.admin.verdict(chat, seq).await;
    assert_eq!(delivery["state"], "failed", "{host}");
}

#[test]
fn a_channel_cannot_be_turned_to_a_private_address() {
    on_own_stage(&[("AllowedPrivateTargets", "")], async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let change = json!({"integrator_url": "https://169.254.169.254/latest"});
        let reply = account.admin.call.patch(&format!("/admin/channels/{}", channel.id), &change).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "integrator_url");
    });
}

#[test]
fn plain_http_is_refused_where_the_stack_does_not_allow_it() {
    on_own_stage(&[("AllowHttpTargets", "false")], async |stage| {
        let account = stage.account().await;
        for url in ["http://app.example/hook", "ftp://app.example", "file:///etc/passwd", "https://", "app", ""] {
            let body = json!({"kind": "api", "name": "App", "integrator_url": url});
            let reply = account.admin.call.post("/admin/channels", &body).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "integrator_url", "{url}");
        }
        account.channel("https://app.example/hook").await;
    });
}

/// An endpoint with one part of its path replaced; parts count from the end.
fn with_part(endpoint: &str, from_end: usize, part: &str) -> String {
    let mut parts: Vec<_> = endpoint.split('/').collect();
    let place = parts.len() - 1 - from_end;
    parts[place] = part;
    parts.join("/")
}

#[test]
fn a_wrong_secret_and_an_unknown_channel_are_the_same_404() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (channel, other) = (account.channel("https://a.example").await, account.channel("https://b.example").await);
        let endpoint = &channel.endpoint;
        let secret = endpoint.split('/').rev().nth(1).unwrap();
        assert!(secret.len() >= 22, "at least 128 random bits: {secret}");
        let foreign_secret = other.endpoint.split('/').rev().nth(1).unwrap();
        let wrong = [
            with_part(endpoint, 1, "wrong"),
            with_part(endpoint, 1, foreign_secret),
            with_part(endpoint, 1, &secret.to_uppercase()),
            with_part(endpoint, 1, &format!("{secret}0")),
            with_part(endpoint, 0, "unknown"),
            with_part(endpoint, 0, &"x".repeat(2_000)),
            with_part(endpoint, 0, "%00"),
        ];
        for suffix in ["", "/status"] {
            let mut bodies = Vec::new();
            for target in &wrong {
                let target = format!("{target}{suffix}");
                let reply = if suffix.is_empty() {
                    channel.call.post(&target, &visitor_text("v", "Hi")).await
                } else {
                    channel.call.get(&target).await
                };
                bodies.push(reply.text.clone());
                reply.expect_error(404, "not_found");
            }
            bodies.dedup();
            assert_eq!(bodies.len(), 1, "{bodies:?}");
        }
        assert!(account.admin.chats("open").await.is_empty());
    });
}

async fn log_in(caller: &Caller, email: &str, password: &str) -> Reply {
    caller.post("/agent/login", &json!({"email": email, "password": password})).await
}

#[test]
fn a_wrong_password_and_an_unknown_e_mail_cannot_be_told_apart() {
    alone_on_stage(async |stage| {
        let account = stage.account().await;
        let (known, unknown) = (account.admin.email.clone(), unique_email("nobody"));
        let mut times = [Vec::new(), Vec::new()];
        let mut answers = Vec::new();
        for _ in 0..9 {
            for (email, times) in [&known, &unknown].into_iter().zip(&mut times) {
                let start = Instant::now();
                let reply = log_in(&stage.anyone, email, "not the password").await;
                times.push(start.elapsed());
                answers.push(reply.expect_error(401, "invalid_credentials"));
            }
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
        let [known, unknown] = times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        });
        assert!(known.abs_diff(unknown) < known / 2, "known {known:?}, unknown {unknown:?}");
        log_in(&stage.anyone, &account.admin.email.to_uppercase(), PASSWORD).await.expect(200);
    });
}

/// A route's path with every parameter filled in.
pub fn filled(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>().join("/")
}

/// The routes that ask for a bearer token, as the template has them.
pub fn guarded_templates() -> Vec<(Method, String)> {
    // A logout ends what the caller holds, and asks for nothing that is valid.
    let unguarded = ["/agent/login", "/agent/logout"];
    let guarded = |path: &str| {
        !unguarded.contains(&path) && ["/agent/", "/admin/", "/operator/"].iter().any(|area| path.starts_with(area))
    };
    routes()
        .into_iter()
        .filter(|(_, path)| guarded(path))
        .map(|(method, path)| (Method::from_bytes(method.as_bytes()).unwrap(), path))
        .collect()
}

/// The same with their paths filled in.
pub fn guarded_routes() -> Vec<(Method, String)> {
    guarded_templates().into_iter().map(|(method, path)| (method, filled(&path))).collect()
}

#[test]
fn every_guarded_endpoint_asks_for_its_token() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let token = account.admin.call.bearer();
        let operator = stage.operator.bearer();
        let mut changed = token.to_owned();
        let last = if changed.pop() == Some('A') { 'B' } else { 'A' };
        changed.push(last);
        assert!(guarded_routes().len() > 15);
        for (method, path) in guarded_routes() {
            let other = if path.starts_with("/operator/") { token } else { operator };
            let headers = [
                None,
                Some(String::new()),
                Some("Bearer".to_owned()),
                Some("Bearer ".to_owned()),
                Some("Bearer x".to_owned()),
                Some(format!("Basic {token}")),
                Some(format!("Bearer {changed}")),
                Some(format!("Bearer {other}")),
                Some(format!("Bearer {}", "x".repeat(4_000))),
            ];
            for header in headers {
                let mut request = stage.anyone.request(method.clone(), &path).json(&json!({}));
                if let Some(header) = &header {
                    request = request.header("authorization", header);
                }
                let reply = send(request).await;
                assert_eq!(reply.status, 401, "{method} {path} with {header:?}: {}", reply.text);
                reply.expect_error(401, "unauthorized");
            }
        }
    });
}

/// When the agent's only session ends unless it is used, in seconds; turned back to the next minute if asked.
async fn end_of_session(stage: &Stage, account: &Account, turn_back: bool) -> u64 {
    let tables = stage.tables();
    let pk = format!("AGENT#{}#{}", account.id.as_str().unwrap(), account.admin.id);
    let found = tables.query().table_name("Connections").consistent_read(true);
    let found = found.key_condition_expression("pk = :pk").expression_attribute_values(":pk", AttributeValue::S(pk));
    let items = found.send().await.unwrap().items.unwrap();
    let [session] = &items[..] else { panic!("not one session: {items:?}") };
    let number = |name: &str| session[name].as_n().unwrap().parse::<u64>().unwrap();
    if turn_back {
        let soon = |number: u64| AttributeValue::N(number.to_string());
        let turned = tables.update_item().table_name("Connections");
        let turned = turned.key("pk", session["pk"].clone()).key("sk", session["sk"].clone());
        let turned = turned.update_expression("SET seen_at = :zero, expires_at = :soon");
        let turned = turned.expression_attribute_values(":zero", soon(0));
        turned.expression_attribute_values(":soon", soon(number("seen_at") / 1_000 + 600)).send().await.unwrap();
    }
    number("expires_at")
}

#[test]
fn every_use_of_a_session_prolongs_it() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let fresh = end_of_session(stage, &account, false).await;
        for (method, path) in guarded_routes() {
            if path.starts_with("/operator/") {
                continue;
            }
            end_of_session(stage, &account, true).await;
            send(account.admin.call.request(method.clone(), &path).json(&json!({}))).await;
            let prolonged = end_of_session(stage, &account, false).await;
            assert!(prolonged >= fresh, "{method} {path}: {prolonged}, not {fresh}");
        }
    });
}

#[test]
fn an_agent_does_not_administer() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let agent = account.agent("Ann").await;
        for (method, path) in guarded_routes() {
            if path.starts_with("/admin/") {
                let reply = send(agent.call.request(method, &path).json(&json!({}))).await;
                reply.expect_error(403, "forbidden");
            }
        }
    });
}

#[test]
fn an_account_does_not_see_what_is_anothers() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello").await;
        talk.verdict(seq).await;
        let colleague = talk.account.agent("Ann").await;
        let made = json!({"name": "Sales", "agent_ids": [colleague.id]});
        talk.account.admin.call.post("/admin/departments", &made).await.expect(201);
        let stranger = stage.account().await;
        let chat = format!("/agent/chats/{}", talk.chat);
        let channel = format!("/admin/channels/{}", talk.channel.id);
        let agent = format!("/admin/agents/{}", colleague.id);
        let department = "/admin/departments/1".to_owned();
        let text = json!({"type": "text", "text": "Hi"});
        let tries = [
            (Method::GET, chat.clone(), json!({})),
            (Method::GET, format!("{chat}/messages"), json!({})),
            (Method::POST, format!("{chat}/accept"), json!({})),
            (Method::POST, format!("{chat}/messages"), text),
            (Method::POST, format!("{chat}/typing"), json!({"type": "typein"})),
            (Method::POST, format!("{chat}/messages/{seq}/retry"), json!({})),
            (Method::POST, format!("{chat}/transfer"), json!({"agent_id": 1})),
            (Method::POST, format!("{chat}/close"), json!({})),
            (Method::GET, channel.clone(), json!({})),
            (Method::PATCH, channel.clone(), json!({"name": "Mine"})),
            (Method::POST, format!("{channel}/rotate"), json!({})),
            (Method::DELETE, channel.clone(), json!({})),
            (Method::GET, agent.clone(), json!({})),
            (Method::PATCH, agent.clone(), json!({"name": "Mine"})),
            (Method::DELETE, agent, json!({})),
            (Method::GET, department.clone(), json!({})),
            (Method::PATCH, department.clone(), json!({"name": "Mine"})),
            (Method::DELETE, department, json!({})),
        ];
        for (method, path, body) in tries {
            let reply = send(stranger.admin.call.request(method.clone(), &path).json(&body)).await;
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
            reply.expect_error(404, "not_found");
        }
        assert!(stranger.admin.chats("open").await.is_empty());
        let listed = stranger.admin.call.get("/admin/channels").await.expect(200);
        assert_eq!(listed, json!({"channels": []}));

        assert_eq!(talk.agent.chat(talk.chat).await["state"], "active");
        assert_eq!(talk.account.admin.call.get(&channel).await.expect(200)["name"], "App");
        talk.channel.say(VISITOR, "Still here").await;
    });
}

/// An account that has one of everything that a path can name. Where things are numbered within the account, it is the
/// second: who has one has no second.
pub struct Estate {
    pub account: Account,
    integrator: Receiver,
    crm: Receiver,
    /// By the names of the parameters.
    pub ids: BTreeMap<&'static str, String>,
}

impl Estate {
    pub async fn open(stage: &Stage) -> Self {
        let (integrator, crm) = (Receiver::start(Answer::error(7, "not now")).await, Receiver::start(fine()).await);
        let account = stage.account().await;
        let channel = account.channel(&integrator.url()).await;
        let (chat, seq) = failed_message(&account.admin, &channel).await;
        let webhook = add(&account, &crm, json!({})).await;
        add_department(&account.admin).await;
        let ids = BTreeMap::from([
            ("chat_id", chat.to_string()),
            ("seq", seq.to_string()),
            ("number", account.admin.chat(chat).await["visitor"]["number"].to_string()),
            ("agent_id", account.agent("Ann").await.id.to_string()),
            ("department_id", add_department(&account.admin).await),
            ("bot_id", connect_bot(stage, &account).await),
            ("webhook_id", webhook["webhook_id"].as_str().unwrap().to_owned()),
            ("channel_id", channel.id),
        ]);
        Self { account, integrator, crm, ids }
    }

    /// The path of what is the account's. A parameter that is not known here would be one that nobody tests.
    pub fn path(&self, template: &str) -> String {
        let fill = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => self.ids.get(name).unwrap_or_else(|| panic!("give Estate a {name} for {template}")).clone(),
            None => part.to_owned(),
        };
        template.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    /// Everything that the account's admin can look at, by its path.
    pub async fn all(&self) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for (method, template) in guarded_templates() {
            if method == Method::GET && !template.starts_with("/operator/") {
                let path = self.path(&template);
                let shown = self.account.admin.call.get(&path).await.expect(200);
                all.insert(path, shown);
            }
        }
        all
    }
}

/// The chat and the entry of a message that could be sent again; the account's second chat, with its second visitor.
async fn failed_message(admin: &Agent, channel: &Channel) -> (u64, u64) {
    open_chat(admin, channel, "somebody else").await;
    let chat = open_chat(admin, channel, VISITOR).await;
    let seq = admin.write(chat, "Hello?").await;
    assert_eq!(admin.verdict(chat, seq).await["state"], "failed");
    (chat, seq)
}

/// Returns the department's id.
async fn add_department(admin: &Agent) -> String {
    let made = admin.call.post("/admin/departments", &json!({"name": "Sales", "agent_ids": []})).await.expect(201);
    made["department_id"].to_string()
}

/// A bot in front of a channel where nobody writes; returns its id.
async fn connect_bot(stage: &Stage, account: &Account) -> String {
    let channel = account.channel("https://app.example/hook").await;
    let provider_id = register(&stage.operator, "https://bots.example/hook", json!({})).await;
    Bot::connect(account, &provider_id, &[&channel], json!({})).await.bot_id
}

/// A body to which nothing is wrong, so that a refusal is about what the path names.
pub fn good_body(method: &Method, template: &str) -> Value {
    let end = template.rsplit('/').next().unwrap();
    match (method.as_str(), end) {
        ("POST", "messages") => json!({"type": "text", "text": "Hi"}),
        ("POST", "typing") => json!({"type": "typein"}),
        ("POST", "transfer") => json!({"agent_id": 1}),
        ("PATCH", "{webhook_id}") => json!({"events": ["chat_finished"]}),
        ("PATCH", _) => json!({"name": "Mine"}),
        _ => json!({}),
    }
}

#[test]
fn no_path_leads_to_what_is_anothers() {
    on_stage(async |stage| {
        let owner = Estate::open(stage).await;
        let stranger = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        add_department(&stranger.agent).await;
        let before = owner.all().await;
        let mut routes = guarded_templates();
        routes.retain(|(_, template)| template.contains('{') && !template.starts_with("/operator/"));
        assert!(routes.len() > 20);
        for (method, template) in routes {
            let (path, body) = (owner.path(&template), good_body(&method, &template));
            let reply = send(stranger.agent.call.request(method.clone(), &path).json(&body)).await;
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
            reply.expect_error(404, "not_found");
        }
        assert_eq!(owner.all().await, before);
        assert_eq!((owner.integrator.requests().len(), owner.crm.connections()), (1, 0), "nobody was told anything");
    });
}

async fn wait_for_status(channel: &Channel, endpoint: &str, status: u16) {
    wait_for(&format!("{status} on {endpoint}"), TTL_TIMEOUT, async || {
        let reply = channel.call.post(endpoint, &visitor_text("v", "Hi")).await;
        if reply.status == status { Ok(()) } else { Err(reply) }
    })
    .await;
}

#[test]
fn a_rotation_brings_a_new_address_and_keeps_the_old_one_for_a_day() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let rotate = format!("/admin/channels/{}/rotate", channel.id);
        let rotated = account.admin.call.post(&rotate, &json!({})).await.expect(200);
        let new = rotated["endpoint"].as_str().unwrap();
        assert_ne!(new, channel.endpoint);
        assert!(!rotated["old_endpoint_valid_until"].is_null(), "{rotated}");
        wait_for_status(&channel, new, 200).await;
        wait_for_status(&channel, &channel.endpoint, 200).await;
    });
}

#[test]
fn a_second_rotation_keeps_what_the_first_one_promised() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let rotate = format!("/admin/channels/{}/rotate", channel.id);
        let mut addresses = vec![channel.endpoint.clone()];
        for _ in 0..2 {
            let rotated = account.admin.call.post(&rotate, &json!({})).await.expect(200);
            addresses.push(rotated["endpoint"].as_str().unwrap().to_owned());
        }
        for address in &addresses {
            wait_for_status(&channel, address, 200).await;
        }
        let rotated = account.admin.call.post(&rotate, &json!({"keep_old_seconds": 0})).await.expect(200);
        for address in &addresses {
            wait_for_status(&channel, address, 404).await;
        }
        wait_for_status(&channel, rotated["endpoint"].as_str().unwrap(), 200).await;
    });
}

#[test]
fn a_rotation_can_end_the_old_address_at_once_or_after_a_while() {
    on_stage(async |stage| {
        let account = stage.account().await;
        join_all([0, 2].map(async |keep| {
            let channel = account.channel("https://app.example/hook").await;
            channel.say("v", "so that the channel is remembered").await;
            let rotate = format!("/admin/channels/{}/rotate", channel.id);
            let rotated = account.admin.call.post(&rotate, &json!({"keep_old_seconds": keep})).await.expect(200);
            wait_for_status(&channel, &channel.endpoint, 404).await;
            wait_for_status(&channel, rotated["endpoint"].as_str().unwrap(), 200).await;
        }))
        .await;
    });
}

#[test]
fn a_deleted_channel_is_unknown() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        channel.say("v", "so that the channel is remembered").await;
        let path = format!("/admin/channels/{}", channel.id);
        account.admin.call.delete(&path).await.expect(200);
        account.admin.call.get(&path).await.expect_error(404, "not_found");
        wait_for_status(&channel, &channel.endpoint, 404).await;
        wait_for("404 on the status", TTL_TIMEOUT, async || {
            let reply = channel.status().await;
            if reply.status == 404 { Ok(()) } else { Err(reply) }
        })
        .await;
    });
}

#[test]
fn nothing_secret_is_in_the_logs() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "words-of-the-integrator")).await;
        let account = stage.account().await;
        let channel = account.channel(&format!("{}?key=secret-of-the-integrator", integrator.url())).await;
        let chat = open_chat(&account.admin, &channel, "id-of-the-visitor").await;
        let body = json!({
            "sender": {"id": "id-of-the-visitor", "email": "visitor-email@x.example", "name": "Name-of-the-visitor"},
            "message": {"type": "text", "text": "text-of-the-visitor"},
        });
        channel.post(&body).await.expect(200);
        let seq = account.admin.write(chat, "text-of-the-agent").await;
        account.admin.verdict(chat, seq).await;
        log_in(&stage.anyone, &account.admin.email, "wrong-password").await.expect(401);

        let secret = channel.endpoint.split('/').rev().nth(1).unwrap();
        let secrets = [
            secret,
            account.admin.call.bearer(),
            stage.operator.bearer(),
            &channel.signing_secret,
            &account.admin.email,
            PASSWORD,
            "wrong-password",
            "secret-of-the-integrator",
            "words-of-the-integrator",
            "id-of-the-visitor",
            "visitor-email@x.example",
            "Name-of-the-visitor",
            "text-of-the-visitor",
            "text-of-the-agent",
        ];
        let log = stage.log.lock().unwrap();
        assert!(!log.is_empty());
        for line in log.iter() {
            for secret in secrets {
                assert!(!line.line.contains(secret), "{secret} in a line of {}: {}", line.function, line.line);
            }
        }
    });
}
