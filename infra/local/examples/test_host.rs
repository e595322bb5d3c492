//! A host in a process of its own, for the tests that kill it: serves the template and the binaries it is
//! given and prints its address.

#![allow(clippy::unwrap_used)]

use local::{Host, LogSink, Options, Storage};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().unwrap();
    let host = Host::start(Options {
        port: 0,
        template: next().into(),
        binaries: next().into(),
        storage: Storage::Dir(next().into()),
        parameters: [].into(),
        extra: axum::Router::new(),
        log: LogSink::Silent,
    });
    let host = host.await.unwrap();
    println!("{}", host.base_url());
    std::future::pending::<()>().await;
}
