//! Bad input of every kind: a clear 4xx that names the field, never a 5xx, and nothing is stored.

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::client::{Account, Agent, Channel, Reply, merged, send};
use crate::harness::{Conversation, Stage, VISITOR, on_stage, post_raw};
use crate::security::filled;
use crate::template::routes;

/// Characters of a sender's id.
const MAX_ID_CHARS: usize = 255;
/// Characters of every other text of a visitor's message that is not cut.
const MAX_TEXT_CHARS: usize = 1_000;
/// Characters of a web address.
const MAX_URL_CHARS: usize = 4_096;

/// A body with one thing changed, and the field that the answer must name.
struct Case {
    field: String,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Missing,
    Set(Value),
}

fn missing(field: &str) -> Case {
    Case { field: field.to_owned(), change: Change::Missing }
}

fn wrong(field: &str, values: &[Value]) -> Vec<Case> {
    values.iter().map(|value| Case { field: field.to_owned(), change: Change::Set(value.clone()) }).collect()
}

impl Case {
    /// The changed body. A field is named by the path that leads to it.
    fn apply(&self, base: &Value) -> Value {
        let mut body = base.clone();
        let (parent, name) = self.field.rsplit_once('.').unwrap_or(("", &self.field));
        let place = if parent.is_empty() { &mut body } else { &mut body[parent] };
        let fields = place.as_object_mut().unwrap();
        match &self.change {
            Change::Missing => drop(fields.remove(name)),
            Change::Set(value) => drop(fields.insert(name.to_owned(), value.clone())),
        }
        body
    }

    #[track_caller]
    fn check(&self, reply: Reply) {
        assert_eq!(reply.status, 400, "{} {:?}: {}", self.field, self.change, reply.text);
        let body = reply.expect_error(400, "invalid_request");
        assert_eq!(body["error"]["field"], self.field.as_str(), "{:?}: {body}", self.change);
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(&self.field), "{:?}: {message}", self.change);
    }
}

/// Values that are no text.
fn no_text() -> Vec<Value> {
    vec![json!(5), json!(true), json!([]), json!({})]
}

/// Values that are no text of at most so many characters, of which each has two bytes.
fn no_text_up_to(longest: usize) -> Vec<Value> {
    no_text().into_iter().chain([json!("é".repeat(longest + 1))]).collect()
}

/// Values that are neither a number nor a text.
fn no_message_id() -> Vec<Value> {
    vec![json!(true), json!([]), json!({}), json!("é".repeat(MAX_TEXT_CHARS + 1))]
}

/// Values that are no web address.
fn no_url() -> Vec<Value> {
    let schemes = ["ftp://a.example/x", "javascript:alert(1)", "data:text/html,x", "/relative", "a.example"];
    let too_long = json!(url_of(MAX_URL_CHARS + 1));
    no_text().into_iter().chain(schemes.map(Value::from)).chain([too_long]).collect()
}

/// A web address of so many characters.
fn url_of(length: usize) -> String {
    let host = "https://cdn.example/";
    format!("{host}{}", "x".repeat(length - host.len()))
}

/// Values that are no positive integer.
fn no_size() -> Vec<Value> {
    vec![json!(0), json!(-1), json!(1.5), json!("12"), json!(true), json!([]), json!(1e300), json!(1_u64 << 53)]
}

/// Values that are no coordinate between `-most` and `most`.
fn no_coordinate(most: f64) -> Vec<Value> {
    vec![json!("1.5"), json!(true), json!([]), json!({}), json!(most + 0.01), json!(-most - 0.01), json!(1e300)]
}

fn sender_cases() -> Vec<Case> {
    let no_object = [json!(null), json!("x"), json!(5), json!([])];
    let too_long = json!("é".repeat(MAX_ID_CHARS + 1));
    let no_id = [json!(null), json!(""), json!(true), json!(1.5), json!([]), json!({}), too_long];
    [
        vec![missing("sender"), missing("sender.id")],
        wrong("sender", &no_object),
        wrong("sender.id", &no_id),
        wrong("sender.name", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("sender.phone", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("sender.email", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("sender.invite", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("sender.photo", &no_url()),
        wrong("sender.url", &no_text_up_to(MAX_URL_CHARS)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn text_cases() -> Vec<Case> {
    let no_object = [json!(null), json!("x"), json!(5), json!([])];
    let no_type = [json!(null), json!(""), json!(5), json!("TEXT"), json!("gif"), json!("seen"), json!([])];
    let no_message_text = [json!(null), json!(5), json!(true), json!([]), json!({})];
    [
        vec![missing("message"), missing("message.type"), missing("message.text")],
        wrong("message", &no_object),
        wrong("message.type", &no_type),
        wrong("message.id", &no_message_id()),
        wrong("message.text", &no_message_text),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn file_cases() -> Vec<Case> {
    [
        vec![missing("message.file"), missing("message.file_name"), missing("message.file_size")],
        wrong("message.id", &no_message_id()),
        wrong("message.file", &no_url()),
        wrong("message.file", &[json!(""), json!(" ")]),
        wrong("message.file_name", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("message.file_size", &no_size()),
        wrong("message.thumb", &no_url()),
        wrong("message.emoji", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("message.duration", &no_size()),
        wrong("message.width", &no_size()),
        wrong("message.height", &no_size()),
        wrong("message.text", &no_text()),
        wrong("message.performer", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("message.title", &no_text_up_to(MAX_TEXT_CHARS)),
        wrong("message.latitude", &no_coordinate(90.0)),
        wrong("message.longitude", &no_coordinate(180.0)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn location_cases() -> Vec<Case> {
    [
        vec![missing("message.latitude"), missing("message.longitude")],
        wrong("message.latitude", &no_coordinate(90.0)),
        wrong("message.longitude", &no_coordinate(180.0)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn text_message() -> Value {
    json!({"type": "text", "text": "Hi"})
}

fn file_message(kind: &str) -> Value {
    json!({"type": kind, "file": "https://cdn.example/f", "file_name": "f.bin", "file_size": 5})
}

fn location_message() -> Value {
    json!({"type": "location", "latitude": 1.0, "longitude": 2.0})
}

/// Every field of A3: a message and what can be wrong with it.
fn message_tables() -> Vec<(Value, Vec<Case>)> {
    let media = ["video", "audio", "voice", "photo", "sticker", "document"];
    let mut tables: Vec<_> = media.map(|kind| (file_message(kind), required_of_files())).into();
    tables.extend([
        (text_message(), text_cases()),
        (file_message("video"), file_cases()),
        (location_message(), location_cases()),
    ]);
    tables
}

fn required_of_files() -> Vec<Case> {
    vec![missing("message.file"), missing("message.file_name"), missing("message.file_size")]
}

async fn channel(stage: &Stage) -> (Account, Channel) {
    let account = stage.account().await;
    let channel = account.channel("https://app.example/hook").await;
    (account, channel)
}

#[test]
fn every_wrong_field_of_a_visitors_message_is_named() {
    on_stage(async |stage| {
        let (account, channel) = channel(stage).await;
        let sender = json!({"id": VISITOR});
        let tables = [(text_message(), sender_cases())].into_iter().chain(message_tables());
        for (message, cases) in tables {
            let good = json!({"sender": sender, "message": message});
            for case in cases {
                case.check(channel.post(&case.apply(&good)).await);
            }
        }
        assert!(account.admin.chats("open").await.is_empty(), "nothing of it is stored");
    });
}

#[test]
fn every_wrong_field_of_an_agents_message_is_named() {
    on_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        let target = format!("/agent/chats/{}/messages", talk.chat);
        for (message, cases) in message_tables() {
            for case in cases {
                // The agent's body is the message itself.
                let Some(field) = case.field.strip_prefix("message.") else { continue };
                let case = Case { field: field.to_owned(), change: case.change.clone() };
                case.check(talk.agent.call.post(&target, &case.apply(&message)).await);
            }
        }
        assert_eq!(talk.agent.messages(talk.chat).await.len(), 1, "nothing of it is stored");
    });
}

#[test]
fn what_is_exactly_as_long_as_allowed_is_accepted_whole() {
    on_stage(async |stage| {
        let (account, channel) = channel(stage).await;
        // Four bytes each: what is stored is as large as it can be.
        let (id, text, url) = ("🎈".repeat(MAX_ID_CHARS), "🎈".repeat(MAX_TEXT_CHARS), url_of(MAX_URL_CHARS));
        let sender = json!({
            "id": id, "name": text, "phone": text, "email": text, "invite": text, "photo": url, "url": url,
        });
        let long = json!({
            "text": text, "file": url, "thumb": url, "emoji": text, "file_name": text, "performer": text, "title": text,
        });
        let message = merged(file_message("audio"), long);
        let identified = merged(message.clone(), json!({"id": text}));
        channel.post(&json!({"sender": sender, "message": identified})).await.expect(200);
        let visitor = account.admin.chat(1).await["visitor"].clone();
        assert_eq!(merged(visitor.clone(), sender), visitor);
        // The id is the integrator's own, the entry has ours.
        let entry = account.admin.message(1, 1).await;
        assert_eq!(merged(entry.clone(), message), entry);
    });
}

#[test]
fn unknown_fields_are_ignored_and_typing_ignores_all_others() {
    on_stage(async |stage| {
        let (account, channel) = channel(stage).await;
        let message = merged(text_message(), json!({"color": [1], "id": "x"}));
        let body = json!({"sender": {"id": "v", "age": {}}, "message": message, "more": null});
        channel.post(&body).await.expect(200);
        for kind in ["typein", "typeout"] {
            let notice = json!({"type": kind, "text": 5, "file": "nonsense", "file_size": -1});
            channel.post(&json!({"sender": {"id": "v"}, "message": notice})).await.expect(200);
        }
        assert_eq!(account.admin.messages(1).await.len(), 1);
    });
}

#[test]
fn an_optional_field_that_is_null_counts_as_absent() {
    on_stage(async |stage| {
        let (account, channel) = channel(stage).await;
        let sender =
            json!({"id": "v", "name": null, "phone": null, "email": null, "photo": null, "url": null, "invite": null});
        let message = merged(file_message("photo"), json!({"thumb": null, "text": null, "width": null}));
        channel.post(&json!({"sender": sender, "message": message})).await.expect(200);
        assert_eq!(account.admin.chat(1).await["visitor"]["name"], "Anonymous");
    });
}

#[test]
fn a_lenient_channel_tolerates_what_clients_in_the_field_get_wrong() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel_with("https://app.example/hook", json!({"validation": "lenient"})).await;
        let bare = json!({"type": "photo", "file": "https://cdn.example/f"});
        let untidy = merged(file_message("video"), json!({"width": -1, "thumb": "nonsense", "performer": 5}));
        for message in [bare, untidy] {
            let body = json!({"sender": {"id": "v", "photo": "nonsense", "name": 5}, "message": message});
            channel.post(&body).await.expect(200);
        }
        for entry in account.admin.messages(1).await {
            for dropped in ["width", "thumb", "performer"] {
                assert!(entry[dropped].is_null(), "{entry}");
            }
        }
        let still_wrong = [json!({"type": "photo"}), json!({"type": "gif"}), json!({"type": "text"})];
        for message in still_wrong {
            let reply = channel.post(&json!({"sender": {"id": "v"}, "message": message})).await;
            reply.expect_error(400, "invalid_request");
        }
        assert_eq!(account.admin.messages(1).await.len(), 2);
    });
}

/// Bodies that are no JSON object, and one that is too large.
pub fn garbage() -> Vec<(&'static str, Vec<u8>)> {
    let nested = |open: &str, close: &str| [open.repeat(10_000), close.repeat(10_000)].concat().into_bytes();
    let large = json!({"sender": {"id": "v"}, "message": {"type": "text", "text": "x".repeat(5_000_000)}});
    let mut not_utf8 =
        json!({"sender": {"id": "v"}, "message": {"type": "text", "text": "@"}}).to_string().into_bytes();
    let place = not_utf8.iter().position(|byte| *byte == b'@').unwrap();
    not_utf8[place] = 0xff;
    vec![
        ("empty", vec![]),
        ("blank", b" \n".to_vec()),
        ("not JSON", b"hello".to_vec()),
        ("a form", b"sender=v&message=Hi".to_vec()),
        ("cut off", br#"{"sender": {"id": "v"}, "mess"#.to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("null", b"null".to_vec()),
        ("a list", b"[]".to_vec()),
        ("a text", b"\"text\"".to_vec()),
        ("a number", b"1e999".to_vec()),
        ("not UTF-8", not_utf8),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        ("zeros", vec![0; 64]),
        ("deep lists", nested("[", "]")),
        ("deep objects", nested("{\"a\":", "}")),
        ("large", large.to_string().into_bytes()),
    ]
}

#[track_caller]
pub fn check_refused(what: &str, reply: &Reply) {
    assert!((400..500).contains(&reply.status), "{what}: {} {}", reply.status, reply.text);
    let body: Value = serde_json::from_str(&reply.text).unwrap_or_else(|_| panic!("{what}: {}", reply.text));
    let error = body["error"].as_object().unwrap_or_else(|| panic!("{what}: {body}"));
    assert!(error["code"].is_string() && error["message"].is_string(), "{what}: {body}");
}

#[test]
fn a_body_that_is_no_message_is_refused_clearly() {
    on_stage(async |stage| {
        let (account, channel) = channel(stage).await;
        for (what, body) in garbage() {
            let reply = post_raw(&channel.call, &channel.endpoint, body).await;
            check_refused(what, &reply);
            assert_eq!(reply.status, if what == "large" { 413 } else { 400 }, "{what}");
        }
        assert!(account.admin.chats("open").await.is_empty());
        channel.say("v", "and it still works").await;
    });
}

#[test]
fn no_endpoint_breaks_on_garbage() {
    on_stage(async |stage| {
        let account = stage.account().await;
        for (method, path) in routes() {
            // A logout reads no body, and would end the session of the requests behind it.
            let takes_a_body = ["POST", "PUT", "PATCH", "ANY"].contains(&method.as_str());
            if !takes_a_body
                || path.ends_with("/status")
                || ["/agent/presence", "/agent/logout"].contains(&path.as_str())
            {
                continue;
            }
            let method = if method == "ANY" { "POST".to_owned() } else { method };
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let caller = if path.starts_with("/operator/") { &stage.operator } else { &account.admin.call };
            for (what, body) in garbage() {
                let request = caller.request(method.clone(), &filled(&path));
                let reply = send(request.header("content-type", "application/json").body(body)).await;
                check_refused(&format!("{method} {path}, {what}"), &reply);
            }
        }
    });
}

#[test]
fn strange_paths_and_queries_are_refused_clearly() {
    on_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        let agent = &talk.agent;
        for chat in ["0", "-1", "1.5", "x", "99", "18446744073709551616", "%00", "1%2F2", "%F0%9F%8E%88"] {
            for suffix in ["", "/messages"] {
                let reply = agent.call.get(&format!("/agent/chats/{chat}{suffix}")).await;
                check_refused(&format!("{chat}{suffix}"), &reply);
            }
        }
        for after in ["x", "-1", "1.5", "18446744073709551616", "%00"] {
            let reply = agent.call.get(&format!("/agent/chats/{}/messages?after={after}", talk.chat)).await;
            let body = reply.expect_error(400, "invalid_request");
            assert_eq!(body["error"]["field"], "after");
        }
        for after in ["9999999998", "9999999999", "10000000000", "18446744073709551615"] {
            let reply = agent.call.get(&format!("/agent/chats/{}/messages?after={after}", talk.chat)).await;
            assert_eq!(reply.expect(200), json!({"messages": []}), "{after}");
        }
        for (before, count) in [("0", 0), ("1", 0), ("9999999999", 1), ("18446744073709551615", 1)] {
            let body = agent.call.get(&format!("/agent/chats?before={before}")).await.expect(200);
            assert_eq!((body["chats"].as_array().unwrap().len(), &body["next"]), (count, &json!(null)), "{before}");
        }
        check_large_numbers(agent).await;
        let reply = agent.call.get("/agent/chats?state=sleeping").await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "state");
        check_unknown_entries(agent, talk.chat).await;
    });
}

async fn check_unknown_entries(agent: &Agent, chat: u64) {
    for seq in ["0", "99", "x", "18446744073709551616"] {
        let reply = agent.call.post(&format!("/agent/chats/{chat}/messages/{seq}/retry"), &json!({})).await;
        check_refused(&format!("retry of {seq}"), &reply);
    }
}

/// Numbers that are well-formed, and larger than any that is given out.
async fn check_large_numbers(admin: &Agent) {
    for number in ["9999999999", "10000000000", "18446744073709551615"] {
        let chat = format!("/agent/chats/{number}");
        for path in [chat.clone(), format!("{chat}/messages"), format!("/admin/agents/{number}")] {
            check_refused(&path, &admin.call.get(&path).await);
        }
        for action in ["accept", "close", "typing", "assign", "messages/1/retry"] {
            let path = format!("{chat}/{action}");
            check_refused(&path, &admin.call.post(&path, &json!({})).await);
        }
        check_refused(number, &admin.call.post(&format!("{chat}/messages"), &text_message()).await);
        let path = format!("/agent/chats/1/messages/{number}/retry");
        check_refused(&path, &admin.call.post(&path, &json!({})).await);
        let path = format!("/agent/visitors/{number}");
        check_refused(&path, &admin.call.patch(&path, &json!({"name": "Ada"})).await);
        for path in [format!("/admin/visitors/{number}"), format!("/admin/departments/{number}")] {
            check_refused(&path, &admin.call.delete(&path).await);
        }
        for parameter in ["chat_id", "from", "to"] {
            let path = format!("/admin/deliveries?{parameter}={number}");
            let reply = admin.call.get(&path).await;
            assert!(reply.status < 500, "{path}: {} {}", reply.status, reply.text);
        }
    }
}

/// The admin's bodies and what can be wrong with them.
fn admin_tables() -> Vec<(&'static str, Value, Vec<Case>)> {
    let channel = json!({"kind": "api", "name": "App", "integrator_url": "https://app.example/hook"});
    let agent =
        json!({"name": "Ann", "email": "ann@acme.example", "password": "long enough to be one", "role": "agent"});
    let channel_cases = [
        vec![missing("name"), missing("integrator_url")],
        wrong("kind", &[json!("fax"), json!(5)]),
        wrong("name", &[json!(""), json!(5), json!(null), json!("x".repeat(5_000))]),
        wrong("integrator_url", &no_url()),
        wrong("integrator_url", &[json!(""), json!(" ")]),
        wrong("append_channel_id", &[json!("yes"), json!(1)]),
        wrong("enabled", &[json!("yes"), json!(1)]),
        wrong("chunked", &[json!("yes"), json!(1)]),
        wrong("agent_ids", &[json!("1"), json!(1), json!(["x"])]),
        wrong("department_ids", &[json!("1"), json!(1), json!(["x"]), json!([1])]),
        wrong("validation", &[json!("loose"), json!(true)]),
        wrong("hidden_error_codes", &[json!(7), json!(["7"]), json!({})]),
    ];
    let agent_cases = [
        vec![missing("name"), missing("email"), missing("password")],
        wrong("name", &[json!(""), json!(5), json!(null)]),
        wrong("email", &[json!(""), json!("ann"), json!("@"), json!(5), json!("x".repeat(5_000))]),
        wrong("password", &[json!(""), json!("short"), json!(5), json!("x".repeat(5_000))]),
        wrong("role", &[json!("owner"), json!(5)]),
        wrong("phone", &no_text()),
        wrong("photo", &[json!("ftp://a.example/x"), json!(5)]),
    ];
    vec![
        ("/admin/channels", channel, channel_cases.into_iter().flatten().collect()),
        ("/admin/agents", agent, agent_cases.into_iter().flatten().collect()),
    ]
}

#[test]
fn every_wrong_field_of_an_admin_is_named() {
    on_stage(async |stage| {
        let account = stage.account().await;
        for (target, good, cases) in admin_tables() {
            for case in cases {
                case.check(account.admin.call.post(target, &case.apply(&good)).await);
            }
        }
        assert_eq!(account.admin.call.get("/admin/channels").await.expect(200), json!({"channels": []}));
    });
}

#[test]
fn every_wrong_field_of_the_operator_and_of_a_login_is_named() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let good = json!({
            "name": "Acme",
            "admin": {"name": "Grace", "email": "grace@acme.example", "password": "long enough to be one"},
        });
        let cases = [
            vec![
                missing("name"),
                missing("admin"),
                missing("admin.name"),
                missing("admin.email"),
                missing("admin.password"),
            ],
            wrong("name", &[json!(""), json!(5)]),
            wrong("admin", &[json!(5), json!([])]),
            wrong("admin.email", &[json!("grace"), json!(5)]),
            wrong("admin.password", &[json!("short"), json!(5)]),
        ];
        for case in cases.into_iter().flatten() {
            case.check(stage.operator.post("/operator/accounts", &case.apply(&good)).await);
        }
        let credentials = json!({"email": account.admin.email, "password": "x"});
        for case in [missing("email"), missing("password")].into_iter().chain(wrong("password", &no_text())) {
            case.check(stage.anyone.post("/agent/login", &case.apply(&credentials)).await);
        }
        let presence = json!({"status": "online"});
        for case in [missing("status")].into_iter().chain(wrong("status", &[json!("asleep"), json!(5)])) {
            case.check(account.admin.call.put("/agent/presence", &case.apply(&presence)).await);
        }
    });
}

#[test]
fn control_characters_and_many_fields_do_no_harm() {
    on_stage(async |stage| {
        let (account, channel) = channel(stage).await;
        let text = "a\u{0}b\u{1b}[2J\u{202e}\u{feff}\r\n'\"<script>";
        channel.say("v\u{0}\n#/..", text).await;
        assert_eq!(account.admin.messages(1).await[0]["text"], text);
        assert_eq!(account.admin.chat(1).await["visitor"]["id"], "v\u{0}\n#/..");
        let many: Map<String, Value> = (0..5_000).map(|n| (format!("field {n}"), json!(n))).collect();
        let body = merged(crate::harness::visitor_text("w", "Hi"), Value::Object(many));
        channel.post(&body).await.expect(200);
    });
}
