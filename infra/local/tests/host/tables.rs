//! Tests of tables that a function uses through the official AWS SDK: usage, changes of the template, and simulated
//! write conflicts and latency.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use local::{Host, Options};
use serde_json::json;

use crate::probe_host::{ProbeHost, link_binaries, memory_options, start_with_template_change};

#[tokio::test]
async fn operations_and_their_capacity_are_counted() {
    let host = ProbeHost::start().await;
    let result = host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    assert_eq!(result, json!({"first": true, "refused": true}));
    let usage = &host.usage()["probe"];
    assert_eq!(usage["dynamodb"], json!({"Items/PutItem": 2}));
    // One unit for the item, and one for its index entry.
    assert_eq!(usage["write_units"], json!(2.0));
    assert_eq!(usage["read_units"], json!(0.0));
}

#[tokio::test]
async fn new_index_of_the_template_is_added() {
    let folder = link_binaries();
    let old = start_with_template_change(folder.path(), "IndexName: listing", "IndexName: earlier").await.unwrap();
    old.invoke("probe", json!({"do": "tables"})).await.unwrap();
    old.stop().await;
    let new = start_with_template_change(folder.path(), "", "").await.unwrap();
    let found = new.invoke("probe", json!({"do": "query", "index": "listing"})).await.unwrap();
    assert_eq!(found, json!(1));
}

#[tokio::test]
async fn tables_that_differ_from_the_template_are_refused() {
    for (from, to, expected) in [
        (
            "KeySchema: [{AttributeName: pk, KeyType: HASH}]",
            "KeySchema: [{AttributeName: id, KeyType: HASH}]",
            "Plain: its key is not as in the template",
        ),
        (
            "Projection: {ProjectionType: KEYS_ONLY}",
            "Projection: {ProjectionType: ALL}",
            "Items: index listing is not as in the template",
        ),
    ] {
        let folder = link_binaries();
        start_with_template_change(folder.path(), "", "").await.unwrap().stop().await;
        let error = start_with_template_change(folder.path(), from, to).await.err().unwrap();
        let data = folder.path().join("data");
        let advice = format!("remove the data folder {} or name another one", data.display());
        assert_eq!(error.to_string(), format!("{expected}; {advice}"));
    }
}

#[tokio::test]
async fn write_conflicts_can_be_simulated() {
    let host = ProbeHost::start().await;
    host.set_write_conflict_interval(NonZeroU32::new(2));
    let second = host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    assert_eq!(second, json!({"first": true, "refused": false}), "the conflict precedes the condition check");
    host.set_write_conflict_interval(None);
    let neither = host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    assert_eq!(neither, json!({"first": false, "refused": true}));
}

#[tokio::test]
async fn store_latency_delays_every_request_to_tables_and_queues() {
    let (folder, latency) = (link_binaries(), Duration::from_millis(100));
    let (options, _) = memory_options(folder.path());
    let host = Host::start(Options { store_latency: latency, ..options }).await.unwrap();
    for (payload, requests) in [(json!({"do": "tables"}), 2), (json!({"do": "send", "body": "x"}), 1)] {
        let started = Instant::now();
        host.invoke("probe", payload).await.unwrap();
        assert!(started.elapsed() >= latency * requests, "{:?}", started.elapsed());
    }
    host.stop().await;
}
