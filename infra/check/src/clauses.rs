//! Checks the clauses of the contract with a partner's server.

use std::time::Duration;

use futures_util::future::join_all;

use crate::Error;
use crate::cases::{Case, Expected, Plain, example_cases};
use crate::partner::Partner;
use crate::sender::{MAX_RESPONSE_BYTES, Request, Response, Sender};

/// The service waits so long for a response.
const TIME_LIMIT: Duration = Duration::from_secs(3);
const MANY_REQUESTS: usize = 20;
const SHOWN_BODY_CHARS: usize = 400;

/// Whether the server keeps a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub clause: String,
    /// What was expected and what came instead. `None` if the server keeps the clause.
    pub problem: Option<String>,
    /// The body of the request that shows the problem.
    pub request: Option<String>,
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
pub async fn check(server: Server<'_>, report: impl FnMut(&Verdict)) -> Result<Vec<Verdict>, Error> {
    let Server { partner, url, secret, gets_chunks } = server;
    let sender = &Sender::new(url, secret)?;
    let examples = partner.examples()?;
    let plain = Plain::new(partner, &examples)?;
    // Ids of messages grow with time, so the requests are created in the order in which they are sent.
    let mut cases = example_cases(partner, &examples);
    cases.extend(plain.cases(gets_chunks)?);
    let mut check = Check { partner, sender, report, verdicts: Vec::new() };
    for case in &cases {
        check.case(case).await;
    }
    check.many_at_once(&plain).await;
    check.length_of_responses();
    Ok(check.verdicts)
}

/// Why a request shows that a clause is broken.
type Problem<'a> = (String, &'a Request);

struct Check<'a, Report> {
    partner: Partner,
    sender: &'a Sender,
    report: Report,
    verdicts: Vec<Verdict>,
}

impl<Report: FnMut(&Verdict)> Check<'_, Report> {
    async fn case(&mut self, Case { clause, steps }: &Case) {
        let mut problem = None;
        for (request, expected) in steps {
            problem = self.problem_with(request, *expected).await;
            if problem.is_some() {
                break;
            }
        }
        self.add(clause, problem);
    }

    async fn many_at_once(&mut self, plain: &Plain) {
        let requests: Vec<Request> = (0..MANY_REQUESTS).map(|_| plain.request()).collect();
        let sent = requests.iter().map(|request| self.problem_with(request, Expected::Accepted));
        let problem = join_all(sent).await.into_iter().flatten().next();
        self.add("accepts twenty requests at the same time", problem);
    }

    fn length_of_responses(&mut self) {
        let problem = format!("expected at most {MAX_RESPONSE_BYTES} bytes: the service does not read what follows");
        self.add("responds with at most 64 KB", self.sender.too_long.get().map(|request| (problem, request)));
    }

    async fn problem_with<'r>(&self, request: &'r Request, expected: Expected) -> Option<Problem<'r>> {
        let problem = match (self.sender.send(request).await, expected) {
            (_, Expected::Anything) => None,
            (Err(error), _) => Some(error),
            (Ok(response), Expected::Accepted) => time_problem(&response)
                .or_else(|| self.partner.status_problem(&response))
                .or_else(|| self.partner.answer_problem(&response)),
            (Ok(response), Expected::AcceptedByStatus) => {
                time_problem(&response).or_else(|| self.partner.status_problem(&response))
            }
            (Ok(response), Expected::Refused) => refusal_problem(&response),
            (Ok(response), Expected::NoServerError) => server_error_problem(&response),
        };
        problem.map(|problem| (problem, request))
    }

    fn add(&mut self, clause: &str, problem: Option<Problem<'_>>) {
        let (problem, request) = problem.unzip();
        let shown = |request: &Request| String::from_utf8_lossy(&request.body).chars().take(SHOWN_BODY_CHARS).collect();
        let verdict = Verdict { clause: clause.to_owned(), problem, request: request.map(shown) };
        (self.report)(&verdict);
        self.verdicts.push(verdict);
    }
}

fn time_problem(response: &Response) -> Option<String> {
    let took = response.took.as_millis();
    (response.took > TIME_LIMIT).then(|| format!("expected a response within 3 seconds, it took {took} ms"))
}

fn refusal_problem(response: &Response) -> Option<String> {
    let is_refusal = (400..500).contains(&response.status);
    (!is_refusal).then(|| format!("expected a status from 400 to 499, such as 401, got {}", response.status))
}

fn server_error_problem(response: &Response) -> Option<String> {
    (response.status >= 500).then(|| format!("expected no server error, got {}", response.status))
}
