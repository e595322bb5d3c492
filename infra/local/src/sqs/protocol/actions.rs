//! The SQS actions. Each action has a function that calls the engine and builds the response. The struct fields are
//! named as in the API reference.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::async_engine::AsyncEngine;
use super::super::engine::ReceiveRequest;
use super::super::limits;
use super::super::{Error, Message, QueueMessageToSend, Queues, SentMessage};
use super::{Api, ApiRequest, attributes, batch};

pub(super) async fn run(api: &Api, request: ApiRequest) -> Result<Value, Error> {
    let engine = &*api.queues.engine;
    match request.action.as_str() {
        "SendMessage" => send_message(engine, request.queue()?, request.input()?),
        "SendMessageBatch" => send_message_batch(engine, request.queue()?, request.input()?),
        "ReceiveMessage" => receive_message(engine, request.queue()?, request.input()?).await,
        "DeleteMessage" => delete_message(engine, request.queue()?, &request.input()?),
        "DeleteMessageBatch" => delete_message_batch(engine, request.queue()?, request.input()?),
        "ChangeMessageVisibility" => change_message_visibility(engine, request.queue()?, &request.input()?),
        "GetQueueUrl" => get_queue_url(api, request.queue()?),
        "GetQueueAttributes" => get_queue_attributes(engine, request.queue()?, &request.input()?),
        "ListQueues" => list_queues(api, &request.input()?),
        "PurgeQueue" => purge_queue(engine, request.queue()?),
        _ => Err(unknown_action(request.action)),
    }
}

/// Returns an error that distinguishes actions that only AWS supports from names that are not SQS actions.
fn unknown_action(action: String) -> Error {
    const UNSUPPORTED_ACTIONS: [&str; 13] = [
        "AddPermission",
        "CancelMessageMoveTask",
        "ChangeMessageVisibilityBatch",
        "CreateQueue",
        "DeleteQueue",
        "ListDeadLetterSourceQueues",
        "ListMessageMoveTasks",
        "ListQueueTags",
        "RemovePermission",
        "SetQueueAttributes",
        "StartMessageMoveTask",
        "TagQueue",
        "UntagQueue",
    ];
    if UNSUPPORTED_ACTIONS.contains(&action.as_str()) {
        Error::UnsupportedOperation(action)
    } else {
        Error::InvalidAction(action)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct SendMessage {
    message_body: String,
    delay_seconds: Option<i64>,
    message_group_id: Option<String>,
    message_deduplication_id: Option<String>,
    message_attributes: Map<String, Value>,
    message_system_attributes: Map<String, Value>,
}

impl TryFrom<SendMessage> for QueueMessageToSend {
    type Error = Error;

    fn try_from(request: SendMessage) -> Result<Self, Error> {
        let SendMessage {
            message_body,
            delay_seconds,
            message_group_id,
            message_deduplication_id,
            message_attributes,
            message_system_attributes,
        } = request;
        if !message_attributes.is_empty() || !message_system_attributes.is_empty() {
            return Err(Error::UnsupportedOperation("message attributes".to_owned()));
        }
        Ok(Self {
            body: message_body,
            delay_seconds: limits::DELAY_SECONDS.check_optional(delay_seconds)?,
            group: message_group_id,
            deduplication_id: message_deduplication_id,
        })
    }
}

fn send_message(engine: &AsyncEngine, queue: &str, request: SendMessage) -> Result<Value, Error> {
    let SentMessage { message_id, md5_of_body, sequence_number } = engine.send(queue, request.try_into()?)?;
    let mut output = json!({ "MessageId": message_id, "MD5OfMessageBody": md5_of_body });
    if let (Some(number), Some(fields)) = (sequence_number, output.as_object_mut()) {
        fields.insert("SequenceNumber".to_owned(), number.into());
    }
    Ok(output)
}

fn send_message_batch(
    engine: &AsyncEngine,
    queue: &str,
    request: batch::BatchRequest<SendMessage>,
) -> Result<Value, Error> {
    engine.definition(queue)?;
    let entries = request.into_entries()?;
    let total_bytes = entries.iter().map(|entry| entry.request.message_body.len()).sum::<usize>();
    if total_bytes > limits::MAX_MESSAGE_BYTES {
        return Err(Error::BatchRequestTooLong(total_bytes));
    }
    Ok(batch::run(entries, |entry| send_message(engine, queue, entry)))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ReceiveMessage {
    max_number_of_messages: Option<i64>,
    wait_time_seconds: Option<i64>,
    visibility_timeout: Option<i64>,
    /// The deprecated name of `message_system_attribute_names`.
    attribute_names: Vec<String>,
    message_system_attribute_names: Vec<String>,
    receive_request_attempt_id: Option<String>,
}

/// The `MessageAttributeNames` parameter is ignored, because messages have no message attributes.
async fn receive_message(engine: &AsyncEngine, queue: &str, request: ReceiveMessage) -> Result<Value, Error> {
    let ReceiveMessage {
        max_number_of_messages,
        wait_time_seconds,
        visibility_timeout,
        attribute_names,
        message_system_attribute_names,
        receive_request_attempt_id,
    } = request;
    if receive_request_attempt_id.is_some() {
        let parameter = "ReceiveRequestAttemptId".to_owned();
        return Err(Error::UnsupportedOperation(parameter));
    }
    let names = [attribute_names, message_system_attribute_names].concat();
    attributes::check_message_attribute_names(&names)?;
    let receive = ReceiveRequest {
        max_messages: limits::MAX_NUMBER_OF_MESSAGES.check(max_number_of_messages.unwrap_or(1))?,
        visibility_timeout_seconds: limits::VISIBILITY_TIMEOUT_SECONDS.check_optional(visibility_timeout)?,
    };
    let wait_time_seconds = limits::WAIT_TIME_SECONDS.check(wait_time_seconds.unwrap_or(0))?;
    let messages = poll(engine, queue, receive, wait_time_seconds).await?;
    let messages = messages.iter().map(|message| message_output(message, &names));
    Ok(json!({ "Messages": messages.collect::<Vec<_>>() }))
}

/// Waits up to `seconds` for the first message. Even with 0 seconds, the queue is queried once, because `timeout` polls
/// its future before the timer.
async fn poll(engine: &AsyncEngine, queue: &str, request: ReceiveRequest, seconds: u32) -> Result<Vec<Message>, Error> {
    let limit = Duration::from_secs(seconds.into());
    match tokio::time::timeout(limit, engine.receive(queue, request, || ())).await {
        Ok(received) => Ok(received?.0),
        Err(_) => Ok(Vec::new()),
    }
}

fn message_output(message: &Message, names: &[String]) -> Value {
    json!({
        "MessageId": message.message_id,
        "ReceiptHandle": message.receipt_handle,
        "MD5OfBody": message.md5_of_body,
        "Body": message.body,
        "Attributes": attributes::message_attributes(message, names),
    })
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct DeleteMessage {
    receipt_handle: Option<String>,
}

fn delete_message(engine: &AsyncEngine, queue: &str, request: &DeleteMessage) -> Result<Value, Error> {
    engine.delete(queue, required_handle(request.receipt_handle.as_deref())?)?;
    Ok(json!({}))
}

fn delete_message_batch(
    engine: &AsyncEngine,
    queue: &str,
    request: batch::BatchRequest<DeleteMessage>,
) -> Result<Value, Error> {
    engine.definition(queue)?;
    Ok(batch::run(request.into_entries()?, |entry| delete_message(engine, queue, &entry)))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ChangeMessageVisibility {
    receipt_handle: Option<String>,
    visibility_timeout: Option<i64>,
}

fn change_message_visibility(
    engine: &AsyncEngine,
    queue: &str,
    request: &ChangeMessageVisibility,
) -> Result<Value, Error> {
    let handle = required_handle(request.receipt_handle.as_deref())?;
    let seconds = limits::VISIBILITY_TIMEOUT_SECONDS
        .check_optional(request.visibility_timeout)?
        .ok_or(Error::MissingParameter("VisibilityTimeout"))?;
    engine.change_visibility(queue, handle, seconds)?;
    Ok(json!({}))
}

fn required_handle(receipt_handle: Option<&str>) -> Result<&str, Error> {
    receipt_handle.ok_or(Error::MissingParameter("ReceiptHandle"))
}

fn get_queue_url(api: &Api, queue: &str) -> Result<Value, Error> {
    let definition = api.queues.engine.definition(queue)?;
    Ok(json!({ "QueueUrl": Queues::url(&api.base_url, &definition.name) }))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct GetQueueAttributes {
    attribute_names: Vec<String>,
}

fn get_queue_attributes(engine: &AsyncEngine, queue: &str, request: &GetQueueAttributes) -> Result<Value, Error> {
    let definition = engine.definition(queue)?;
    attributes::check_queue_attribute_names(&request.attribute_names)?;
    let all = attributes::queue_attributes(definition, engine.depth(queue)?);
    Ok(json!({ "Attributes": attributes::select(all, &request.attribute_names) }))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ListQueues {
    queue_name_prefix: String,
    max_results: Option<i64>,
    next_token: Option<String>,
}

/// As on AWS, the list is paginated only if `MaxResults` is set. The page token is the last queue name on the previous
/// page.
fn list_queues(api: &Api, request: &ListQueues) -> Result<Value, Error> {
    let max_results = limits::MAX_RESULTS_RANGE.check_optional(request.max_results)?;
    let max_results = max_results.map_or(Ok(usize::MAX), usize::try_from).unwrap_or(usize::MAX);
    let last_of_previous = request.next_token.as_deref().unwrap_or_default();
    let mut names = api.queues.names();
    names.retain(|name| name.starts_with(&request.queue_name_prefix) && name.as_str() > last_of_previous);
    let has_more = names.len() > max_results;
    names.truncate(max_results);
    let urls = names.iter().map(|name| Queues::url(&api.base_url, name)).collect::<Vec<_>>();
    Ok(match names.last() {
        Some(last) if has_more => json!({ "QueueUrls": urls, "NextToken": last }),
        Some(_) | None => json!({ "QueueUrls": urls }),
    })
}

fn purge_queue(engine: &AsyncEngine, queue: &str) -> Result<Value, Error> {
    engine.purge(queue)?;
    Ok(json!({}))
}
