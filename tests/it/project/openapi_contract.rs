//! Checks against `docs/openapi.json`: the service's responses to the tests' `ApiClient`, the bodies of successful
//! requests, and the requests that the service sends to a `TestReceiver`. An undocumented field in a response fails the
//! test. Also tests the document itself, and that the service serves it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Registry, Validator};
use local::cargo_build::workspace_root;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project::sam_template::routes;
use crate::support::api_client::{ApiResponse, send};
use crate::support::protected_routes::fill_path;
use crate::support::test_host::run_on_shared_host;
use crate::support::test_receiver;

pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = std::fs::read_to_string(workspace_root().join("docs/openapi.json")).unwrap();
    serde_json::from_str(&text).unwrap()
});

/// Two versions of the document. `urn:open` is the unchanged document and is used for requests to the service.
/// `urn:closed` also forbids undocumented fields and is used for the bodies that the service sends.
static SCHEMAS: LazyLock<Registry<'static>> = LazyLock::new(|| {
    let mut closed = DOCUMENT.clone();
    close_objects(&mut closed);
    let both = Registry::new().add("urn:open", DOCUMENT.clone()).unwrap().add("urn:closed", closed).unwrap();
    both.prepare().unwrap()
});

/// Forbids additional fields in every object schema that lists its fields, unless the schema already says whether
/// additional fields are allowed.
fn close_objects(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(close_objects);
            let is_object_schema =
                fields.get("type").is_some_and(|kind| kind == "object" || kind == &json!(["object", "null"]));
            if is_object_schema && fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the validator for the schema at a JSON pointer. `document` is `open` or `closed` (see [`SCHEMAS`]).
fn validator(document: &str, pointer: &str) -> Arc<Validator> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let reference = format!("urn:{document}#{}", pointer.replace('{', "%7B").replace('}', "%7D"));
    let mut validators = VALIDATORS.lock().unwrap();
    let build = || {
        let built = jsonschema::draft202012::options().with_registry(&SCHEMAS).build(&json!({"$ref": reference}));
        Arc::new(built.unwrap_or_else(|error| panic!("{pointer}: {error}")))
    };
    Arc::clone(validators.entry(reference.clone()).or_insert_with(build))
}

pub fn schema_errors(document: &str, pointer: &str, value: &Value) -> Vec<String> {
    let validator = validator(document, pointer);
    validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect()
}

/// A node of the document and its JSON pointer. A reference is replaced by the node that it refers to.
#[derive(Clone)]
struct DocumentNode {
    pointer: String,
    value: &'static Value,
}

impl DocumentNode {
    fn at(pointer: &str) -> Self {
        let value = DOCUMENT.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"));
        match value["$ref"].as_str() {
            Some(reference) => Self::at(reference.strip_prefix('#').unwrap()),
            None => Self { pointer: pointer.to_owned(), value },
        }
    }

    fn get(&self, name: &str) -> Option<Self> {
        self.value.get(name)?;
        Some(Self::at(&format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))))
    }

    /// Returns the schema of the node's JSON content, or `None` if the node has no JSON content.
    fn json(&self) -> Option<Self> {
        self.get("content")?.get("application/json")?.get("schema")
    }
}

/// Returns the path item that matches a request path. If several match, returns the one with the fewest parameters.
fn path_item(path: &str) -> Option<DocumentNode> {
    let matches = |template: &str| {
        let (template, path) = (template.split('/'), path.split('/'));
        template.clone().count() == path.clone().count()
            && template.zip(path).all(|(part, segment)| part == segment || part.starts_with('{') && !segment.is_empty())
    };
    let templates = DOCUMENT["paths"].as_object().unwrap().keys();
    let template =
        templates.filter(|template| matches(template)).min_by_key(|template| template.matches('{').count())?;
    DocumentNode::at("/paths").get(template)
}

/// Checks that a response's status, headers and body are as documented, and that the body of a successful request
/// matches its schema.
#[track_caller]
pub fn check(method: &Method, path: &str, sent: Option<&[u8]>, reply: &ApiResponse) {
    // The local host's own pages are not part of the service.
    if path.starts_with("/_local/") {
        return;
    }
    // The gateway itself rejects a request whose headers are too large, without calling a function.
    if reply.status == 431 {
        return check_gateway_error(reply);
    }
    let Some(item) = path_item(path) else { return check_not_found(reply) };
    if *method == Method::HEAD && item.get("get").is_some() {
        assert!(reply.text.is_empty() && reply.status != 405, "{reply:?}");
        return;
    }
    let Some(operation) = item.get(&method.as_str().to_lowercase()) else {
        return check_method_not_allowed(&item, reply);
    };
    let exchange = format!("{method} {} answered {}: {}", operation.value["operationId"], reply.status, reply.text);
    let response = operation.get("responses").unwrap().get(&reply.status.to_string());
    check_documented_response(&response.unwrap_or_else(|| panic!("undocumented: {exchange}")), reply, &exchange);
    let request_schema = operation.get("requestBody").and_then(|body| body.json());
    // Check the body of a successful request. Requests to channels are excluded, because a lenient channel also accepts
    // bodies that do not match the schema.
    if let (Some(request_schema), Some(sent), 200..=299) =
        (request_schema, sent.filter(|sent| !sent.is_empty()), reply.status)
        && !path.starts_with("/channel/")
    {
        // Twilio sends forms, which have no JSON schema.
        let Ok(sent) = serde_json::from_slice::<Value>(sent) else { return };
        let schema_errors = schema_errors("open", &request_schema.pointer, &sent);
        assert!(schema_errors.is_empty(), "{exchange}, although {schema_errors:?}: {sent}");
    }
}

#[track_caller]
fn check_documented_response(response: &DocumentNode, reply: &ApiResponse, exchange: &str) {
    for (name, header) in response.value["headers"].as_object().into_iter().flatten() {
        let is_required = header["$ref"].is_string() || header["required"] == true;
        assert!(!is_required || reply.headers.contains_key(name.to_lowercase()), "no {name}: {exchange}");
    }
    let kind = reply.headers.get("content-type").map(|kind| kind.to_str().unwrap()).unwrap_or_default();
    let is_json = kind.starts_with("application/json");
    let Some(schema) = response.json().filter(|_| is_json || response.value["content"].as_object().unwrap().len() == 1)
    else {
        // Pages and files have a documented content type but no schema. A response without a content type has no body.
        let types = response.value["content"].as_object();
        let is_documented = types.is_some_and(|types| types.keys().any(|one| kind.split(';').next() == Some(one)));
        return assert_eq!(!reply.text.is_empty(), is_documented, "{kind}: {exchange}");
    };
    assert!(is_json, "{kind}: {exchange}");
    let schema_errors = schema_errors("closed", &schema.pointer, &reply.json());
    assert!(schema_errors.is_empty(), "{schema_errors:?}: {exchange}");
}

#[track_caller]
fn check_not_found(reply: &ApiResponse) {
    assert_eq!(reply.status, 404, "{reply:?}");
    // A response to HEAD has no body.
    if !reply.text.is_empty() {
        reply.clone().expect_error(404, "not_found");
    }
}

#[track_caller]
fn check_method_not_allowed(item: &DocumentNode, reply: &ApiResponse) {
    assert_eq!(reply.status, 405, "{reply:?}");
    let methods = item.value.as_object().unwrap().keys().filter(|name| *name != "parameters");
    let methods: BTreeSet<String> =
        methods.map(|name| name.to_uppercase()).chain(item.get("get").map(|_| "HEAD".to_owned())).collect();
    let methods: Vec<String> = methods.into_iter().collect();
    assert_eq!(reply.headers["allow"], methods.join(", ").as_str());
    // A response to HEAD has no body.
    if !reply.text.is_empty() {
        let is_bot_api = item.pointer.starts_with("/paths/~1bot~1");
        reply.clone().expect_error(405, if is_bot_api { "invalid_request" } else { "method_not_allowed" });
    }
}

#[track_caller]
fn check_gateway_error(reply: &ApiResponse) {
    assert!(reply.json()["message"].is_string(), "{reply:?}");
}

#[track_caller]
pub fn check_sent(request: &test_receiver::ReceivedRequest) {
    // Requests to Twilio's API are form-encoded, not JSON.
    let Ok(mut body) = serde_json::from_slice::<Value>(&request.body) else { return };
    if request.header("content-type").is_some_and(|it| it.starts_with("application/cloudevents+json")) {
        body = body["data"].take();
    }
    // A full event about a visitor always has a page.
    let is_thin = body["visitor"].is_object() && body.get("page").is_none();
    let name = match body["event_name"].as_str() {
        Some(_) if is_thin => "thin_event",
        Some(event) => event,
        None if body["event"] == "call" => "placeCall",
        None if body["event"].is_string() => "botEvent",
        None => "integratorMessage",
    };
    let item = DocumentNode::at("/webhooks").get(name).unwrap_or_else(|| panic!("undocumented: {body}"));
    let operation = item.get("post").unwrap();
    let request_schema = operation.get("requestBody").unwrap().json().unwrap();
    let schema_errors = schema_errors("closed", &request_schema.pointer, &body);
    assert!(schema_errors.is_empty(), "{name}: {schema_errors:?}: {body}");
    for index in 0..operation.value["parameters"].as_array().unwrap().len() {
        let header = DocumentNode::at(&format!("{}/parameters/{index}", operation.pointer));
        let name = header.value["name"].as_str().unwrap();
        let value = json!(request.header(name).unwrap_or_else(|| panic!("no {name}")));
        assert!(validator("open", &format!("{}/schema", header.pointer)).is_valid(&value), "{name}: {value}");
    }
}

fn documented_methods() -> BTreeMap<String, BTreeSet<String>> {
    let methods = |item: &Value| {
        let names = item.as_object().unwrap().keys().filter(|name| *name != "parameters");
        names.map(|name| name.to_uppercase()).collect()
    };
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    paths.map(|(path, item)| (path.clone(), methods(item))).collect()
}

#[test]
fn document_has_exactly_the_routes_of_the_template() {
    let documented_methods = documented_methods();
    let mut deployed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (method, path) in routes() {
        // A route for any method supports the documented methods. `undocumented_methods_get_405` tests the others.
        let any = || documented_methods.get(&path).cloned().unwrap_or_default();
        let methods = if method == "ANY" { any() } else { BTreeSet::from([method]) };
        assert!(!methods.is_empty(), "{path} is not in docs/openapi.json");
        deployed.entry(path).or_default().extend(methods);
    }
    for (path, methods) in &mut deployed {
        let is_any = routes().contains(&("ANY".to_owned(), path.clone()));
        let (has_get, has_head) = (methods.contains("GET"), methods.remove("HEAD"));
        assert_eq!(has_get, has_head || has_get && is_any, "every GET is also a HEAD: {path}");
    }
    assert_eq!(documented_methods, deployed);
}

#[test]
fn operations_have_unique_ids_and_their_path_parameters() {
    let mut names = BTreeSet::new();
    for (path, methods) in documented_methods() {
        let item = DocumentNode::at("/paths").get(&path).unwrap();
        let expected: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        for method in methods {
            let operation = item.get(&method.to_lowercase()).unwrap();
            let name = operation.value["operationId"].as_str().unwrap();
            assert!(names.insert(name), "duplicate operationId {name}");
            let parameters = [&item, &operation].into_iter().flat_map(|place| {
                let count = place.value["parameters"].as_array().map_or(0, Vec::len);
                (0..count).map(|index| DocumentNode::at(&format!("{}/parameters/{index}", place.pointer)))
            });
            let path_parameters = parameters.filter(|parameter| parameter.value["in"] == "path");
            assert_eq!(
                path_parameters.map(|parameter| parameter.value["name"].as_str().unwrap()).collect::<BTreeSet<_>>(),
                expected
            );
        }
    }
}

#[test]
fn document_marks_every_operation_that_requires_a_token() {
    for (path, methods) in documented_methods() {
        let area = path.split('/').nth(1).unwrap();
        for method in methods {
            let operation = &DOCUMENT["paths"][&path][method.to_lowercase()];
            // Every agent can read canned replies, but only admins can change them.
            let is_admin_only = path.starts_with("/agent/canned-replies") && method != "GET";
            let expected = match area {
                "agent" if is_admin_only => json!([{"admin": []}]),
                "agent" | "admin" | "operator" if path != "/agent/login" => json!([{ area: [] }]),
                "bot" => json!([{}, {"provider": []}]),
                _ => json!([]),
            };
            assert_eq!(operation["security"], expected, "{method} {path}");
            let may_return_403 = ["admin", "bot"].contains(&area)
                || area == "agent" && path != "/agent/logout"
                || (area == "channel" || path.contains("{widget_id}")) && method == "POST";
            assert_eq!(operation["responses"].get("403").is_some(), may_return_403, "{method} {path}");
        }
    }
}

#[test]
fn document_is_served_and_cacheable() {
    run_on_shared_host(async |host| {
        let reply = host.anonymous.get("/openapi.json").await;
        assert_eq!(reply.headers["cache-control"], "public, max-age=300");
        let tag = reply.headers["etag"].clone();
        assert_eq!(reply.expect(200), *DOCUMENT);
        let request_if_changed =
            |tag: &str| host.anonymous.request(Method::GET, "/openapi.json").header("if-none-match", tag);
        assert_eq!(send(request_if_changed(tag.to_str().unwrap())).await.expect(304), Value::Null);
        assert_eq!(send(request_if_changed("\"another\"")).await.expect(200), *DOCUMENT);
    });
}

#[test]
fn reference_page_shows_the_served_document_and_loads_nothing() {
    run_on_shared_host(async |host| {
        let reply = host.anonymous.get("/reference").await;
        assert_eq!(reply.status, 200);
        let policy = reply.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        for (path, item) in DOCUMENT["paths"].as_object().unwrap() {
            for operation in item.as_object().unwrap().values().filter_map(|it| it["operationId"].as_str()) {
                assert!(reply.text.contains(&format!("<section id=\"{operation}\">")), "{path} {operation}");
            }
        }
        for name in DOCUMENT["components"]["schemas"].as_object().unwrap().keys() {
            assert!(reply.text.contains(&format!("<section id=\"schema-{name}\">")), "{name}");
        }
        assert!(!["<script", "<link", "<img", "src="].iter().any(|part| reply.text.contains(part)));
    });
}

#[test]
fn unrouted_request_gets_an_error_body() {
    run_on_shared_host(async |host| {
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
            (Method::POST, "/openapi.json", Some("GET, HEAD")),
            (Method::PUT, "/agent/chats/7/messages", Some("GET, HEAD, POST")),
            (Method::POST, "/admin/agents/7", Some("DELETE, GET, HEAD, PATCH")),
            (Method::HEAD, "/agent/login", Some("POST")),
        ] {
            let reply = send(host.anonymous.request(method.clone(), path)).await;
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
fn undocumented_methods_get_405() {
    run_on_shared_host(async |host| {
        for (path, documented) in documented_methods() {
            for method in ["DELETE", "GET", "PATCH", "POST", "PUT"].into_iter().filter(|one| !documented.contains(*one))
            {
                let request = host.anonymous.request(method.parse().unwrap(), &fill_path(&path));
                // Each response is compared with the document, also its `Allow` header.
                assert_eq!(send(request).await.status, 405, "{method} {path}");
            }
        }
    });
}

#[test]
fn head_is_answered_like_get_without_a_body() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let status = format!("{}/status", channel.endpoint);
        for (client, path, expected) in [
            (&host.anonymous, "/openapi.json", 200),
            (&host.anonymous, "/reference", 200),
            (&host.anonymous, "/widget.js", 200),
            (&host.anonymous, "/widget/none", 200),
            (&host.anonymous, &*status, 200),
            (&host.anonymous, "/agent/me", 401),
            (&account.admin.client, "/agent/me", 200),
            (&account.admin.client, "/admin/channels", 200),
            (&account.admin.client, "/admin/channels/none", 404),
        ] {
            let get = send(client.request(Method::GET, path)).await;
            let head = send(client.request(Method::HEAD, path)).await;
            assert_eq!((get.status, head.status, &*head.text), (expected, expected, ""), "{path}");
            assert_eq!(head.headers["content-type"], get.headers["content-type"], "{path}");
        }
    });
}

#[test]
fn undocumented_fields_and_statuses_fail_the_check() {
    let reply = |status: u16, body: Value| {
        let headers =
            [("content-type", "application/json")].map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        ApiResponse { status, headers: headers.into_iter().collect(), text: body.to_string() }
    };
    let is_rejected = |method: Method, path: &str, reply: ApiResponse| {
        std::panic::catch_unwind(|| check(&method, path, None, &reply)).is_err()
    };
    let presence = json!({"status": "online", "online": true});
    assert!(!is_rejected(Method::GET, "/agent/presence", reply(200, presence.clone())));
    assert!(is_rejected(Method::GET, "/agent/presence", reply(200, json!({"status": "online"}))));
    assert!(is_rejected(
        Method::GET,
        "/agent/presence",
        reply(200, json!({"status": "online", "online": true, "more": 1}))
    ));
    assert!(is_rejected(Method::GET, "/agent/presence", reply(201, presence.clone())));
    assert!(is_rejected(Method::GET, "/agent/elsewhere", reply(200, presence)));
    let undocumented_agent = json!({"chat_id": 1, "state": "closed", "agent": {"id": 1}});
    assert!(is_rejected(Method::POST, "/agent/chats/1/close", reply(200, undocumented_agent)));
    let rate_limited = json!({"error": {"code": "rate_limited", "message": "too many requests"}});
    assert!(is_rejected(Method::POST, "/channel/x/y", reply(429, rate_limited)), "Retry-After is missing");
}
