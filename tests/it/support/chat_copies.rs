//! Copies of stored chats, for tests that need more chats than they could open in time.

use std::ops::Range;

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures_util::future::try_join_all;
use serde_json::Value;

use crate::support::test_host::TestHost;

/// Stores copies of the account's chat 1 under these chat numbers. The copies have no entries.
pub async fn copy_chat(host: &TestHost, account: &Value, numbers: Range<u64>) {
    let (tables, account) = (host.tables(), account.as_str().unwrap());
    let pk = |number: u64| AttributeValue::S(format!("CHAT#{account}#{number}"));
    let key = tables.get_item().table_name("Chats").consistent_read(true);
    let original = key.key("pk", pk(1)).key("sk", AttributeValue::S("HEAD".to_owned())).send().await.unwrap();
    let original = original.item.unwrap();
    let copies: Vec<WriteRequest> = numbers
        .map(|number| {
            let mut item = original.clone();
            item.insert("pk".into(), pk(number));
            item.insert("chat_id".into(), AttributeValue::N(number.to_string()));
            let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
            WriteRequest::builder().put_request(put).build()
        })
        .collect();
    let batches =
        copies.chunks(25).map(|batch| tables.batch_write_item().request_items("Chats", batch.to_vec()).send());
    try_join_all(batches).await.unwrap();
}
