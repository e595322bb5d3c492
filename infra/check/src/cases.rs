//! The clauses that are checked with one request, or with some that are sent one after the other.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Error;
use crate::partner::{Example, Partner};
use crate::sender::{Request, Signature, Transfer};
use crate::spelling;

/// A receiver must refuse requests that were signed more than five minutes ago.
const TOO_OLD: Duration = Duration::from_secs(10 * 60);
/// The service sends a request again after this time, and signs it anew.
const RETRY_DELAY: Duration = Duration::from_secs(3);
const LONG_TEXT_CHARS: usize = 10_000;

/// A clause, and the requests that show whether a server keeps it.
pub(crate) struct Case {
    pub clause: String,
    /// Each request is sent after the response to the one before.
    pub steps: Vec<(Request, Expected)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// The service counts the request as delivered.
    Accepted,
    /// Like `Accepted`, but the service ignores the body of the response.
    AcceptedByStatus,
    /// A status from 400 to 499.
    Refused,
    /// A server may refuse what it does not understand, but must not fail.
    NoServerError,
    /// Only the next step shows whether the server is right.
    Anything,
}

impl Case {
    fn new(clause: &str, request: Request, expected: Expected) -> Self {
        Self { clause: clause.to_owned(), steps: vec![(request, expected)] }
    }

    fn accepts(clause: &str, request: Request) -> Self {
        Self::new(clause, request, Expected::Accepted)
    }

    fn accepts_all(clause: &str, requests: impl IntoIterator<Item = Request>) -> Self {
        let steps = requests.into_iter().map(|request| (request, Expected::Accepted));
        Self { clause: clause.to_owned(), steps: steps.collect() }
    }
}

/// The requests that are derived from the plain example of a kind of servers.
pub(crate) struct Plain {
    partner: Partner,
    example: Value,
}

impl Plain {
    pub fn new(partner: Partner, examples: &[Example]) -> Result<Self, Error> {
        let plain = examples.iter().find(|example| example.name == partner.plain_example());
        Ok(Self { partner, example: plain.ok_or(Error::Document("plain example"))?.body.clone() })
    }

    pub fn request(&self) -> Request {
        Request::new(self.partner, &self.example)
    }

    fn signed(&self, signature: Signature) -> Request {
        Request { signature, ..self.request() }
    }

    fn sent(&self, transfer: Transfer) -> Request {
        Request { transfer, ..self.request() }
    }

    /// Returns the example with another value in this place.
    fn with(&self, pointer: &'static str, value: String) -> Result<Request, Error> {
        let mut body = self.example.clone();
        *body.pointer_mut(pointer).ok_or(Error::Document(pointer))? = Value::String(value);
        Ok(Request::new(self.partner, &body))
    }

    fn with_unknown_field(&self) -> Request {
        let mut body = self.example.clone();
        if let Some(fields) = body.as_object_mut() {
            fields.insert("field_of_a_later_version".to_owned(), json!({ "a": [1] }));
        }
        Request::new(self.partner, &body)
    }

    pub fn cases(&self, gets_chunks: bool) -> Result<Vec<Case>, Error> {
        Ok([self.signatures(), self.forms(gets_chunks)?, self.disturbances()].into_iter().flatten().collect())
    }

    fn signatures(&self) -> Vec<Case> {
        let spelled = || Request::new_spelled(self.partner, &self.example, spelling::unusual);
        let refuses = |clause, request| Case::new(clause, request, Expected::Refused);
        vec![
            Case::accepts("accepts its signature after that of an old secret", self.signed(Signature::OldThenRight)),
            Case::accepts("accepts its signature before that of an old secret", self.signed(Signature::RightThenOld)),
            Case::accepts(
                "accepts its signature after one of an unknown scheme",
                self.signed(Signature::UnknownThenRight),
            ),
            Case::accepts("verifies the signature of the body as it arrived", spelled()),
            refuses("refuses a request without a signature", self.signed(Signature::None)),
            refuses("refuses a wrong signature", self.signed(Signature::Wrong)),
            refuses("refuses the signature of another body", self.signed(Signature::OfAnotherBody)),
            refuses("refuses a request that was signed ten minutes ago", Request { age: TOO_OLD, ..self.request() }),
        ]
    }

    /// Requests of the service in other forms, or with what a later version may add.
    fn forms(&self, gets_chunks: bool) -> Result<Vec<Case>, Error> {
        let mut cases = Vec::new();
        if gets_chunks {
            cases.push(Case::accepts("accepts chunked transfer encoding", self.sent(Transfer::Chunked)));
        }
        cases.push(Case::accepts("accepts a body that arrives slowly", self.sent(Transfer::Slow)));
        cases.push(Case::accepts("ignores unknown fields", self.with_unknown_field()));
        if let Some(pointer) = self.partner.text_pointer() {
            let long = self.with(pointer, "ж".repeat(LONG_TEXT_CHARS))?;
            cases.push(Case::accepts("accepts a text of 10,000 characters", long));
        }
        if let Some(pointer) = self.partner.type_pointer() {
            let unknown = self.with(pointer, "type_of_a_later_version".to_owned())?;
            cases.push(Case::new("survives a type that it does not know", unknown, Expected::NoServerError));
        }
        Ok(cases)
    }

    fn disturbances(&self) -> Vec<Case> {
        let repeated = self.request();
        let first_attempt = Request { age: RETRY_DELAY, ..repeated.clone() };
        let (older, newer) = (self.request(), self.request());
        let malformed = Request { body: b"{\"message\":".to_vec(), ..self.request() };
        let broken_off = self.sent(Transfer::BreaksOff);
        vec![
            Case::accepts_all("accepts a repeated request with the same id", [first_attempt, repeated]),
            Case::accepts_all("accepts an older request after a newer one", [newer, older]),
            Case::new("survives a body that is not JSON", malformed, Expected::NoServerError),
            Case {
                clause: "survives an upload that breaks off".to_owned(),
                steps: vec![(broken_off, Expected::Anything), (self.request(), Expected::Accepted)],
            },
        ]
    }
}

pub(crate) fn example_cases(partner: Partner, examples: &[Example]) -> Vec<Case> {
    let case = |Example { name, body, is_answer_ignored }: &Example| {
        let expected = if *is_answer_ignored { Expected::AcceptedByStatus } else { Expected::Accepted };
        Case::new(&format!("accepts {name}"), Request::new(partner, body), expected)
    };
    examples.iter().map(case).collect()
}
