//! The actions of SQS. Each reads its request, calls the queues, and writes its answer; the names
//! are those of the API reference.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::engine::Wanted;
use super::super::limits;
use super::super::service::Service;
use super::super::{Error, Message, Outgoing, Queues, SentMessage};
use super::{Api, Call, attributes, batch};

pub(super) async fn run(api: &Api, call: Call) -> Result<Value, Error> {
    let service = &*api.queues.service;
    match call.action.as_str() {
        "SendMessage" => send_message(service, call.queue()?, call.input()?),
        "SendMessageBatch" => send_message_batch(service, call.queue()?, call.input()?),
        "ReceiveMessage" => receive_message(service, call.queue()?, call.input()?).await,
        "DeleteMessage" => delete_message(service, call.queue()?, &call.input()?),
        "DeleteMessageBatch" => delete_message_batch(service, call.queue()?, call.input()?),
        "ChangeMessageVisibility" => change_visibility(service, call.queue()?, &call.input()?),
        "GetQueueUrl" => get_queue_url(api, call.queue()?),
        "GetQueueAttributes" => get_queue_attributes(service, call.queue()?, &call.input()?),
        "ListQueues" => list_queues(api, &call.input()?),
        "PurgeQueue" => purge_queue(service, call.queue()?),
        _ => Err(refuse(call.action)),
    }
}

/// Tells what SQS could do from what nobody can.
fn refuse(action: String) -> Error {
    const ELSEWHERE: [&str; 13] = [
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
    if ELSEWHERE.contains(&action.as_str()) {
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

impl TryFrom<SendMessage> for Outgoing {
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

fn send_message(service: &Service, queue: &str, request: SendMessage) -> Result<Value, Error> {
    let SentMessage { message_id, md5_of_body, sequence_number } = service.send(queue, request.try_into()?)?;
    let mut output = json!({ "MessageId": message_id, "MD5OfMessageBody": md5_of_body });
    if let (Some(number), Some(fields)) = (sequence_number, output.as_object_mut()) {
        fields.insert("SequenceNumber".to_owned(), number.into());
    }
    Ok(output)
}

fn send_message_batch(service: &Service, queue: &str, request: batch::Request<SendMessage>) -> Result<Value, Error> {
    service.definition(queue)?;
    let entries = request.checked()?;
    let bytes = entries.iter().map(|entry| entry.request.message_body.len());
    let bytes = bytes.sum::<usize>();
    if bytes > limits::MAX_MESSAGE_BYTES {
        return Err(Error::BatchRequestTooLong(bytes));
    }
    Ok(batch::run(entries, |entry| send_message(service, queue, entry)))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ReceiveMessage {
    max_number_of_messages: Option<i64>,
    wait_time_seconds: Option<i64>,
    visibility_timeout: Option<i64>,
    /// The older name of the next one.
    attribute_names: Vec<String>,
    message_system_attribute_names: Vec<String>,
    receive_request_attempt_id: Option<String>,
}

/// Messages have no attributes here, so `MessageAttributeNames` finds none and is not even read.
async fn receive_message(service: &Service, queue: &str, request: ReceiveMessage) -> Result<Value, Error> {
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
    attributes::check_message_names(&names)?;
    let wanted = Wanted {
        max: limits::RECEIVED_AT_ONCE.check(max_number_of_messages.unwrap_or(1))?,
        visibility_seconds: limits::VISIBILITY_SECONDS.check_optional(visibility_timeout)?,
    };
    let wait_seconds = limits::WAIT_SECONDS.check(wait_time_seconds.unwrap_or(0))?;
    let messages = receive_within(service, queue, wanted, wait_seconds).await?;
    let messages = messages.iter().map(|message| received(message, &names));
    Ok(json!({ "Messages": messages.collect::<Vec<_>>() }))
}

/// The first look happens even with no time to wait, because a time-out polls its future first.
async fn receive_within(service: &Service, queue: &str, wanted: Wanted, seconds: u32) -> Result<Vec<Message>, Error> {
    let limit = Duration::from_secs(seconds.into());
    let received = tokio::time::timeout(limit, service.receive(queue, wanted)).await;
    received.unwrap_or_else(|_elapsed| Ok(Vec::new()))
}

fn received(message: &Message, names: &[String]) -> Value {
    json!({
        "MessageId": message.message_id,
        "ReceiptHandle": message.receipt_handle,
        "MD5OfBody": message.md5_of_body,
        "Body": message.body,
        "Attributes": attributes::of_message(message, names),
    })
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct DeleteMessage {
    receipt_handle: Option<String>,
}

fn delete_message(service: &Service, queue: &str, request: &DeleteMessage) -> Result<Value, Error> {
    service.delete(queue, handle(request.receipt_handle.as_deref())?)?;
    Ok(json!({}))
}

fn delete_message_batch(
    service: &Service,
    queue: &str,
    request: batch::Request<DeleteMessage>,
) -> Result<Value, Error> {
    service.definition(queue)?;
    Ok(batch::run(request.checked()?, |entry| delete_message(service, queue, &entry)))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ChangeVisibility {
    receipt_handle: Option<String>,
    visibility_timeout: Option<i64>,
}

fn change_visibility(service: &Service, queue: &str, request: &ChangeVisibility) -> Result<Value, Error> {
    let handle = handle(request.receipt_handle.as_deref())?;
    let seconds = limits::VISIBILITY_SECONDS
        .check_optional(request.visibility_timeout)?
        .ok_or(Error::MissingParameter("VisibilityTimeout"))?;
    service.change_visibility(queue, handle, seconds)?;
    Ok(json!({}))
}

fn handle(receipt_handle: Option<&str>) -> Result<&str, Error> {
    receipt_handle.ok_or(Error::MissingParameter("ReceiptHandle"))
}

fn get_queue_url(api: &Api, queue: &str) -> Result<Value, Error> {
    let definition = api.queues.service.definition(queue)?;
    Ok(json!({ "QueueUrl": Queues::url(&api.base_url, &definition.name) }))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct GetQueueAttributes {
    attribute_names: Vec<String>,
}

fn get_queue_attributes(service: &Service, queue: &str, request: &GetQueueAttributes) -> Result<Value, Error> {
    let definition = service.definition(queue)?;
    attributes::check_queue_names(&request.attribute_names)?;
    let all = attributes::of_queue(definition, service.depth(queue)?);
    Ok(json!({ "Attributes": attributes::named(all, &request.attribute_names) }))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ListQueues {
    queue_name_prefix: String,
    max_results: Option<i64>,
    next_token: Option<String>,
}

/// Pages only if asked to, as SQS does. The token is the last name of the page before.
fn list_queues(api: &Api, request: &ListQueues) -> Result<Value, Error> {
    let page = limits::LISTED_QUEUES.check_optional(request.max_results)?;
    let page = page.map_or(Ok(usize::MAX), usize::try_from).unwrap_or(usize::MAX);
    let after = request.next_token.as_deref().unwrap_or_default();
    let mut names = api.queues.names();
    names.retain(|name| name.starts_with(&request.queue_name_prefix) && name.as_str() > after);
    let more = names.len() > page;
    names.truncate(page);
    let urls = names.iter().map(|name| Queues::url(&api.base_url, name));
    let urls = urls.collect::<Vec<_>>();
    Ok(match names.last() {
        Some(last) if more => json!({ "QueueUrls": urls, "NextToken": last }),
        Some(_) | None => json!({ "QueueUrls": urls }),
    })
}

fn purge_queue(service: &Service, queue: &str) -> Result<Value, Error> {
    service.purge(queue)?;
    Ok(json!({}))
}
