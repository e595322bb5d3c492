//! The OpenAPI document held against the code. Every request of every journey, its answer and everything that a
//! receiver is sent are checked here against `docs/openapi.json`; an answer may have no field that it lacks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Registry, Validator};
use local::builder::workspace;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Reply;
use crate::harness::on_stage;
use crate::receiver;
use crate::template::routes;

pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = std::fs::read_to_string(workspace().join("docs/openapi.json")).unwrap();
    serde_json::from_str(&text).unwrap()
});

/// The document twice: as it is, for what is received, and closed, for what the service says.
static SCHEMAS: LazyLock<Registry<'static>> = LazyLock::new(|| {
    let mut closed = DOCUMENT.clone();
    close(&mut closed);
    let both = Registry::new().add("urn:open", DOCUMENT.clone()).unwrap().add("urn:closed", closed).unwrap();
    both.prepare().unwrap()
});

/// Forbids every field that a schema does not name.
fn close(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            let of_object =
                fields.get("type").is_some_and(|kind| kind == "object" || kind == &json!(["object", "null"]));
            if of_object && fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The validator of the schema at a place of the document.
fn validator(of: &str, pointer: &str) -> Arc<Validator> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let reference = format!("urn:{of}#{}", pointer.replace('{', "%7B").replace('}', "%7D"));
    let mut known = KNOWN.lock().unwrap();
    let build = || {
        let built = jsonschema::draft202012::options().with_registry(&SCHEMAS).build(&json!({"$ref": reference}));
        Arc::new(built.unwrap_or_else(|error| panic!("{pointer}: {error}")))
    };
    Arc::clone(known.entry(reference.clone()).or_insert_with(build))
}

/// What is wrong with a value, in words.
fn faults(of: &str, pointer: &str, value: &Value) -> Vec<String> {
    let validator = validator(of, pointer);
    validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect()
}

/// A place in the document, whose references have been followed.
#[derive(Clone)]
struct Place {
    pointer: String,
    value: &'static Value,
}

impl Place {
    fn of(pointer: &str) -> Self {
        let value = DOCUMENT.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"));
        match value["$ref"].as_str() {
            Some(reference) => Self::of(reference.strip_prefix('#').unwrap()),
            None => Self { pointer: pointer.to_owned(), value },
        }
    }

    /// A field of it; none where it has no such field.
    fn get(&self, name: &str) -> Option<Self> {
        self.value.get(name)?;
        Some(Self::of(&format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))))
    }

    /// The schema of its JSON.
    fn json(&self) -> Option<Self> {
        self.get("content")?.get("application/json")?.get("schema")
    }
}

/// The item of a path as it was called.
fn path_item(path: &str) -> Option<Place> {
    let fits = |template: &str| {
        let (template, path) = (template.split('/'), path.split('/'));
        template.clone().count() == path.clone().count()
            && template.zip(path).all(|(part, given)| part == given || part.starts_with('{') && !given.is_empty())
    };
    let all = DOCUMENT["paths"].as_object().unwrap().keys();
    let found = all.filter(|template| fits(template)).min_by_key(|template| template.matches('{').count())?;
    Place::of("/paths").get(found)
}

/// Checks an exchange: the status and the body are documented, and what was accepted is what is asked for.
#[track_caller]
pub fn check(method: &Method, path: &str, sent: Option<&[u8]>, reply: &Reply) {
    // The local host's own pages are no part of the service.
    if path.starts_with("/_local/") {
        return;
    }
    // The head of a request that no function saw.
    if reply.status == 431 {
        return refused_by_gateway(reply);
    }
    let Some(item) = path_item(path) else { return not_found(reply) };
    let Some(operation) = item.get(&method.as_str().to_lowercase()) else { return not_allowed(&item, reply) };
    let what = format!("{method} {} answered {}: {}", operation.value["operationId"], reply.status, reply.text);
    let response = operation.get("responses").unwrap().get(&reply.status.to_string());
    answered(&response.unwrap_or_else(|| panic!("undocumented: {what}")), reply, &what);
    let asked = operation.get("requestBody").and_then(|body| body.json());
    // A lenient channel accepts more.
    if let (Some(asked), Some(sent), 200..=299) = (asked, sent.filter(|sent| !sent.is_empty()), reply.status)
        && !path.starts_with("/channel/")
    {
        let sent: Value = serde_json::from_slice(sent).unwrap();
        let faults = faults("open", &asked.pointer, &sent);
        assert!(faults.is_empty(), "{what}, although {faults:?}: {sent}");
    }
}

#[track_caller]
fn answered(response: &Place, reply: &Reply, what: &str) {
    for (name, header) in response.value["headers"].as_object().into_iter().flatten() {
        let is_required = header["$ref"].is_string() || header["required"] == true;
        assert!(!is_required || reply.headers.contains_key(name.to_lowercase()), "no {name}: {what}");
    }
    let kind = reply.headers.get("content-type").map(|kind| kind.to_str().unwrap()).unwrap_or_default();
    let Some(schema) = response.json() else {
        // A page or a file has a type and no schema; what documents no type has no body.
        let types = response.value["content"].as_object();
        let is_documented = types.is_some_and(|types| types.keys().any(|one| kind.split(';').next() == Some(one)));
        return assert_eq!(!reply.text.is_empty(), is_documented, "{kind}: {what}");
    };
    assert!(kind.starts_with("application/json"), "{kind}: {what}");
    let faults = faults("closed", &schema.pointer, &reply.json());
    assert!(faults.is_empty(), "{faults:?}: {what}");
}

/// A path that no route has.
#[track_caller]
fn not_found(reply: &Reply) {
    assert_eq!(reply.status, 404, "{reply:?}");
    // The answer to HEAD has no body.
    if !reply.text.is_empty() {
        reply.clone().expect_error(404, "not_found");
    }
}

/// A method that the path does not take.
#[track_caller]
fn not_allowed(item: &Place, reply: &Reply) {
    assert_eq!(reply.status, 405, "{reply:?}");
    let methods = item.value.as_object().unwrap().keys().filter(|name| *name != "parameters");
    let methods: Vec<String> = methods.map(|name| name.to_uppercase()).collect();
    assert_eq!(reply.headers["allow"], methods.join(", ").as_str());
    // The answer to HEAD has no body.
    if !reply.text.is_empty() {
        let is_bot_api = item.pointer.starts_with("/paths/~1bot~1");
        reply.clone().expect_error(405, if is_bot_api { "invalid_request" } else { "method_not_allowed" });
    }
}

#[track_caller]
fn refused_by_gateway(reply: &Reply) {
    assert!(reply.json()["message"].is_string(), "{reply:?}");
}

/// Checks what the service sent to somebody's server.
#[track_caller]
pub fn check_sent(request: &receiver::Request) {
    let body = request.json();
    let name = match body["event_name"].as_str() {
        Some(event) => event,
        None if body["event"].is_string() => "botEvent",
        None => "integratorMessage",
    };
    let item = Place::of("/webhooks").get(name).unwrap_or_else(|| panic!("undocumented: {body}"));
    let asked = item.get("post").unwrap().get("requestBody").unwrap().json().unwrap();
    let faults = faults("closed", &asked.pointer, &body);
    assert!(faults.is_empty(), "{name}: {faults:?}: {body}");
    for index in 0..item.value["parameters"].as_array().unwrap().len() {
        let header = Place::of(&format!("{}/parameters/{index}", item.pointer));
        let name = header.value["name"].as_str().unwrap();
        let given = json!(request.header(name).unwrap_or_else(|| panic!("no {name}")));
        assert!(validator("open", &format!("{}/schema", header.pointer)).is_valid(&given), "{name}: {given}");
    }
}

/// The methods of every documented path.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let methods = |item: &Value| {
        let names = item.as_object().unwrap().keys().filter(|name| *name != "parameters");
        names.map(|name| name.to_uppercase()).collect()
    };
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    paths.map(|(path, item)| (path.clone(), methods(item))).collect()
}

#[test]
fn the_document_has_the_routes_of_the_template_and_no_other() {
    let documented = documented();
    let mut deployed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (method, path) in routes() {
        // A route of every method takes those that are documented and answers 405 to the rest.
        let any = || documented.get(&path).cloned().unwrap_or_default();
        let methods = if method == "ANY" { any() } else { BTreeSet::from([method]) };
        assert!(!methods.is_empty(), "{path} is not in docs/openapi.json");
        deployed.entry(path).or_default().extend(methods);
    }
    assert_eq!(documented, deployed);
}

#[test]
fn every_operation_of_the_document_has_a_name_and_its_path_parameters() {
    let mut names = BTreeSet::new();
    for (path, methods) in documented() {
        let item = Place::of("/paths").get(&path).unwrap();
        let expected: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        for method in methods {
            let operation = item.get(&method.to_lowercase()).unwrap();
            let name = operation.value["operationId"].as_str().unwrap();
            assert!(names.insert(name), "{name} twice");
            let given = [&item, &operation].into_iter().flat_map(|place| {
                let count = place.value["parameters"].as_array().map_or(0, Vec::len);
                (0..count).map(|index| Place::of(&format!("{}/parameters/{index}", place.pointer)))
            });
            let given = given.filter(|parameter| parameter.value["in"] == "path");
            assert_eq!(
                given.map(|parameter| parameter.value["name"].as_str().unwrap()).collect::<BTreeSet<_>>(),
                expected
            );
        }
    }
}

#[test]
fn the_guarded_operations_of_the_document_are_those_that_ask_for_a_token() {
    for (path, methods) in documented() {
        let area = path.split('/').nth(1).unwrap();
        for method in methods {
            let operation = &DOCUMENT["paths"][&path][method.to_lowercase()];
            let expected = match area {
                "agent" | "admin" | "operator" if path != "/agent/login" => json!([{ area: [] }]),
                "bot" => json!([{}, {"provider": []}]),
                _ => json!([]),
            };
            assert_eq!(operation["security"], expected, "{method} {path}");
            let may_be_forbidden = ["admin", "bot"].contains(&area)
                || area == "agent" && path.contains('{')
                || area == "channel" && method == "POST";
            assert_eq!(operation["responses"].get("403").is_some(), may_be_forbidden, "{method} {path}");
        }
    }
}

#[test]
fn the_document_is_served_and_a_copy_is_kept() {
    on_stage(async |stage| {
        let reply = stage.anyone.get("/openapi.json").await;
        assert_eq!(reply.headers["cache-control"], "public, max-age=300");
        let tag = reply.headers["etag"].clone();
        assert_eq!(reply.expect(200), *DOCUMENT);
        let again = |tag: &str| stage.anyone.request(Method::GET, "/openapi.json").header("if-none-match", tag);
        assert_eq!(crate::client::send(again(tag.to_str().unwrap())).await.expect(304), Value::Null);
        assert_eq!(crate::client::send(again("\"another\"")).await.expect(200), *DOCUMENT);
    });
}

#[test]
fn an_unrouted_request_gets_an_error_body() {
    on_stage(async |stage| {
        for (method, path, allowed) in [
            (Method::GET, "/", None),
            (Method::GET, "/favicon.ico", None),
            (Method::POST, "/agent/login/", None),
            (Method::GET, "/agent/chats/", None),
            (Method::GET, "/agent/chats/7/messages/", None),
            (Method::GET, "/agent/chats//messages", None),
            (Method::GET, "/AGENT/chats", None),
            (Method::POST, "/openapi.json/../agent/log%69n/x", None),
            (Method::GET, "/%00/%FF?a=%zz", None),
            (Method::DELETE, "/agent/login", Some("POST")),
            (Method::POST, "/openapi.json", Some("GET")),
            (Method::PUT, "/agent/chats/7/messages", Some("GET, POST")),
            (Method::POST, "/admin/agents/7", Some("DELETE, GET, PATCH")),
            (Method::HEAD, "/agent/chats", Some("GET")),
        ] {
            let reply = crate::client::send(stage.anyone.request(method.clone(), path)).await;
            let allow = reply.headers.get("allow").map(|methods| methods.to_str().unwrap());
            assert_eq!(allow, allowed, "{method} {path}: {reply:?}");
            if method == Method::HEAD {
                assert_eq!(reply.status, 405);
            } else if allowed.is_some() {
                reply.expect_error(405, "method_not_allowed");
            } else {
                reply.expect_error(404, "not_found");
            }
        }
    });
}

#[test]
fn an_answer_with_a_field_or_a_status_that_is_not_documented_is_noticed() {
    let reply = |status: u16, body: Value| {
        let headers =
            [("content-type", "application/json")].map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Reply { status, headers: headers.into_iter().collect(), text: body.to_string() }
    };
    let noticed = |method: Method, path: &str, reply: Reply| {
        std::panic::catch_unwind(|| check(&method, path, None, &reply)).is_err()
    };
    let presence = json!({"status": "online", "online": true});
    assert!(!noticed(Method::GET, "/agent/presence", reply(200, presence.clone())));
    assert!(noticed(Method::GET, "/agent/presence", reply(200, json!({"status": "online"}))));
    assert!(noticed(
        Method::GET,
        "/agent/presence",
        reply(200, json!({"status": "online", "online": true, "more": 1}))
    ));
    assert!(noticed(Method::GET, "/agent/presence", reply(201, presence.clone())));
    assert!(noticed(Method::GET, "/agent/elsewhere", reply(200, presence)));
    let author = json!({"chat_id": 1, "state": "closed", "agent": {"id": 1}});
    assert!(noticed(Method::POST, "/agent/chats/1/close", reply(200, author)));
    let busy = json!({"error": {"code": "rate_limited", "message": "too many requests"}});
    assert!(noticed(Method::POST, "/channel/x/y", reply(429, busy)), "without Retry-After");
}
