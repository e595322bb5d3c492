//! Tests for the validation of input. Invalid input gets a 4xx response that names the invalid field, and is not
//! stored. Unusual but valid input is accepted.

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::project::sam_template::documented_routes;
use crate::support::api_client::{ApiResponse, TestAccount, TestAgent, TestChannel, merged, send};
use crate::support::protected_routes::fill_path;
use crate::support::test_host::{ActiveChat, TestHost, VISITOR_ID, post_raw, run_on_shared_host};

/// The maximum length of `sender.id`.
const MAX_ID_CHARS: usize = 255;
/// The maximum length of fields such as `sender.name` and `message.title`. A message with a longer field is rejected.
/// This limit does not apply to `sender.id`, URLs and `message.text`, which is truncated in visitors' messages.
const MAX_TEXT_CHARS: usize = 1_000;
const MAX_URL_CHARS: usize = 4_096;

/// A change that makes a body invalid. The error response must name the changed field.
struct InvalidField {
    field: String,
    change: FieldChange,
}

#[derive(Debug, Clone)]
enum FieldChange {
    Missing,
    Set(Value),
}

fn missing(field: &str) -> InvalidField {
    InvalidField { field: field.to_owned(), change: FieldChange::Missing }
}

fn invalid(field: &str, values: &[Value]) -> Vec<InvalidField> {
    values
        .iter()
        .map(|value| InvalidField { field: field.to_owned(), change: FieldChange::Set(value.clone()) })
        .collect()
}

impl InvalidField {
    /// Returns `base` with the change applied. `field` is the path to the field, for example `message.text`.
    fn apply(&self, base: &Value) -> Value {
        let mut body = base.clone();
        let (parent, name) = self.field.rsplit_once('.').unwrap_or(("", &self.field));
        let object = if parent.is_empty() { &mut body } else { &mut body[parent] };
        let fields = object.as_object_mut().unwrap();
        match &self.change {
            FieldChange::Missing => drop(fields.remove(name)),
            FieldChange::Set(value) => drop(fields.insert(name.to_owned(), value.clone())),
        }
        body
    }

    #[track_caller]
    fn assert_error(&self, reply: ApiResponse) {
        assert_eq!(reply.status, 400, "{} {:?}: {}", self.field, self.change, reply.text);
        let body = reply.expect_error(400, "invalid_request");
        assert_eq!(body["error"]["field"], self.field.as_str(), "{:?}: {body}", self.change);
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(&self.field), "{:?}: {message}", self.change);
    }
}

fn non_strings() -> Vec<Value> {
    vec![json!(5), json!(true), json!([]), json!({})]
}

/// Returns values that are not strings, plus a string with more than `max_chars` two-byte characters.
fn invalid_strings(max_chars: usize) -> Vec<Value> {
    non_strings().into_iter().chain([json!("é".repeat(max_chars + 1))]).collect()
}

/// Returns values that are neither numbers nor strings, plus a string that is too long.
fn invalid_message_ids() -> Vec<Value> {
    vec![json!(true), json!([]), json!({}), json!("é".repeat(MAX_TEXT_CHARS + 1))]
}

fn invalid_urls() -> Vec<Value> {
    let schemes = ["ftp://a.example/x", "javascript:alert(1)", "data:text/html,x", "/relative", "a.example"];
    let too_long = json!(url_of_length(MAX_URL_CHARS + 1));
    non_strings().into_iter().chain(schemes.map(Value::from)).chain([too_long]).collect()
}

fn url_of_length(length: usize) -> String {
    let prefix = "https://cdn.example/";
    format!("{prefix}{}", "x".repeat(length - prefix.len()))
}

/// Returns values that are not positive integers below 2^53.
fn invalid_sizes() -> Vec<Value> {
    vec![json!(0), json!(-1), json!(1.5), json!("12"), json!(true), json!([]), json!(1e300), json!(1_u64 << 53)]
}

/// Returns values that are not numbers between `-max` and `max`.
fn invalid_coordinates(max: f64) -> Vec<Value> {
    vec![json!("1.5"), json!(true), json!([]), json!({}), json!(max + 0.01), json!(-max - 0.01), json!(1e300)]
}

fn sender_cases() -> Vec<InvalidField> {
    let non_objects = [json!(null), json!("x"), json!(5), json!([])];
    let too_long = json!("é".repeat(MAX_ID_CHARS + 1));
    let invalid_ids = [json!(null), json!(""), json!(true), json!(1.5), json!([]), json!({}), too_long];
    [
        vec![missing("sender"), missing("sender.id")],
        invalid("sender", &non_objects),
        invalid("sender.id", &invalid_ids),
        invalid("sender.name", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("sender.phone", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("sender.email", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("sender.invite", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("sender.photo", &invalid_urls()),
        invalid("sender.url", &invalid_strings(MAX_URL_CHARS)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn text_cases() -> Vec<InvalidField> {
    let non_objects = [json!(null), json!("x"), json!(5), json!([])];
    let invalid_types = [json!(null), json!(""), json!(5), json!("TEXT"), json!("gif"), json!("seen"), json!([])];
    let invalid_texts = [json!(null), json!(5), json!(true), json!([]), json!({})];
    [
        vec![missing("message"), missing("message.type"), missing("message.text")],
        invalid("message", &non_objects),
        invalid("message.type", &invalid_types),
        invalid("message.id", &invalid_message_ids()),
        invalid("message.text", &invalid_texts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn file_cases() -> Vec<InvalidField> {
    [
        vec![missing("message.file"), missing("message.file_name"), missing("message.file_size")],
        invalid("message.id", &invalid_message_ids()),
        invalid("message.file", &invalid_urls()),
        invalid("message.file", &[json!(""), json!(" ")]),
        invalid("message.file_name", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("message.file_size", &invalid_sizes()),
        invalid("message.thumb", &invalid_urls()),
        invalid("message.emoji", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("message.duration", &invalid_sizes()),
        invalid("message.width", &invalid_sizes()),
        invalid("message.height", &invalid_sizes()),
        invalid("message.text", &non_strings()),
        invalid("message.performer", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("message.title", &invalid_strings(MAX_TEXT_CHARS)),
        invalid("message.latitude", &invalid_coordinates(90.0)),
        invalid("message.longitude", &invalid_coordinates(180.0)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn location_cases() -> Vec<InvalidField> {
    [
        vec![missing("message.latitude"), missing("message.longitude")],
        invalid("message.latitude", &invalid_coordinates(90.0)),
        invalid("message.longitude", &invalid_coordinates(180.0)),
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

/// Returns valid messages, each with changes that make it invalid. Together, the changes affect the fields in table A3
/// of the specification.
fn messages_with_cases() -> Vec<(Value, Vec<InvalidField>)> {
    let media = ["video", "audio", "voice", "photo", "sticker", "document"];
    let mut tables: Vec<_> = media.map(|kind| (file_message(kind), missing_file_fields())).into();
    tables.extend([
        (text_message(), text_cases()),
        (file_message("video"), file_cases()),
        (location_message(), location_cases()),
    ]);
    tables
}

fn missing_file_fields() -> Vec<InvalidField> {
    vec![missing("message.file"), missing("message.file_name"), missing("message.file_size")]
}

async fn create_channel(host: &TestHost) -> (TestAccount, TestChannel) {
    let account = host.create_account().await;
    let channel = account.create_channel("https://app.example/hook").await;
    (account, channel)
}

#[test]
fn error_names_every_invalid_field_of_a_visitor_message() {
    run_on_shared_host(async |host| {
        let (account, channel) = create_channel(host).await;
        let sender = json!({"id": VISITOR_ID});
        let tables = [(text_message(), sender_cases())].into_iter().chain(messages_with_cases());
        for (message, cases) in tables {
            let valid = json!({"sender": sender, "message": message});
            for case in cases {
                case.assert_error(channel.post(&case.apply(&valid)).await);
            }
        }
        assert!(account.admin.chats("open").await.is_empty(), "something was stored");
    });
}

#[test]
fn error_names_every_invalid_field_of_an_agent_message() {
    run_on_shared_host(async |host| {
        let active_chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let target = format!("/agent/chats/{}/messages", active_chat.number);
        for (message, cases) in messages_with_cases() {
            for case in cases {
                // The body of an agent's request is the message itself, not wrapped in a `message` field.
                let Some(field) = case.field.strip_prefix("message.") else { continue };
                let case = InvalidField { field: field.to_owned(), change: case.change.clone() };
                case.assert_error(active_chat.agent.client.post(&target, &case.apply(&message)).await);
            }
        }
        assert_eq!(active_chat.agent.timeline(active_chat.number).await.len(), 1, "something was stored");
    });
}

#[test]
fn values_at_the_maximum_length_are_accepted_unchanged() {
    run_on_shared_host(async |host| {
        let (account, channel) = create_channel(host).await;
        // Each character takes four bytes, which makes the stored item as large as possible.
        let (id, text, url) = ("🎈".repeat(MAX_ID_CHARS), "🎈".repeat(MAX_TEXT_CHARS), url_of_length(MAX_URL_CHARS));
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
        // `message.id` is the integrator's own id for the message. The entry has a different id, which the service
        // assigns.
        let entry = account.admin.timeline_entry(1, 1).await;
        assert_eq!(merged(entry.clone(), message), entry);
    });
}

#[test]
fn unknown_fields_and_other_fields_of_typing_are_ignored() {
    run_on_shared_host(async |host| {
        let (account, channel) = create_channel(host).await;
        let message = merged(text_message(), json!({"color": [1], "id": "x"}));
        let body = json!({"sender": {"id": "v", "age": {}}, "message": message, "more": null});
        channel.post(&body).await.expect(200);
        for kind in ["typein", "typeout"] {
            let notice = json!({"type": kind, "text": 5, "file": "nonsense", "file_size": -1});
            channel.post(&json!({"sender": {"id": "v"}, "message": notice})).await.expect(200);
        }
        assert_eq!(account.admin.timeline(1).await.len(), 1);
    });
}

#[test]
fn null_optional_fields_are_absent() {
    run_on_shared_host(async |host| {
        let (account, channel) = create_channel(host).await;
        let sender =
            json!({"id": "v", "name": null, "phone": null, "email": null, "photo": null, "url": null, "invite": null});
        let message = merged(file_message("photo"), json!({"thumb": null, "text": null, "width": null}));
        channel.post(&json!({"sender": sender, "message": message})).await.expect(200);
        assert_eq!(account.admin.chat(1).await["visitor"]["name"], "Anonymous");
    });
}

#[test]
fn lenient_channel_tolerates_common_client_mistakes() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel_with("https://app.example/hook", json!({"validation": "lenient"})).await;
        let required_fields_missing = json!({"type": "photo", "file": "https://cdn.example/f"});
        let invalid_optional_fields =
            merged(file_message("video"), json!({"width": -1, "thumb": "nonsense", "performer": 5}));
        for message in [required_fields_missing, invalid_optional_fields] {
            let body = json!({"sender": {"id": "v", "photo": "nonsense", "name": 5}, "message": message});
            channel.post(&body).await.expect(200);
        }
        for entry in account.admin.timeline(1).await {
            for dropped in ["width", "thumb", "performer"] {
                assert!(entry[dropped].is_null(), "{entry}");
            }
        }
        let rejected = [json!({"type": "photo"}), json!({"type": "gif"}), json!({"type": "text"})];
        for message in rejected {
            let reply = channel.post(&json!({"sender": {"id": "v"}, "message": message})).await;
            reply.expect_error(400, "invalid_request");
        }
        assert_eq!(account.admin.timeline(1).await.len(), 2);
    });
}

/// Returns request bodies that are not JSON objects, plus a body that is too large, each with a short description.
pub fn malformed_bodies() -> Vec<(&'static str, Vec<u8>)> {
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
pub fn assert_client_error(description: &str, reply: &ApiResponse) {
    assert!((400..500).contains(&reply.status), "{description}: {} {}", reply.status, reply.text);
    let body: Value = serde_json::from_str(&reply.text).unwrap_or_else(|_| panic!("{description}: {}", reply.text));
    let error = body["error"].as_object().unwrap_or_else(|| panic!("{description}: {body}"));
    assert!(error["code"].is_string() && error["message"].is_string(), "{description}: {body}");
}

#[test]
fn body_that_is_not_a_message_gets_a_clear_error() {
    run_on_shared_host(async |host| {
        let (account, channel) = create_channel(host).await;
        for (description, body) in malformed_bodies() {
            let reply = post_raw(&channel.client, &channel.endpoint, body).await;
            assert_client_error(description, &reply);
            assert_eq!(reply.status, if description == "large" { 413 } else { 400 }, "{description}");
        }
        assert!(account.admin.chats("open").await.is_empty());
        channel.send_text("v", "a valid message").await;
    });
}

#[test]
fn every_endpoint_rejects_malformed_bodies() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for (method, path) in documented_routes() {
            // Skip endpoints that do not read a body. Logout would also end the session that the next requests need.
            let without_body = ["/agent/presence", "/agent/logout", "/agent/socket-ticket"];
            let has_body = ["POST", "PUT", "PATCH"].contains(&method.as_str());
            if !has_body || without_body.contains(&path.as_str()) {
                continue;
            }
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let client = if path.starts_with("/operator/") { &host.operator } else { &account.admin.client };
            for (description, body) in malformed_bodies() {
                let request = client.request(method.clone(), &fill_path(&path));
                let reply = send(request.header("content-type", "application/json").body(body)).await;
                assert_client_error(&format!("{method} {path}, {description}"), &reply);
            }
        }
    });
}

#[test]
fn malformed_paths_and_queries_get_a_clear_error() {
    run_on_shared_host(async |host| {
        let active_chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let agent = &active_chat.agent;
        for chat in ["0", "-1", "1.5", "x", "99", "18446744073709551616", "%00", "1%2F2", "%F0%9F%8E%88"] {
            for suffix in ["", "/messages"] {
                let reply = agent.client.get(&format!("/agent/chats/{chat}{suffix}")).await;
                assert_client_error(&format!("{chat}{suffix}"), &reply);
            }
        }
        for after in ["x", "-1", "1.5", "18446744073709551616", "%00"] {
            let reply = agent.client.get(&format!("/agent/chats/{}/messages?after={after}", active_chat.number)).await;
            let body = reply.expect_error(400, "invalid_request");
            assert_eq!(body["error"]["field"], "after");
        }
        for after in ["9999999998", "9999999999", "10000000000", "18446744073709551615"] {
            let reply = agent.client.get(&format!("/agent/chats/{}/messages?after={after}", active_chat.number)).await;
            assert_eq!(reply.expect(200), json!({"messages": []}), "{after}");
        }
        for (before, count) in [("0", 0), ("1", 0), ("9999999999", 1), ("18446744073709551615", 1)] {
            let body = agent.client.get(&format!("/agent/chats?before={before}")).await.expect(200);
            assert_eq!((body["chats"].as_array().unwrap().len(), &body["next"]), (count, &json!(null)), "{before}");
        }
        assert_large_numbers_are_rejected(agent).await;
        let reply = agent.client.get("/agent/chats?state=sleeping").await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "state");
        assert_unknown_entries_are_rejected(agent, active_chat.number).await;
    });
}

async fn assert_unknown_entries_are_rejected(agent: &TestAgent, chat: u64) {
    for seq in ["0", "99", "x", "18446744073709551616"] {
        let reply = agent.client.post(&format!("/agent/chats/{chat}/messages/{seq}/retry"), &json!({})).await;
        assert_client_error(&format!("retry of {seq}"), &reply);
    }
}

/// Checks that a request is rejected if a number in its path is well-formed but larger than any assigned number. In a
/// query, such a number may be accepted, but must not cause a 5xx response.
async fn assert_large_numbers_are_rejected(admin: &TestAgent) {
    for number in ["9999999999", "10000000000", "18446744073709551615"] {
        let chat = format!("/agent/chats/{number}");
        for path in [chat.clone(), format!("{chat}/messages"), format!("/admin/agents/{number}")] {
            assert_client_error(&path, &admin.client.get(&path).await);
        }
        for action in ["accept", "close", "typing", "assign", "messages/1/retry"] {
            let path = format!("{chat}/{action}");
            assert_client_error(&path, &admin.client.post(&path, &json!({})).await);
        }
        assert_client_error(number, &admin.client.post(&format!("{chat}/messages"), &text_message()).await);
        let path = format!("/agent/chats/1/messages/{number}/retry");
        assert_client_error(&path, &admin.client.post(&path, &json!({})).await);
        let path = format!("/agent/visitors/{number}");
        assert_client_error(&path, &admin.client.patch(&path, &json!({"name": "Ada"})).await);
        for path in [format!("/admin/visitors/{number}"), format!("/admin/departments/{number}")] {
            assert_client_error(&path, &admin.client.delete(&path).await);
        }
        for parameter in ["chat_id", "from", "to"] {
            let path = format!("/admin/deliveries?{parameter}={number}");
            let reply = admin.client.get(&path).await;
            assert!(reply.status < 500, "{path}: {} {}", reply.status, reply.text);
        }
    }
}

/// Returns admin API paths, each with a valid request body and the changes that make that body invalid.
fn admin_requests_with_cases() -> Vec<(&'static str, Value, Vec<InvalidField>)> {
    let channel = json!({"kind": "api", "name": "App", "integrator_url": "https://app.example/hook"});
    let agent =
        json!({"name": "Ann", "email": "ann@acme.example", "password": "long enough to be one", "role": "agent"});
    let channel_cases = [
        vec![missing("name"), missing("integrator_url")],
        invalid("kind", &[json!("fax"), json!(5)]),
        invalid("name", &[json!(""), json!(5), json!(null), json!("x".repeat(5_000))]),
        invalid("integrator_url", &invalid_urls()),
        invalid("integrator_url", &[json!(""), json!(" ")]),
        invalid("append_channel_id", &[json!("yes"), json!(1)]),
        invalid("enabled", &[json!("yes"), json!(1)]),
        invalid("chunked", &[json!("yes"), json!(1)]),
        invalid("agent_ids", &[json!("1"), json!(1), json!(["x"])]),
        invalid("department_ids", &[json!("1"), json!(1), json!(["x"]), json!([1])]),
        invalid("validation", &[json!("loose"), json!(true)]),
        invalid("hidden_error_codes", &[json!(7), json!(["7"]), json!({})]),
    ];
    let agent_cases = [
        vec![missing("name"), missing("email"), missing("password")],
        invalid("name", &[json!(""), json!(5), json!(null)]),
        invalid("email", &[json!(""), json!("ann"), json!("@"), json!(5), json!("x".repeat(5_000))]),
        invalid("password", &[json!(""), json!("short"), json!(5), json!("x".repeat(5_000))]),
        invalid("role", &[json!("owner"), json!(5)]),
        invalid("phone", &non_strings()),
        invalid("photo", &[json!("ftp://a.example/x"), json!(5)]),
    ];
    vec![
        ("/admin/channels", channel, channel_cases.into_iter().flatten().collect()),
        ("/admin/agents", agent, agent_cases.into_iter().flatten().collect()),
    ]
}

#[test]
fn error_names_every_invalid_field_of_admin_requests() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for (target, valid, cases) in admin_requests_with_cases() {
            for case in cases {
                case.assert_error(account.admin.client.post(target, &case.apply(&valid)).await);
            }
        }
        assert_eq!(account.admin.client.get("/admin/channels").await.expect(200), json!({"channels": []}));
    });
}

#[test]
fn error_names_invalid_fields_of_operator_and_login_requests() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let valid = json!({
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
            invalid("name", &[json!(""), json!(5)]),
            invalid("admin", &[json!(5), json!([])]),
            invalid("admin.email", &[json!("grace"), json!(5)]),
            invalid("admin.password", &[json!("short"), json!(5)]),
        ];
        for case in cases.into_iter().flatten() {
            case.assert_error(host.operator.post("/operator/accounts", &case.apply(&valid)).await);
        }
        let credentials = json!({"email": account.admin.email, "password": "x"});
        for case in [missing("email"), missing("password")].into_iter().chain(invalid("password", &non_strings())) {
            case.assert_error(host.anonymous.post("/agent/login", &case.apply(&credentials)).await);
        }
        let presence = json!({"status": "online"});
        for case in [missing("status")].into_iter().chain(invalid("status", &[json!("asleep"), json!(5)])) {
            case.assert_error(account.admin.client.put("/agent/presence", &case.apply(&presence)).await);
        }
    });
}

#[test]
fn control_characters_and_thousands_of_fields_are_accepted() {
    run_on_shared_host(async |host| {
        let (account, channel) = create_channel(host).await;
        let text = "a\u{0}b\u{1b}[2J\u{202e}\u{feff}\r\n'\"<script>";
        channel.send_text("v\u{0}\n#/..", text).await;
        assert_eq!(account.admin.timeline(1).await[0]["text"], text);
        assert_eq!(account.admin.chat(1).await["visitor"]["id"], "v\u{0}\n#/..");
        let many: Map<String, Value> = (0..5_000).map(|n| (format!("field {n}"), json!(n))).collect();
        let body = merged(crate::support::test_host::visitor_text("w", "Hi"), Value::Object(many));
        channel.post(&body).await.expect(200);
    });
}
