//! Measures whether a message costs the same in a large chat, in an account with many chats, and in one with many
//! channels. The data is cloned directly in the tables, because sending 100,000 messages would take too long.

#![allow(clippy::indexing_slicing, reason = "assigning to a field of a JSON value does not panic")]

use std::time::{Duration, Instant};

use cost::{Driver, Usage};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats, visitor_message};
use crate::plot::{Lines, Plot};
use crate::progress;
use crate::receiver::Integrator;
use crate::report::{Section, Table};
use crate::statistics::{Latencies, rounded};
use crate::store_calls::{Store, number, set_attributes, string};

const MESSAGE_COUNTS: [u64; 5] = [1, 10, 100, 1_000, 10_000];
const CHAT_COUNTS: [u64; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
const CHANNEL_COUNTS: [u64; 3] = [1, 100, 5_000];
/// How many messages the visitor and the agent each send at each size.
const MESSAGES: u64 = 100;
/// How many messages are sent before each measurement, so that processes are running and have filled their caches.
const WARM_UP_MESSAGES: u64 = 10;
/// The maximum number of items that `BatchWriteItem` accepts.
const BATCH_SIZE: usize = 25;
const CONCURRENT_BATCHES: usize = 4;

/// The number that grows between measurements: messages in a chat, chats in an account, or channels in an account.
#[derive(Clone, Copy)]
pub(super) enum Dimension {
    Messages,
    Chats,
    Channels,
}

/// What messages cost when the measured [`Dimension`] has the value `size`. A chat also contains the messages of the
/// measurements themselves, which `size` does not count.
struct Point {
    size: u64,
    visitor: Costs,
    agent: Costs,
}

struct Costs {
    /// The median latency, in milliseconds.
    p50: f64,
    /// The total of all measured messages.
    usage: Usage,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let header = ["", "visitor's message: p50, ms", "requests", "read units", "write units"];
    let agent_header = ["agent's message: p50, ms", "requests", "read units", "write units"];
    let mut table = Table::new(&[&header[..], &agent_header[..]].concat());
    let mut plots = Vec::new();
    for dimension in [Dimension::Messages, Dimension::Chats, Dimension::Channels] {
        let points = measure(arguments, dimension).await?;
        for Point { size, visitor, agent } in &points {
            let label = format!("{size} {}", dimension.unit());
            table.add([label].into_iter().chain(visitor.cells()).chain(agent.cells()));
        }
        plots.push((dimension.file(), Plot::Lines(plot(dimension, &points))));
    }
    Ok(Section {
        title: "Growth",
        description: format!(
            "{MESSAGES} messages of a visitor and {MESSAGES} of an agent at each size, one after the other. Requests and \
             units are those of a message in all functions, without the push to sockets."
        ),
        table,
        plots,
    })
}

fn plot(dimension: Dimension, points: &[Point]) -> Lines {
    let line = |costs: fn(&Point) -> &Costs| points.iter().map(|point| (point.size as f64, costs(point).p50)).collect();
    Lines {
        title: format!("Milliseconds of a message (p50) by the number of {}", dimension.unit()),
        lines: vec![
            ("visitor's message".to_owned(), line(|point| &point.visitor)),
            ("agent's message".to_owned(), line(|point| &point.agent)),
        ],
    }
}

impl Dimension {
    fn unit(self) -> &'static str {
        match self {
            Self::Messages => "messages in the chat",
            Self::Chats => "chats in the account",
            Self::Channels => "channels in the account",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Messages => "growth-messages",
            Self::Chats => "growth-chats",
            Self::Channels => "growth-channels",
        }
    }

    fn sizes(self) -> &'static [u64] {
        match self {
            Self::Messages => &MESSAGE_COUNTS,
            Self::Chats => &CHAT_COUNTS,
            Self::Channels => &CHANNEL_COUNTS,
        }
    }
}

impl Costs {
    fn cells(&self) -> [String; 4] {
        let Usage { reads, writes, fifo_queue_requests, retry_queue_requests, read_units, write_units, .. } =
            self.usage;
        let requests = reads + writes + fifo_queue_requests + retry_queue_requests;
        let each = |total: f64| format!("{:.2}", total / MESSAGES as f64);
        [rounded(self.p50), each(requests), each(read_units), each(write_units)]
    }
}

async fn measure(arguments: &Arguments, dimension: Dimension) -> Result<Vec<Point>, Error> {
    let bench = BenchHost::start(arguments, Duration::ZERO).await?;
    let (driver, integrator) = (bench.driver().await?, Integrator::start().await?);
    let chats = OpenChats::create(&driver, "growth", &integrator.url(), 1).await?;
    let models = Models::read(Store::new(&bench.host.tables_url("bench"))?, &chats).await?;
    let (mut points, mut size) = (Vec::new(), 1);
    for &next_size in dimension.sizes() {
        progress(&format!("  {next_size} {}", dimension.unit()));
        models.grow(dimension, size + 1, next_size).await?;
        size = next_size;
        let visitor = measure_costs(&driver, async || {
            let body = visitor_message(1, "Good morning");
            driver.api.post::<Value>(&chats.channel_path, None, &body).await?;
            Ok(())
        });
        let visitor = visitor.await?;
        let agent = measure_costs(&driver, async || Ok(driver.send_agent_message(&chats.admin, 1).await?)).await?;
        points.push(Point { size, visitor, agent });
    }
    drop(driver);
    bench.host.stop().await;
    Ok(points)
}

/// Sends messages one after the other. Returns their median latency and their total usage.
async fn measure_costs(driver: &Driver<'_>, send: impl AsyncFn() -> Result<(), Error>) -> Result<Costs, Error> {
    for _ in 0..WARM_UP_MESSAGES {
        send().await?;
    }
    driver.reset_usage().await?;
    let mut latencies = Latencies::new()?;
    for _ in 0..MESSAGES {
        let started = Instant::now();
        send().await?;
        latencies.record(started.elapsed());
    }
    driver.wait_until_empty().await?;
    let mut usage = Usage::default();
    driver.usage()?.into_values().for_each(|function| usage += function);
    Ok(Costs { p50: latencies.quantile(0.5), usage })
}

/// The items that are cloned.
pub(super) struct Models {
    store: Store,
    channel: Value,
    header: Value,
    visitor: Value,
    entry: Value,
}

impl Models {
    pub(super) async fn read(store: Store, chats: &OpenChats) -> Result<Self, Error> {
        let read = async |table: &str, pk: &str, sk: &str| {
            let body = json!({"TableName": table, "Key": {"pk": {"S": pk}, "sk": {"S": sk}}});
            let item = store.call("GetItem", &body).await?.get("Item").cloned();
            item.ok_or_else(|| Error::unexpected(format!("{table} has no item {pk} {sk}")))
        };
        let text = |item: &Value, name: &str| {
            item.pointer(&format!("/{name}/S")).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let channel = read("Directory", &format!("CHANNEL#{}", chats.channel_id), "CHANNEL").await?;
        let chat = format!("CHAT#{}#1", text(&channel, "account_id"));
        let (header, entry) = (read("Chats", &chat, "HEAD").await?, read("Chats", &chat, "0000000001").await?);
        let query = json!({
            "TableName": "Chats",
            "FilterExpression": "begins_with(pk, :visitor)",
            "ExpressionAttributeValues": {":visitor": {"S": "VISITOR#"}},
        });
        let visitor = store.call("Scan", &query).await?.pointer("/Items/0").cloned();
        let visitor = visitor.ok_or_else(|| Error::unexpected("Chats has no visitor"))?;
        Ok(Self { store, channel, header, visitor, entry })
    }

    /// Adds the chats or channels with the numbers `from` to `to`, or as many messages after the chat's last entry.
    pub(super) async fn grow(&self, dimension: Dimension, from: u64, to: u64) -> Result<(), Error> {
        match dimension {
            Dimension::Messages => self.add_messages(from, to).await,
            Dimension::Chats => self.put("Chats", (from..=to).flat_map(|chat| self.chat(chat))).await,
            Dimension::Channels => self.put("Directory", (from..=to).map(|channel| self.channel(channel))).await,
        }
    }

    async fn add_messages(&self, from: u64, to: u64) -> Result<(), Error> {
        let count = (to + 1).saturating_sub(from);
        let update = json!({
            "TableName": "Chats",
            "Key": {"pk": self.header.get("pk"), "sk": self.header.get("sk")},
            "UpdateExpression": "SET seq = seq + :count",
            "ExpressionAttributeValues": {":count": {"N": count.to_string()}},
            "ReturnValues": "UPDATED_NEW",
        });
        let updated = self.store.call("UpdateItem", &update).await?;
        let last = updated.pointer("/Attributes/seq/N").and_then(Value::as_str).and_then(|seq| seq.parse::<u64>().ok());
        let last = last.ok_or_else(|| Error::unexpected("the chat has no number of its last entry"))?;
        let entry = |seq: u64| {
            let mut entry = self.entry.clone();
            let id = string(format!("clone-{seq}"));
            set_attributes(&mut entry, [("sk", string(format!("{seq:010}"))), ("seq", number(seq)), ("id", id)]);
            entry
        };
        self.put("Chats", (last + 1 - count..=last).map(entry)).await
    }

    /// Returns the header, the visitor and the first entry of a new chat with this number. The chat is open, and the
    /// agent has it.
    fn chat(&self, chat: u64) -> [Value; 3] {
        let [mut header, mut visitor, mut entry] = [&self.header, &self.visitor, &self.entry].map(Value::clone);
        let account = header.pointer("/account_id/S").and_then(Value::as_str).unwrap_or_default().to_owned();
        for item in [&mut header, &mut entry] {
            let pk = string(format!("CHAT#{account}#{chat}"));
            set_attributes(item, [("pk", pk), ("chat_id", number(chat))]);
        }
        let external_id = || string(format!("clone-{chat}"));
        set_attributes(&mut header, [("external_id", external_id()), ("visitor_number", number(chat))]);
        let pk = string(format!("VISITOR#clone#{chat}"));
        let numbers = [("number", number(chat)), ("open_chat", number(chat))];
        set_attributes(&mut visitor, [("pk", pk), ("external_id", external_id())].into_iter().chain(numbers));
        [header, visitor, entry]
    }

    fn channel(&self, channel: u64) -> Value {
        let mut item = self.channel.clone();
        let id = format!("clone-{channel}");
        set_attributes(&mut item, [("pk", string(format!("CHANNEL#{id}"))), ("channel_id", string(id))]);
        item
    }

    async fn put(&self, table: &str, items: impl Iterator<Item = Value>) -> Result<(), Error> {
        let requests = items.map(|item| json!({"PutRequest": {"Item": item}}));
        let batches = stream::iter(requests).chunks(BATCH_SIZE).map(|batch| async move {
            let body = json!({"RequestItems": {table: batch}});
            self.store.call("BatchWriteItem", &body).await.map(drop)
        });
        batches.buffer_unordered(CONCURRENT_BATCHES).try_collect().await
    }
}
