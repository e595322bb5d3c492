//! Measures messages that pass through the whole service at a constant rate: from a visitor to an agent's socket, and
//! from an agent to an integrator's server.

use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde_json::json;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats, visitor_message};
use crate::load::{Arrivals, Schedule, latencies, message_text};
use crate::progress;
use crate::receiver::{Integrator, note_pushes};
use crate::report::{Section, Table};
use crate::statistics::{Latencies, Spread};
use crate::store_calls::http_client;

const CHATS: u64 = 20;
/// The measured rates, in messages per second.
const RATES: [u32; 2] = [20, 100];
const DURATION: Duration = Duration::from_secs(10);
/// The duration of the warm-up before each measurement, in which processes start and fill their caches.
const WARM_UP: Duration = Duration::from_secs(3);

const COLUMNS: [&str; 5] =
    ["messages a second", "response p50, ms", "response p99, ms", "arrival p50, ms", "arrival p99, ms"];

/// The delay that is added to each request to tables and queues in the measure with delays. It is about as long as the
/// latency on AWS.
const STORE_LATENCY: Duration = Duration::from_millis(5);
/// The required upper limits in the measure with delays, in milliseconds: for the median latency of the response to a
/// visitor's message, and of the arrival of an agent's message.
const MAX_VISITOR_MS: f64 = 18.0;
const MAX_AGENT_MS: f64 = 45.0;

/// The medians and 99th percentiles of the latencies in several rounds, in milliseconds.
#[derive(Default)]
struct Rounds {
    p50: Vec<f64>,
    p99: Vec<f64>,
}

impl Rounds {
    fn add(&mut self, latencies: &Latencies) {
        self.p50.push(latencies.quantile(0.5));
        self.p99.push(latencies.quantile(0.99));
    }

    fn cells(self) -> [String; 2] {
        [Spread::of(self.p50).to_string(), Spread::of(self.p99).to_string()]
    }
}

struct Service<'h> {
    chats: OpenChats,
    base_url: &'h str,
    http: Client,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Visitor,
    Agent,
}

impl Service<'_> {
    fn request(&self, from: Sender, message: u64) -> RequestBuilder {
        let (chat, text) = (self.chats.nth(message), message_text(message));
        match from {
            Sender::Visitor => {
                let url = format!("{}{}", self.base_url, self.chats.channel_path);
                self.http.post(url).json(&visitor_message(chat, &text))
            }
            Sender::Agent => {
                let url = format!("{}/agent/chats/{chat}/messages", self.base_url);
                let body = json!({"type": "text", "text": text});
                self.http.post(url).bearer_auth(&self.chats.admin.token).json(&body)
            }
        }
    }

    /// Sends messages at a constant rate. Returns the response latencies and the arrival latencies.
    async fn measure(
        &self,
        (from, arrivals): (Sender, &Arrivals),
        rate: u32,
        duration: Duration,
    ) -> Result<(Latencies, Latencies), Error> {
        arrivals.take();
        let (schedule, answered) = (Schedule::new(rate, duration), Arrivals::default());
        let send = |message| {
            let (request, answered) = (self.request(from, message), answered.clone());
            async move {
                request.send().await?.error_for_status()?.bytes().await?;
                answered.add(&message_text(message));
                Ok(())
            }
        };
        schedule.run(send).await?;
        let arrived = arrivals.wait_for(usize::try_from(schedule.count).unwrap_or(usize::MAX)).await?;
        Ok((latencies(&schedule, &answered.take())?, latencies(&schedule, &arrived)?))
    }
}

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let mut table = Table::new(&COLUMNS);
    for (label, cells) in measure_all(arguments, Duration::ZERO).await? {
        table.add([label].into_iter().chain(cells));
    }
    Ok(Section {
        title: "Messages",
        description: format!(
            "{} rounds of {DURATION:?} at each rate, in {CHATS} chats. A visitor's message arrives in the frame of an \
             agent's socket, an agent's message at the integrator's server. The generator is open-loop, and latencies \
             count from the intended start.",
            arguments.rounds
        ),
        table,
        plots: Vec::new(),
    })
}

/// Measures messages while each request to tables and queues takes [`STORE_LATENCY`] longer.
pub(super) async fn run_with_store_latency(arguments: &Arguments) -> Result<Section, Error> {
    let header: Vec<&str> = COLUMNS.into_iter().chain(["asked p50, ms"]).collect();
    let mut table = Table::new(&header);
    for (label, cells) in measure_all(arguments, STORE_LATENCY).await? {
        let asked = if label.starts_with("visitor") {
            format!("response {MAX_VISITOR_MS}")
        } else {
            format!("arrival {MAX_AGENT_MS}")
        };
        table.add([label].into_iter().chain(cells).chain([asked]));
    }
    Ok(Section {
        title: "Messages with the latency of a network",
        description: format!(
            "{} rounds of {DURATION:?} at each rate. Each request to tables and queues takes {STORE_LATENCY:?} longer \
             (`--store-latency`), so requests one after the other show as they do on AWS.",
            arguments.rounds
        ),
        table,
        plots: Vec::new(),
    })
}

/// Measures both kinds of messages at each rate, while requests to tables and queues take `store_latency` longer.
/// Returns the label and the cells of each table row.
async fn measure_all(arguments: &Arguments, store_latency: Duration) -> Result<Vec<(String, [String; 4])>, Error> {
    let mut rows = Vec::new();
    for rate in RATES {
        let bench = BenchHost::start(arguments, store_latency).await?;
        let (driver, integrator) = (bench.driver().await?, Integrator::start().await?);
        let chats = OpenChats::create(&driver, "messages", &integrator.url(), CHATS).await?;
        let (pushed, reader) = note_pushes(driver.open_socket(&chats.admin).await?);
        let service = Service { chats, base_url: bench.host.base_url(), http: http_client()? };
        for (label, from) in [
            ("visitor to agent", (Sender::Visitor, &pushed)),
            ("agent to integrator", (Sender::Agent, &integrator.accepted)),
        ] {
            service.measure(from, rate, WARM_UP).await?;
            let (mut answers, mut arrivals) = (Rounds::default(), Rounds::default());
            for round in 1..=arguments.rounds {
                progress(&format!("  {label}, {rate} a second: round {round} of {}", arguments.rounds));
                let (answered, arrived) = service.measure(from, rate, DURATION).await?;
                answers.add(&answered);
                arrivals.add(&arrived);
            }
            let ([answer_p50, answer_p99], [arrival_p50, arrival_p99]) = (answers.cells(), arrivals.cells());
            rows.push((format!("{label}, {rate}"), [answer_p50, answer_p99, arrival_p50, arrival_p99]));
        }
        reader.abort();
        drop(driver);
        bench.host.stop().await;
    }
    Ok(rows)
}
