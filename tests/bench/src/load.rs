//! An open-loop load generator: it starts requests at a constant rate, whether or not earlier ones have been answered.
//! Latencies are measured from the intended start of a request, so a service that falls behind cannot hide its delay.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};

use crate::error::Error;
use crate::statistics::Latencies;

const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The intended start times of requests. `rate` is the number of requests per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    start: Instant,
    rate: u32,
    pub count: u64,
}

impl Schedule {
    /// Plans `rate` requests a second for this duration. The first request starts after a short delay.
    pub fn new(rate: u32, duration: Duration) -> Self {
        let count = (f64::from(rate) * duration.as_secs_f64()) as u64;
        Self { start: Instant::now() + Duration::from_millis(100), rate, count }
    }

    /// Returns the intended start of the n-th request.
    pub fn at(&self, request: u64) -> Instant {
        self.start + Duration::from_secs_f64(request as f64 / f64::from(self.rate))
    }

    /// Calls `send` for each request at its scheduled time, and waits until all requests are answered.
    pub async fn run<F>(self, mut send: impl FnMut(u64) -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let (ticks, mut due) = mpsc::unbounded_channel();
        // A thread that spins before the start of each request is more precise than Tokio's timer.
        let ticker = spawn_blocking(move || {
            for request in 0..self.count {
                spin_sleep::sleep_until(self.at(request));
                if ticks.send(request).is_err() {
                    return;
                }
            }
        });
        let mut requests = JoinSet::new();
        while let Some(request) = due.recv().await {
            requests.spawn(send(request));
        }
        ticker.await?;
        while let Some(answered) = requests.join_next().await {
            answered??;
        }
        Ok(())
    }
}

/// The number and the arrival time of each message. Clones share their content.
#[derive(Clone, Default)]
pub(crate) struct Arrivals(Arc<Mutex<Vec<(u64, Instant)>>>);

impl Arrivals {
    /// Records that the message with this text (see [`message_text`]) has arrived. Any other text is ignored.
    pub fn add(&self, text: &str) {
        let number = text.rsplit_once(' ').and_then(|(_, number)| number.parse().ok());
        if let Some(number) = number {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((number, Instant::now()));
        }
    }

    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits until at least this number of messages has arrived, then removes and returns all of them. Fails after a
    /// minute.
    pub async fn wait_for(&self, count: usize) -> Result<Vec<(u64, Instant)>, Error> {
        let deadline = Instant::now() + ARRIVAL_TIMEOUT;
        while self.count() < count {
            if Instant::now() > deadline {
                return Err(Error::unexpected(format!("{} of {count} messages arrived", self.count())));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(self.take())
    }

    pub fn take(&self) -> Vec<(u64, Instant)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) fn message_text(number: u64) -> String {
    format!("Message {number}")
}

/// Returns the time from each message's intended start to its arrival.
pub(crate) fn latencies(schedule: &Schedule, arrivals: &[(u64, Instant)]) -> Result<Latencies, Error> {
    let mut latencies = Latencies::new()?;
    for (number, at) in arrivals {
        latencies.record(at.saturating_duration_since(schedule.at(*number)));
    }
    Ok(latencies)
}
