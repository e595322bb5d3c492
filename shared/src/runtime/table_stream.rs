//! Runs functions that consume the streams of tables. A batch can contain changes to several items. Only the changes to
//! one item are in order, because Lambda processes several batches of a shard concurrently. If the handler fails,
//! Lambda splits the batch and delivers both parts again, within the limits that the template sets.

use std::collections::HashMap;
use std::process::ExitCode;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::TryFutureExt;
use lambda_runtime::{LambdaEvent, service_fn};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::runtime::dependencies::Dependency;
use crate::runtime::startup::{self, BoxedHandler, Handler, RuntimeLoop};

/// A change to one item. `before` is `None` for a new item, and `after` is `None` for a deleted item.
#[derive(Debug)]
pub struct ItemChange {
    pub before: Option<HashMap<String, AttributeValue>>,
    pub after: Option<HashMap<String, AttributeValue>>,
}

/// A batch of stream records. Only the fields in use are declared, because the type in the `aws_lambda_events` crate
/// would add a dependency on `chrono`.
#[derive(Deserialize)]
struct StreamBatch {
    #[serde(rename = "Records")]
    records: Vec<StreamRecord>,
}

#[derive(Deserialize)]
struct StreamRecord {
    dynamodb: StreamImages,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StreamImages {
    #[serde(default)]
    old_image: Option<serde_dynamo::Item>,
    #[serde(default)]
    new_image: Option<serde_dynamo::Item>,
}

impl From<StreamRecord> for ItemChange {
    fn from(record: StreamRecord) -> Self {
        let StreamImages { old_image, new_image } = record.dynamodb;
        Self { before: old_image.map(Into::into), after: new_image.map(Into::into) }
    }
}

type StreamHandler = BoxedHandler<Vec<ItemChange>, Result<(), Error>>;

pub fn run<R: Dependency>(handler: impl Handler<R, Vec<ItemChange>, Result<(), Error>>) -> ExitCode {
    startup::run(handler, serve)
}

fn serve(handler: StreamHandler) -> RuntimeLoop {
    Box::pin(async move {
        let service = service_fn(|event| handle_batch(&handler, event).map_err(lambda_runtime::Error::from));
        lambda_runtime::run(service).await
    })
}

async fn handle_batch(handler: &StreamHandler, event: LambdaEvent<StreamBatch>) -> Result<Value, Error> {
    let changes: Vec<ItemChange> = event.payload.records.into_iter().map(ItemChange::from).collect();
    let count = changes.len();
    match handler(changes).await {
        Ok(()) => Ok(json!({ "changes": count })),
        Err(error) => {
            tracing::error!(context = error.context(), changes = count, "batch of changes failed: {error}");
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn record_contains_the_item_before_and_after() {
        let batch = json!({"Records": [{
            "eventID": "1", "eventName": "INSERT", "eventSource": "aws:dynamodb",
            "dynamodb": {
                "ApproximateCreationDateTime": 1_795_237_200.0, "Keys": {"pk": {"S": "P"}, "sk": {"S": "S"}},
                "NewImage": {"pk": {"S": "P"}, "n": {"N": "7"}, "ids": {"SS": ["a"]}, "m": {"M": {"x": {"NULL": true}}}},
                "SequenceNumber": "1", "SizeBytes": 9, "StreamViewType": "NEW_AND_OLD_IMAGES",
            },
        }]});
        let batch: StreamBatch = serde_json::from_value(batch).unwrap();
        let change = ItemChange::from(batch.records.into_iter().next().unwrap());
        let after = change.after.unwrap();
        assert_eq!(change.before, None);
        assert_eq!(after["n"], AttributeValue::N("7".into()));
        assert_eq!(after["ids"], AttributeValue::Ss(vec!["a".into()]));
        assert_eq!(after["m"], AttributeValue::M(HashMap::from([("x".into(), AttributeValue::Null(true))])));
    }
}
