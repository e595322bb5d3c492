//! Runs a host in a separate process, for tests that kill it, and prints its base URL. The arguments are the template,
//! the folder that contains the function binaries, and the data folder.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use local::{Host, HostStorage, LogSink, Options};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next_argument = || arguments.next().unwrap();
    let host = Host::start(Options {
        port: 0,
        template: next_argument().into(),
        binaries: next_argument().into(),
        storage: HostStorage::Dir(next_argument().into()),
        parameters: [].into(),
        store_latency: Duration::ZERO,
        extra_routes: axum::Router::new(),
        log: LogSink::Discard,
    });
    let host = host.await.unwrap();
    println!("{}", host.base_url());
    std::future::pending::<()>().await;
}
