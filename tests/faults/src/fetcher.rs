//! The program of an integrator that fetches the messages to its visitors. While it misbehaves, it sometimes does not
//! acknowledge what it has fetched, and sometimes crashes: it drops a request that is under way and forgets its cursor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use local::faults::Generator;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::client::ApiClient;
use crate::receiver::{JournalEntry, Mood};
use crate::records::Records;

const WAIT_SECONDS: u64 = 2;
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(150);

pub struct Fetcher {
    shared: Arc<Shared>,
    program: JoinHandle<()>,
}

struct Shared {
    client: ApiClient,
    endpoint: String,
    generator: Generator,
    records: Records,
    misbehaves: AtomicBool,
    journal: Mutex<Vec<JournalEntry>>,
}

/// A page that the program has processed. Its next request acknowledges it.
struct Page {
    cursor: String,
    /// The positions of the page's messages in the journal.
    entries: Vec<usize>,
}

impl Fetcher {
    pub fn start(client: &ApiClient, endpoint: &str, generator: &Generator, records: &Records) -> Self {
        let shared = Arc::new(Shared {
            client: client.clone(),
            endpoint: endpoint.to_owned(),
            generator: generator.part("fetcher"),
            records: records.clone(),
            misbehaves: AtomicBool::new(true),
            journal: Mutex::default(),
        });
        let program = tokio::spawn(run(Arc::clone(&shared)));
        Self { shared, program }
    }

    /// From now on, acknowledges every page.
    pub fn behave(&self) {
        self.shared.misbehaves.store(false, Ordering::Relaxed);
    }

    pub fn journal(&self) -> Vec<JournalEntry> {
        self.shared.journal.lock().unwrap().clone()
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        self.program.abort();
    }
}

async fn run(shared: Arc<Shared>) {
    let mut processed = None;
    for number in 0_u64.. {
        let mut random = shared.generator.part(&number.to_string());
        let misbehaves = shared.misbehaves.load(Ordering::Relaxed);
        if misbehaves && random.is_chosen(150) {
            let crashes_after = Duration::from_millis(random.below(600));
            let _ = timeout(crashes_after, shared.fetch(processed.as_ref(), &mut random)).await;
            processed = None;
            sleep(Duration::from_millis(random.below(1_500))).await;
            continue;
        }
        match shared.fetch(processed.as_ref(), &mut random).await {
            Ok(page) => processed = page.filter(|_| !(misbehaves && random.is_chosen(300))),
            Err(()) => sleep(PAUSE_AFTER_FAILURE).await,
        }
    }
}

impl Shared {
    /// Acknowledges the processed page and fetches the next one. Fails if there is no response, or an error.
    async fn fetch(&self, processed: Option<&Page>, random: &mut Generator) -> Result<Option<Page>, ()> {
        let limit = if random.is_chosen(300) { 1 + random.below(3) } else { 50 };
        let mut path = format!("{}/events?wait={WAIT_SECONDS}&limit={limit}", self.endpoint);
        if let Some(Page { cursor, entries }) = processed {
            path += &format!("&after={cursor}");
            // The service may process a request whose response is lost.
            self.change(entries, |entry| entry.mood = Mood::Accept);
        }
        let response = self.client.get(&path).await.filter(|response| response.status == 200).ok_or(())?;
        let now_ms = self.records.now_ms();
        if let Some(Page { entries, .. }) = processed {
            self.change(entries, |entry| entry.acknowledged_ms = Some(now_ms));
        }
        let Some(cursor) = response.body["cursor"].as_str() else { return Ok(None) };
        let events = response.body["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut journal = self.journal.lock().unwrap();
        let first = journal.len();
        journal.extend(events.iter().map(|event| fetched(event, now_ms)));
        Ok(Some(Page { cursor: cursor.to_owned(), entries: (first..journal.len()).collect() }))
    }

    fn change(&self, entries: &[usize], change: impl Fn(&mut JournalEntry)) {
        let mut journal = self.journal.lock().unwrap();
        entries.iter().for_each(|index| change(&mut journal[*index]));
    }
}

fn fetched(event: &Value, at_ms: u64) -> JournalEntry {
    let body = event["body"].as_str().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
    let webhook_id = event["headers"]["webhook-id"].as_str().unwrap_or_default().to_owned();
    JournalEntry { at_ms, webhook_id, body, mood: Mood::Fetched, acknowledged_ms: None }
}
