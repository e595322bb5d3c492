//! An operation of the HTTP API: a method of a path with its parameters, bodies and responses.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::failure::Failure;

/// The credential that an operation requires. It also determines which failures the operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    Public,
    /// A visitor's browser, which the widget's id and the `Origin` header identify.
    Visitor,
    Agent,
    Admin,
    Operator,
    /// A bot provider. Its secret is required only if it was registered with one.
    Provider,
    /// A telephony provider, which signs its requests.
    Signature,
    /// The operation is a request that the service sends and signs.
    Outgoing,
}

/// Returns the schema of a type. Schemas of requests and responses come from different generators.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

struct Example {
    name: &'static str,
    summary: Option<&'static str>,
    value: Value,
}

/// The body of a request or a response.
pub(super) struct Body {
    content_type: &'static str,
    schema: Option<SchemaOf>,
    examples: Vec<Example>,
}

struct Answer {
    status: u16,
    description: &'static str,
    headers: Map<String, Value>,
    bodies: Vec<Body>,
}

/// An operation. The builder methods add what the method, the path and the credential do not imply.
pub struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: Option<&'static str>,
    security: Security,
    parameters: Vec<Value>,
    query: Option<SchemaOf>,
    /// The alternative bodies of the request.
    request: Vec<Body>,
    is_request_required: bool,
    answers: Vec<Answer>,
    any_2xx: Option<&'static str>,
    failures: Vec<Failure>,
    without: Vec<Failure>,
}

impl Operation {
    /// `path` is a path of the template. `id` becomes the name of the method in generated clients.
    fn new(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Self {
        let security = Security::of_path(path);
        Self {
            method,
            path,
            id,
            tag: security.tag(),
            summary,
            description: None,
            security,
            parameters: Vec::new(),
            query: None,
            request: Vec::new(),
            is_request_required: true,
            answers: Vec::new(),
            any_2xx: None,
            failures: Vec::new(),
            without: Vec::new(),
        }
    }

    pub fn get(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("get", path, id, summary)
    }

    pub fn post(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("post", path, id, summary)
    }

    pub fn put(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("put", path, id, summary)
    }

    pub fn patch(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("patch", path, id, summary)
    }

    pub fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("delete", path, id, summary)
    }

    /// A request that the service sends to a customer's server. `event` is its key among the document's webhooks.
    pub fn outgoing(event: &'static str, id: &'static str, summary: &'static str) -> Self {
        let operation = Self::new("post", event, id, summary).tagged(Security::Outgoing.tag());
        let headers = ["WebhookIdHeader", "WebhookTimestampHeader", "WebhookSignatureHeader", "TraceparentHeader"];
        let parameters = headers.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
        Self { security: Security::Outgoing, parameters: parameters.to_vec(), ..operation }
    }

    pub fn describe(self, description: &'static str) -> Self {
        Self { description: Some(description), ..self }
    }

    /// Replaces the credential that the path implies.
    pub fn secured_by(self, security: Security) -> Self {
        Self { security, ..self }
    }

    /// Replaces the tag that the path implies.
    pub fn tagged(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    /// The query parameters are the fields of `T`.
    pub fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(|schemas| T::json_schema(schemas)), ..self }
    }

    pub fn header(mut self, name: &'static str, description: &'static str) -> Self {
        let parameter =
            json!({ "name": name, "in": "header", "description": description, "schema": { "type": "string" } });
        self.parameters.push(parameter);
        self
    }

    /// The operation accepts an `Idempotency-Key`.
    pub fn with_idempotency_key(mut self) -> Self {
        self.parameters.push(json!({ "$ref": "#/components/parameters/IdempotencyKey" }));
        self
    }

    /// The operation accepts an `Idempotency-Key`, and rejects the key with another body.
    pub fn idempotent(self) -> Self {
        self.with_idempotency_key().fails(&[Failure::IdempotencyKeyReused])
    }

    /// The request has a JSON body.
    pub fn body<T: JsonSchema>(self) -> Self {
        self.body_of_type::<T>("application/json")
    }

    /// The request has a body of this content type. Repeated calls add an alternative.
    pub fn body_of_type<T: JsonSchema>(mut self, content_type: &'static str) -> Self {
        self.request.push(Body { content_type, ..Body::json::<T>() });
        self
    }

    /// The request may have a JSON body.
    pub fn optional_body<T: JsonSchema>(self) -> Self {
        Self { is_request_required: false, ..self.body::<T>() }
    }

    /// Adds an example of the request's body.
    pub fn example(mut self, name: &'static str, summary: &'static str, value: Value) -> Self {
        if let Some(body) = self.request.last_mut() {
            body.examples.push(Example { name, summary: Some(summary).filter(|summary| !summary.is_empty()), value });
        }
        self
    }

    /// A successful response with a JSON body.
    pub fn answers<T: JsonSchema>(self, status: u16, description: &'static str) -> Self {
        self.answer(status, description, vec![Body::json::<T>()])
    }

    /// A successful response with a text of this content type.
    pub fn answers_text(self, content_type: &'static str, status: u16, description: &'static str) -> Self {
        self.answer(status, description, vec![Body { content_type, ..Body::json::<String>() }])
    }

    /// A successful response without a body.
    pub fn answers_empty(self, status: u16, description: &'static str) -> Self {
        self.answer(status, description, Vec::new())
    }

    /// A successful response with a body of another content type. Repeated calls with the same status add an
    /// alternative.
    pub fn answers_as(self, content_type: &'static str, status: u16, description: &'static str) -> Self {
        let body = Body { content_type, schema: None, examples: Vec::new() };
        self.answer(status, description, vec![body])
    }

    fn answer(mut self, status: u16, description: &'static str, bodies: Vec<Body>) -> Self {
        match self.answers.iter_mut().find(|answer| answer.status == status) {
            Some(answer) => answer.bodies.extend(bodies),
            None => self.answers.push(Answer { status, description, headers: Map::new(), bodies }),
        }
        self
    }

    /// Every other 2xx response has the same meaning as the last response.
    pub fn answers_any_2xx(self, description: &'static str) -> Self {
        Self { any_2xx: Some(description), ..self }
    }

    /// Adds an example of the body of the last response.
    pub fn answer_example(mut self, name: &'static str, summary: Option<&'static str>, value: Value) -> Self {
        let body = self.answers.last_mut().and_then(|answer| answer.bodies.last_mut());
        if let Some(body) = body {
            body.examples.push(Example { name, summary, value });
        }
        self
    }

    /// Adds a header to the last response. `header` is a header object of OpenAPI.
    pub fn answer_header(mut self, name: &'static str, header: Value) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.headers.insert(name.to_owned(), header);
        }
        self
    }

    /// Browsers may cache the last response and revalidate it.
    pub fn cacheable(self) -> Self {
        self.header("If-None-Match", "The ETag of the client's copy.")
            .answer_header("ETag", json!({ "required": true, "schema": { "type": "string" } }))
            .answers_empty(304, "The client's copy is up to date.")
    }

    /// Adds failures that the method, the path and the credential do not imply.
    pub fn fails(mut self, failures: &[Failure]) -> Self {
        self.failures.extend(failures);
        self
    }

    /// Removes a failure that the path or the credential implies.
    pub fn never_fails(mut self, failure: Failure) -> Self {
        self.without.push(failure);
        self
    }

    /// Returns the failures of the operation: the implied and the added ones.
    pub(super) fn all_failures(&self) -> Vec<Failure> {
        if self.security == Security::Outgoing {
            return Vec::new();
        }
        let mut failures = self.security.failures().to_vec();
        let is_bot_api = self.security == Security::Provider;
        if !self.request.is_empty() && !is_bot_api {
            failures.extend([Failure::InvalidRequest, Failure::PayloadTooLarge]);
        }
        if self.query.is_some() {
            failures.push(Failure::InvalidRequest);
        }
        let is_of_account = matches!(self.security, Security::Agent | Security::Admin | Security::Operator);
        if is_of_account && self.path.contains('{') {
            failures.push(Failure::NotFound);
        }
        failures.extend([Failure::InternalError, Failure::ServiceUnavailable]);
        let replaced = |failure: &Failure| self.failures.iter().any(|added| added.status() == failure.status());
        failures.retain(|failure| !self.without.contains(failure) && !replaced(failure));
        failures.extend(&self.failures);
        failures.sort_by_key(|failure| failure.status());
        failures.dedup();
        failures
    }

    /// Returns the operation object of the document.
    pub(super) fn to_json(&self, requests: &mut SchemaGenerator, responses: &mut SchemaGenerator) -> Value {
        let mut operation = json!({ "operationId": self.id, "tags": [self.tag], "summary": self.summary });
        operation["security"] = self.security.requirement();
        if let Some(description) = self.description {
            operation["description"] = json!(description);
        }
        let query = self.query.map(|schema| query_parameters(&transformed(schema, requests))).unwrap_or_default();
        let parameters: Vec<&Value> = query.iter().chain(&self.parameters).collect();
        if !parameters.is_empty() {
            operation["parameters"] = json!(parameters);
        }
        if !self.request.is_empty() {
            operation["requestBody"] =
                json!({ "required": self.is_request_required, "content": content(&self.request, requests) });
        }
        let mut by_status = Map::new();
        for answer in &self.answers {
            by_status.insert(answer.status.to_string(), answer.to_json(responses));
        }
        if let Some(description) = self.any_2xx {
            by_status.insert("2XX".to_owned(), json!({ "description": description }));
        }
        for failure in self.all_failures() {
            let reference = json!({ "$ref": format!("#/components/responses/{}", failure.name()) });
            by_status.insert(failure.status().to_string(), reference);
        }
        operation["responses"] = Value::Object(by_status);
        operation
    }
}

impl Body {
    fn json<T: JsonSchema>() -> Self {
        let schema: SchemaOf = |schemas| schemas.subschema_for::<T>();
        Self { content_type: "application/json", schema: Some(schema), examples: Vec::new() }
    }
}

impl Answer {
    fn to_json(&self, schemas: &mut SchemaGenerator) -> Value {
        let mut answer = json!({ "description": self.description });
        if !self.headers.is_empty() {
            answer["headers"] = json!(self.headers);
        }
        if !self.bodies.is_empty() {
            answer["content"] = content(&self.bodies, schemas);
        }
        answer
    }
}

fn content(bodies: &[Body], schemas: &mut SchemaGenerator) -> Value {
    let mut by_type = Map::new();
    for body in bodies {
        let mut media = Map::new();
        if let Some(schema) = body.schema {
            media.insert("schema".to_owned(), transformed(schema, schemas).to_value());
        }
        if !body.examples.is_empty() {
            let examples = body.examples.iter().map(|example| (example.name.to_owned(), example.to_json()));
            media.insert("examples".to_owned(), Value::Object(examples.collect()));
        }
        by_type.insert(body.content_type.to_owned(), Value::Object(media));
    }
    Value::Object(by_type)
}

/// Returns the schema of a type that is not a component. schemars transforms only components.
fn transformed(schema_of: SchemaOf, schemas: &mut SchemaGenerator) -> Schema {
    let mut schema = schema_of(schemas);
    schemas.transforms_mut().for_each(|transform| transform.transform(&mut schema));
    schema
}

impl Example {
    fn to_json(&self) -> Value {
        match self.summary {
            Some(summary) => json!({ "summary": summary, "value": self.value }),
            None => json!({ "value": self.value }),
        }
    }
}

/// Converts the schema of a type to one query parameter for each of its fields.
fn query_parameters(schema: &Schema) -> Vec<Value> {
    let fields = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({ "name": name, "in": "query", "schema": schema });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        if required.is_some_and(|required| required.iter().any(|field| field == name)) {
            parameter["required"] = json!(true);
        }
        parameter
    };
    fields.into_iter().flatten().map(parameter).collect()
}

impl Security {
    fn of_path(path: &str) -> Self {
        match path.split('/').nth(1).unwrap_or_default() {
            "agent" => Self::Agent,
            "admin" => Self::Admin,
            "operator" => Self::Operator,
            "bot" => Self::Provider,
            "calls" => Self::Signature,
            "widget" => Self::Visitor,
            _ => Self::Public,
        }
    }

    fn tag(self) -> &'static str {
        match self {
            Self::Public => "Channel API",
            Self::Outgoing => "Webhooks",
            Self::Visitor => "Widget",
            Self::Agent => "Agents",
            Self::Admin => "Admins",
            Self::Operator => "Operator",
            Self::Provider => "Bot API",
            Self::Signature => "Telephony",
        }
    }

    fn requirement(self) -> Value {
        match self {
            Self::Public | Self::Visitor | Self::Signature => json!([]),
            Self::Outgoing => json!([{ "signature": [] }]),
            Self::Agent => json!([{ "agent": [] }]),
            Self::Admin => json!([{ "admin": [] }]),
            Self::Operator => json!([{ "operator": [] }]),
            Self::Provider => json!([{}, { "provider": [] }]),
        }
    }

    fn failures(self) -> &'static [Failure] {
        match self {
            Self::Public => &[Failure::Throttled],
            Self::Outgoing => &[],
            Self::Visitor => &[
                Failure::InvalidVisitorToken,
                Failure::SiteNotAllowed,
                Failure::WidgetNotFound,
                Failure::TooManyRequests,
            ],
            Self::Agent | Self::Admin => &[Failure::Unauthorized, Failure::Forbidden],
            Self::Operator => &[Failure::Unauthorized],
            Self::Provider => &[
                Failure::BotError(400),
                Failure::BotError(401),
                Failure::BotError(403),
                Failure::BotError(404),
                Failure::BotError(405),
                Failure::BotPayloadTooLarge,
                Failure::BotTooManyRequests,
            ],
            Self::Signature => &[Failure::InvalidSignature, Failure::NotFound],
        }
    }
}
