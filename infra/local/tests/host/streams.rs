//! Tests of table changes that are delivered to a real process.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use local::Host;
use serde_json::{Value, json};
use shared::runtime::aws_config;

use crate::probe_host::{ProbeHost, changed_template_options, kill, link_binaries, wait_for};

const TABLE: &str = "Watched";

struct WatchedTable {
    host: ProbeHost,
    client: Client,
}

impl WatchedTable {
    async fn start() -> Self {
        Self::of(ProbeHost::start().await).await
    }

    /// Starts the watcher before the test, so that the test does not wait for its start.
    async fn of(host: ProbeHost) -> Self {
        host.start_function("watcher").await.unwrap();
        let client = client(&host);
        Self { host, client }
    }

    async fn put(&self, pk: &str, sk: &str, value: &str) {
        put(&self.client, pk, sk, value).await;
    }

    /// Writes the items in one transaction, so that the changes are read from the stream together.
    async fn put_together(&self, pk: &str, sort_keys: &[&str]) {
        let put = |sk: &&str| {
            let put = Put::builder().table_name(TABLE).item("pk", text(pk)).item("sk", text(sk));
            TransactWriteItem::builder().put(put.build().unwrap()).build()
        };
        let transaction = self.client.transact_write_items();
        transaction.set_transact_items(Some(sort_keys.iter().map(put).collect())).send().await.unwrap();
    }

    /// Returns the records that the watcher has received so far, including repeated ones.
    fn records(&self) -> Vec<Value> {
        let lines = self.host.lines("watcher");
        lines.iter().filter_map(|line| serde_json::from_str(line.strip_prefix("change ")?).ok()).collect()
    }

    fn sort_keys(&self) -> Vec<String> {
        self.records().iter().map(|record| key(record, "sk")).collect()
    }

    async fn wait_for_sort_keys(&self, expected: &[&str]) {
        wait_for(|| self.sort_keys(), |keys| keys.len() >= expected.len()).await;
        assert_eq!(self.sort_keys(), expected);
    }
}

fn client(host: &Host) -> Client {
    Client::new(&aws_config::of_local_server(host.tables_url("tests")))
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

async fn put(client: &Client, pk: &str, sk: &str, value: &str) {
    let put = client.put_item().table_name(TABLE);
    put.item("pk", text(pk)).item("sk", text(sk)).item("value", text(value)).send().await.unwrap();
}

fn key(record: &Value, name: &str) -> String {
    record["dynamodb"]["Keys"][name]["S"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn changes_are_delivered_in_the_format_of_aws() {
    let table = WatchedTable::start().await;
    table.put("CHAT#1", "a", "first").await;
    table.put("CHAT#1", "a", "second").await;
    table.put("CHAT#1", "a", "second").await;
    let delete = table.client.delete_item().table_name(TABLE).key("pk", text("CHAT#1")).key("sk", text("a"));
    delete.clone().send().await.unwrap();
    delete.send().await.unwrap();
    table.put("CHAT#1", "end", "").await;
    table.wait_for_sort_keys(&["a", "a", "a", "end"]).await;

    let records = table.records();
    let keys = json!({"pk": {"S": "CHAT#1"}, "sk": {"S": "a"}});
    let image = |value: &str| json!({"pk": {"S": "CHAT#1"}, "sk": {"S": "a"}, "value": {"S": value}});
    for (record, event_name, new_image, old_image) in [
        (&records[0], "INSERT", Some(image("first")), None),
        (&records[1], "MODIFY", Some(image("second")), Some(image("first"))),
        (&records[2], "REMOVE", None, Some(image("second"))),
    ] {
        let change = &record["dynamodb"];
        let mut dynamodb = json!({
            "ApproximateCreationDateTime": change["ApproximateCreationDateTime"],
            "Keys": keys,
            "SequenceNumber": change["SequenceNumber"],
            "SizeBytes": change["SizeBytes"],
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        });
        for (name, image) in [("NewImage", new_image), ("OldImage", old_image)] {
            if let Some(image) = image {
                dynamodb[name] = image;
            }
        }
        let expected = json!({
            "eventID": record["eventID"],
            "eventName": event_name,
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "us-east-1",
            "dynamodb": dynamodb,
            "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/Watched/stream/2026-01-01T00:00:00.000",
        });
        assert_eq!(*record, expected);
        assert!(record["eventID"].is_string() && change["SequenceNumber"].is_string());
        assert!(change["ApproximateCreationDateTime"].is_number() && change["SizeBytes"].is_number());
    }
}

#[tokio::test]
async fn changes_of_a_partition_key_are_delivered_in_order() {
    let table = WatchedTable::start().await;
    for value in 0..25 {
        for pk in ["CHAT#1", "CHAT#2", "CHAT#3", "CHAT#4"] {
            table.put(pk, "a", &value.to_string()).await;
        }
    }
    wait_for(|| table.records().len(), |count| *count == 100).await;
    let mut values: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for record in table.records() {
        let value = record["dynamodb"]["NewImage"]["value"]["S"].as_str().unwrap().parse::<u32>().unwrap();
        values.entry(key(&record, "pk")).or_default().push(value);
    }
    assert!(values.into_values().all(|values| values.is_sorted()), "{:?}", table.sort_keys());
}

#[tokio::test]
async fn every_item_of_a_transaction_is_delivered() {
    let table = WatchedTable::start().await;
    table.put_together("CHAT#1", &["a", "b"]).await;
    table.wait_for_sort_keys(&["a", "b"]).await;
}

#[tokio::test]
async fn write_of_a_killed_function_is_delivered() {
    let table = WatchedTable::of(ProbeHost::start_with_template_change("", "").await).await;
    let host = &table.host;
    // The lock delays the write until the function has been killed.
    let lock = rusqlite::Connection::open(host.folder.path().join("data/dynamodb.sqlite")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = host.invoke("watcher", json!({"do": "tables"}));
    let kill_writer = async {
        wait_for(|| host.usage()["watcher"]["dynamodb"]["Watched/PutItem"].clone(), |count| *count == 1).await;
        kill(host.processes()[0].1);
    };
    let (result, ()) = tokio::join!(write, kill_writer);
    assert!(result.unwrap_err().to_string().contains("signal: 9"));
    lock.execute_batch("COMMIT").unwrap();
    table.wait_for_sort_keys(&["b"]).await;
}

#[tokio::test]
async fn only_records_that_match_the_filter_are_delivered() {
    let table = WatchedTable::start().await;
    table.put("OTHER#1", "a", "").await;
    table.put("CHAT#1", "b", "").await;
    table.put("OTHER#1", "c", "").await;
    table.put("CHAT#1", "d", "").await;
    table.wait_for_sort_keys(&["b", "d"]).await;
    assert_eq!(table.host.usage()["watcher"]["errors"], 0);
}

#[tokio::test]
async fn waiting_records_are_delivered_in_one_batch() {
    let table = WatchedTable::start().await;
    // The watcher pauses at this record, so that the records of the transaction wait in the stream.
    table.put("CHAT#1", "pause", "").await;
    table.wait_for_sort_keys(&["pause"]).await;
    table.put_together("CHAT#1", &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]).await;
    wait_for(|| table.records().len(), |count| *count == 13).await;
    let batches = || table.host.lines("watcher").into_iter().filter(|line| line.starts_with("batch")).collect();
    wait_for(batches, |batches: &Vec<_>| batches.len() == 3).await;
    assert_eq!(batches(), ["batch of 1", "batch of 10", "batch of 2"]);
    wait_for(|| table.host.usage()["watcher"]["invocations"].clone(), |count| *count == 3).await;
}

#[tokio::test]
async fn failed_batch_is_retried_and_then_dropped() {
    let table = WatchedTable::start().await;
    table.put_together("CHAT#1", &["a", "fail"]).await;
    table.wait_for_sort_keys(&["a", "fail", "a", "fail"]).await;
    table.put("CHAT#1", "b", "").await;
    table.wait_for_sort_keys(&["a", "fail", "a", "fail", "b"]).await;
    let dropped = "2 records of Watched dropped since the start; the function failed on the latest ones";
    assert!(table.host.lines("watcher").iter().any(|line| line == dropped), "{:?}", table.host.lines("watcher"));
}

#[tokio::test]
async fn records_before_the_reported_one_are_not_retried() {
    let table = WatchedTable::start().await;
    table.put_together("CHAT#1", &["a", "report", "b"]).await;
    wait_for(|| table.records().len(), |count| *count == 5).await;
    table.put("CHAT#1", "c", "").await;
    table.wait_for_sort_keys(&["a", "report", "b", "report", "b", "c"]).await;
}

#[tokio::test]
async fn only_the_failing_record_of_a_split_batch_is_dropped() {
    let setting = "MaximumRetryAttempts: 1";
    let bisecting = format!("{setting}\n            BisectBatchOnFunctionError: true");
    let table = WatchedTable::of(ProbeHost::start_with_template_change(setting, &bisecting).await).await;
    table.put_together("CHAT#1", &["a", "b", "fail", "c"]).await;
    let expected = ["a", "b", "fail", "c", "a", "b", "fail", "c", "fail", "fail", "c"];
    table.wait_for_sort_keys(&expected).await;
}

#[tokio::test]
async fn hanging_invocation_blocks_only_its_lane() {
    let table = WatchedTable::start().await;
    table.put("CHAT#0", "hang", "").await;
    wait_for(|| table.records().len(), |count| *count == 1).await;
    table.put("CHAT#0", "b", "").await;
    // At least one of these partition keys is in a different lane from `CHAT#0`.
    for n in 1..20 {
        table.put(&format!("CHAT#{n}"), "a", "").await;
    }
    let keys = wait_for(|| table.sort_keys(), |keys| keys.len() > 1).await;
    assert!(keys.contains(&"a".to_owned()) && !keys.contains(&"b".to_owned()), "{keys:?}");
}

#[tokio::test]
async fn restarted_host_delivers_only_new_changes() {
    let folder = link_binaries();
    for sk in ["a", "b"] {
        let (options, lines) = changed_template_options(folder.path(), "", "");
        let host = Host::start(options).await.unwrap();
        let table = WatchedTable::of(ProbeHost { host, lines, folder: tempfile::tempdir().unwrap() }).await;
        table.put("CHAT#1", sk, "").await;
        table.wait_for_sort_keys(&[sk]).await;
        table.host.host.stop().await;
    }
}
