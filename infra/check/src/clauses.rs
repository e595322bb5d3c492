//! The clauses of the contract with a partner's server, and how each is checked.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::Error;
use crate::partner::{Example, Partner};
use crate::sender::{Request, Response, Sender, Signature};

/// The service waits so long for a response.
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// A receiver must refuse requests that were signed more than five minutes ago.
const TOO_OLD: Duration = Duration::from_secs(10 * 60);
const MANY_REQUESTS: usize = 20;
const LONG_TEXT_CHARS: usize = 10_000;

/// Whether the server keeps a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub clause: String,
    /// What was expected and what came instead. `None` if the server keeps the clause.
    pub problem: Option<String>,
    /// The body of the request that shows the problem.
    pub request: Option<String>,
}

struct Check<'a> {
    partner: Partner,
    sender: &'a Sender,
    example: Example,
    verdicts: Vec<Verdict>,
}

/// A server that is checked.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    pub partner: Partner,
    /// The address to which the service would send.
    pub url: &'a str,
    /// The signing secret that the server knows.
    pub secret: &'a str,
    /// Whether the channel is set to chunked transfer encoding.
    pub gets_chunks: bool,
}

/// Checks all clauses, one after the other. Calls `report` with each verdict as soon as it is known.
pub async fn check(server: Server<'_>, mut report: impl FnMut(&Verdict)) -> Result<Vec<Verdict>, Error> {
    let Server { partner, url, secret, gets_chunks } = server;
    let sender = &Sender::new(url, secret)?;
    let examples = partner.examples()?;
    let plain = examples.iter().find(|example| example.name == partner.plain_example());
    let example = plain.cloned().ok_or(Error::Document("plain example"))?;
    let mut check = Check { partner, sender, example, verdicts: Vec::new() };
    for example in &examples {
        let request = Request::new(partner, &example.body);
        let problem = check.problem_with(&request).await;
        check.add(&format!("accepts {}", example.name), &request, problem, &mut report);
    }
    check.signatures(&mut report).await;
    check.forms(gets_chunks, &mut report).await?;
    check.disturbances(&mut report).await;
    Ok(check.verdicts)
}

impl Check<'_> {
    async fn signatures(&mut self, report: &mut impl FnMut(&Verdict)) {
        for (clause, signature) in [
            ("accepts a second signature beside that of an old secret", Signature::OldThenRight),
            ("accepts a second signature beside one of an unknown scheme", Signature::UnknownThenRight),
        ] {
            let request = self.request().with_signature(signature);
            let problem = self.problem_with(&request).await;
            self.add(clause, &request, problem, report);
        }
        let old = Request { age: TOO_OLD, ..self.request() };
        for (clause, request) in [
            ("refuses a request without a signature", self.request().with_signature(Signature::None)),
            ("refuses a wrong signature", self.request().with_signature(Signature::Wrong)),
            ("refuses the signature of another body", self.request().with_signature(Signature::OfAnotherBody)),
            ("refuses a request that was signed ten minutes ago", old),
        ] {
            let problem = refusal_problem(self.sender.send(&request).await);
            self.add(clause, &request, problem, report);
        }
    }

    /// Requests of the service in other forms, or with what a later version may add.
    async fn forms(&mut self, gets_chunks: bool, report: &mut impl FnMut(&Verdict)) -> Result<(), Error> {
        if gets_chunks {
            let chunked = Request { is_chunked: true, ..self.request() };
            let problem = self.problem_with(&chunked).await;
            self.add("accepts chunked transfer encoding", &chunked, problem, report);
        }
        let mut unknown_field = self.example.body.clone();
        if let Some(fields) = unknown_field.as_object_mut() {
            fields.insert("field_of_a_later_version".to_owned(), json!({ "a": [1] }));
        }
        let request = Request::new(self.partner, &unknown_field);
        let problem = self.problem_with(&request).await;
        self.add("ignores unknown fields", &request, problem, report);
        if let Some(pointer) = self.partner.text_pointer() {
            let request = self.request_with(pointer, "ж".repeat(LONG_TEXT_CHARS))?;
            let problem = self.problem_with(&request).await;
            self.add("accepts a text of 10,000 characters", &request, problem, report);
        }
        if let Some(pointer) = self.partner.type_pointer() {
            let request = self.request_with(pointer, "type_of_a_later_version".to_owned())?;
            let problem = server_error_problem(self.sender.send(&request).await);
            self.add("survives a type that it does not know", &request, problem, report);
        }
        Ok(())
    }

    async fn disturbances(&mut self, report: &mut impl FnMut(&Verdict)) {
        let request = self.request();
        let first = self.problem_with(&request).await;
        let problem = first.or(self.problem_with(&request).await);
        self.add("accepts a repeated request with the same id", &request, problem, report);

        let malformed = Request { body: b"{\"message\":".to_vec(), ..self.request() };
        let problem = server_error_problem(self.sender.send(&malformed).await);
        self.add("survives a body that is not JSON", &malformed, problem, report);

        let aborted = self.sender.abort_upload().await;
        if aborted != Ok(false) {
            let request = self.request();
            let problem = match aborted {
                Err(error) => Some(error),
                Ok(_) => self.problem_with(&request).await,
            };
            self.add("survives an upload that breaks off", &request, problem, report);
        }

        let requests: Vec<Request> = (0..MANY_REQUESTS).map(|_| self.request()).collect();
        let sent = join_all(requests.iter().map(|request| self.problem_with(request))).await;
        let problem = sent.into_iter().flatten().next();
        self.add("accepts twenty requests at the same time", &self.request(), problem, report);
    }

    fn request(&self) -> Request {
        Request::new(self.partner, &self.example.body)
    }

    /// Returns the plain example with another value in this place.
    fn request_with(&self, pointer: &'static str, value: String) -> Result<Request, Error> {
        let mut body = self.example.body.clone();
        *body.pointer_mut(pointer).ok_or(Error::Document(pointer))? = Value::String(value);
        Ok(Request::new(self.partner, &body))
    }

    /// Sends a request that the server must accept. Returns what is wrong with the response, or `None`.
    async fn problem_with(&self, request: &Request) -> Option<String> {
        match self.sender.send(request).await {
            Err(error) => Some(error),
            Ok(response) if response.took > TIME_LIMIT => {
                Some(format!("expected a response within 3 seconds, it took {} ms", response.took.as_millis()))
            }
            Ok(response) => self.partner.problem_of(&response),
        }
    }

    fn add(&mut self, clause: &str, request: &Request, problem: Option<String>, report: &mut impl FnMut(&Verdict)) {
        let shown = problem.as_ref().map(|_| String::from_utf8_lossy(&request.body).chars().take(400).collect());
        let verdict = Verdict { clause: clause.to_owned(), problem, request: shown };
        report(&verdict);
        self.verdicts.push(verdict);
    }
}

fn refusal_problem(sent: Result<Response, String>) -> Option<String> {
    match sent {
        Ok(response) if (400..500).contains(&response.status) => None,
        Ok(response) => Some(format!("expected a status from 400 to 499, such as 401, got {}", response.status)),
        Err(error) => Some(error),
    }
}

/// A server may refuse what it does not understand, but must not fail.
fn server_error_problem(sent: Result<Response, String>) -> Option<String> {
    match sent {
        Ok(response) if response.status < 500 => None,
        Ok(response) => Some(format!("expected no server error, got {}", response.status)),
        Err(error) => Some(error),
    }
}
