//! The protocol as the official SDK sees it, over real HTTP on a free port.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{Credentials, Region};
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::operation::change_message_visibility::ChangeMessageVisibilityError;
use aws_sdk_sqs::operation::get_queue_attributes::GetQueueAttributesError;
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_sdk_sqs::operation::send_message_batch::SendMessageBatchError;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName,
    SendMessageBatchRequestEntry,
};

use super::super::limits::MAX_MESSAGE_BYTES;
use super::super::tests::{message, queue};
use super::super::{DeadLetter, QueueDefinition, Queues, Storage};

/// A server, the official client, and the address both know.
struct Host {
    queues: Queues,
    client: Client,
    base_url: String,
}

impl Host {
    async fn start() -> Self {
        let source = QueueDefinition {
            dead_letter: Some(DeadLetter { queue: "dead".to_owned(), max_receives: 3 }),
            ..queue("q")
        };
        let definitions = vec![source, queue("dead"), queue("q.fifo")];
        let queues = Queues::open(&Storage::Memory, definitions).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let router = queues.router(base_url.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { queues, client: client(&base_url).await, base_url }
    }

    fn url(&self, queue: &str) -> String {
        Queues::url(&self.base_url, queue)
    }

    async fn send(&self, queue: &str, body: &str) {
        let send = self.client.send_message().queue_url(self.url(queue));
        send.message_body(body).send().await.unwrap();
    }

    async fn receive(&self, queue: &str) -> Vec<Message> {
        let receive = self.client.receive_message().queue_url(self.url(queue));
        let output = receive.max_number_of_messages(10).send().await.unwrap();
        output.messages.unwrap_or_default()
    }

    /// A request as no SDK would send it.
    async fn raw(&self, action: &str, body: &'static str) -> (u16, String) {
        let response =
            reqwest::Client::new().post(&self.base_url).header("x-amz-target", action).body(body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

async fn client(endpoint: &str) -> Client {
    let config = aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "test"))
        .endpoint_url(endpoint)
        .load()
        .await;
    Client::new(&config)
}

#[tokio::test]
async fn a_message_goes_in_and_out_with_its_system_attributes() {
    let host = Host::start().await;
    let sent = host
        .client
        .send_message()
        .queue_url(host.url("q.fifo"))
        .message_body("hello")
        .message_group_id("g")
        .message_deduplication_id("once")
        .send()
        .await
        .unwrap();
    let received = host
        .client
        .receive_message()
        .queue_url(host.url("q.fifo"))
        .message_system_attribute_names(MessageSystemAttributeName::All)
        .send()
        .await
        .unwrap();
    let message = &received.messages()[0];
    assert_eq!(message.body(), Some("hello"));
    assert_eq!(message.message_id(), sent.message_id());
    assert_eq!(message.md5_of_body(), Some("5d41402abc4b2a76b9719d911017c592"));
    assert_eq!(sent.md5_of_message_body(), message.md5_of_body());
    let attribute = |name| message.attributes().unwrap()[&name].as_str();
    assert_eq!(attribute(MessageSystemAttributeName::MessageGroupId), "g");
    assert_eq!(attribute(MessageSystemAttributeName::MessageDeduplicationId), "once");
    assert_eq!(attribute(MessageSystemAttributeName::ApproximateReceiveCount), "1");
    let sequence = attribute(MessageSystemAttributeName::SequenceNumber);
    assert_eq!(Some(sequence), sent.sequence_number());
}

#[tokio::test]
async fn only_the_attributes_asked_for_are_told() {
    let host = Host::start().await;
    host.send("q", "a").await;
    let received = host
        .client
        .receive_message()
        .queue_url(host.url("q"))
        .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
        .send()
        .await
        .unwrap();
    let attributes = received.messages()[0].attributes().unwrap();
    let names = attributes.keys().collect::<Vec<_>>();
    assert_eq!(names, [&MessageSystemAttributeName::SentTimestamp]);
}

#[tokio::test]
async fn a_long_poll_is_answered_when_a_message_comes() {
    let host = Host::start().await;
    let poll = host.client.receive_message().queue_url(host.url("q"));
    let poll = poll.wait_time_seconds(20).send();
    let send = async {
        tokio::task::yield_now().await;
        host.queues.send("q", message("a")).unwrap();
    };
    let limit = Duration::from_secs(10);
    let (received, ()) = tokio::time::timeout(limit, async { tokio::join!(poll, send) })
        .await
        .expect("an answer long before the poll ends");
    assert_eq!(received.unwrap().messages()[0].body(), Some("a"));
}

#[tokio::test]
async fn a_short_poll_of_an_empty_queue_is_answered_at_once() {
    let host = Host::start().await;
    assert_eq!(host.receive("q").await, []);
}

#[tokio::test]
async fn visibility_is_changed_and_a_message_deleted_by_its_handle() {
    let host = Host::start().await;
    host.send("q", "a").await;
    let first = host.receive("q").await.remove(0);
    let change = host.client.change_message_visibility();
    let change = change.queue_url(host.url("q")).visibility_timeout(0);
    let change = change.receipt_handle(first.receipt_handle().unwrap());
    change.clone().send().await.unwrap();
    let refused = change.send().await.unwrap_err().into_service_error();
    assert!(matches!(refused, ChangeMessageVisibilityError::MessageNotInflight(_)));

    let second = host.receive("q").await.remove(0);
    let delete = host.client.delete_message().queue_url(host.url("q"));
    let delete = delete.receipt_handle(second.receipt_handle().unwrap());
    delete.send().await.unwrap();
    assert_eq!(host.queues.depth("q").unwrap(), super::super::Depth::default());
}

#[tokio::test]
async fn entries_of_a_batch_succeed_and_fail_each_for_itself() {
    let host = Host::start().await;
    let entry = |id: &str, body: &str| {
        let entry = SendMessageBatchRequestEntry::builder().id(id);
        entry.message_body(body).build().unwrap()
    };
    let sent = host
        .client
        .send_message_batch()
        .queue_url(host.url("q"))
        .entries(entry("good", "a"))
        .entries(entry("bad", ""))
        .send()
        .await
        .unwrap();
    assert_eq!(sent.successful()[0].id(), "good");
    assert_eq!(sent.successful()[0].md5_of_message_body(), "0cc175b9c0f1b6a831c399e269772661");
    assert_eq!(sent.failed()[0].id(), "bad");
    assert_eq!(sent.failed()[0].code(), "MissingParameter");
    assert!(sent.failed()[0].sender_fault());

    let message = host.receive("q").await.remove(0);
    let entry = |id: &str, handle: &str| {
        let entry = DeleteMessageBatchRequestEntry::builder().id(id);
        entry.receipt_handle(handle).build().unwrap()
    };
    let deleted = host
        .client
        .delete_message_batch()
        .queue_url(host.url("q"))
        .entries(entry("1", message.receipt_handle().unwrap()))
        .entries(entry("2", "invented"))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.successful()[0].id(), "1");
    assert_eq!(deleted.failed()[0].code(), "ReceiptHandleIsInvalid");
}

#[tokio::test]
async fn a_batch_that_is_unsound_as_a_whole_is_refused_by_its_typed_error() {
    let host = Host::start().await;
    let refused = async |ids: &[&str], body: &str| {
        let entries = ids.iter().map(|id| {
            let entry = SendMessageBatchRequestEntry::builder().id(*id);
            entry.message_body(body).build().unwrap()
        });
        let batch = host.client.send_message_batch().queue_url(host.url("q"));
        let batch = batch.set_entries(Some(entries.collect()));
        batch.send().await.unwrap_err().into_service_error()
    };
    assert!(matches!(refused(&[], "a").await, SendMessageBatchError::EmptyBatchRequest(_)));
    let eleven = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    assert!(matches!(refused(&eleven, "a").await, SendMessageBatchError::TooManyEntriesInBatchRequest(_)));
    assert!(matches!(refused(&["a", "a"], "a").await, SendMessageBatchError::BatchEntryIdsNotDistinct(_)));
    assert!(matches!(refused(&["a b"], "a").await, SendMessageBatchError::InvalidBatchEntryId(_)));
    assert!(matches!(
        refused(&["1", "2"], &"x".repeat(MAX_MESSAGE_BYTES / 2 + 1)).await,
        SendMessageBatchError::BatchRequestTooLong(_)
    ));
}

#[tokio::test]
async fn a_message_of_the_full_size_passes_however_json_writes_it() {
    let host = Host::start().await;
    let body = "\t".repeat(MAX_MESSAGE_BYTES);
    host.send("q", &body).await;
    assert_eq!(host.receive("q").await[0].body(), Some(body.as_str()));
}

#[tokio::test]
async fn errors_arrive_as_the_types_of_the_sdk() {
    let host = Host::start().await;
    let send = |queue: &str| host.client.send_message().queue_url(host.url(queue));
    let unknown = send("none").message_body("a").send().await;
    let unknown = unknown.unwrap_err().into_service_error();
    assert!(matches!(unknown, SendMessageError::QueueDoesNotExist(_)));

    let delete = host.client.delete_message().queue_url(host.url("q"));
    let handle = delete.receipt_handle("invented").send().await;
    assert!(handle.unwrap_err().into_service_error().is_receipt_handle_is_invalid());

    let contents = send("q").message_body("\u{1}").send().await;
    let contents = contents.unwrap_err().into_service_error();
    assert!(matches!(contents, SendMessageError::InvalidMessageContents(_)));

    let delayed = send("q.fifo").message_body("a").message_group_id("g");
    let delayed = delayed.delay_seconds(1).send().await.unwrap_err();
    assert_eq!(delayed.code(), Some("InvalidParameterValue"));

    let negative = send("q").message_body("a").delay_seconds(-1).send().await;
    assert_eq!(negative.unwrap_err().code(), Some("InvalidParameterValue"));

    let attributes = host.client.get_queue_attributes().queue_url(host.url("q"));
    let attributes = attributes.attribute_names("Colour".into()).send().await;
    let attributes = attributes.unwrap_err().into_service_error();
    assert!(matches!(attributes, GetQueueAttributesError::InvalidAttributeName(_)));
}

#[tokio::test]
async fn what_this_sqs_cannot_do_is_refused_and_not_dropped() {
    let host = Host::start().await;
    let create = host.client.create_queue().queue_name("new").send().await;
    assert!(create.unwrap_err().into_service_error().is_unsupported_operation());

    let value = MessageAttributeValue::builder().data_type("String");
    let value = value.string_value("red").build().unwrap();
    let send = host.client.send_message().queue_url(host.url("q"));
    let send = send.message_body("a").message_attributes("colour", value);
    let refused = send.send().await.unwrap_err().into_service_error();
    assert!(matches!(refused, SendMessageError::UnsupportedOperation(_)));
}

#[tokio::test]
async fn requests_that_no_sdk_sends_are_refused() {
    let host = Host::start().await;
    for (action, body, kind) in [
        ("AmazonSQS.FlyToTheMoon", "{}", "UnknownOperationException"),
        ("SomethingElse", "{}", "UnknownOperationException"),
        ("AmazonSQS.SendMessage", "{", "SerializationException"),
        ("AmazonSQS.SendMessage", "[]", "MissingRequiredParameterException"),
        ("AmazonSQS.SendMessage", "{}", "MissingRequiredParameterException"),
        ("AmazonSQS.SendMessage", r#"{"QueueUrl": "x/q", "MessageBody": 5}"#, "SerializationException"),
        ("AmazonSQS.DeleteMessage", r#"{"QueueUrl": "x/q"}"#, "MissingRequiredParameterException"),
    ] {
        let (status, answer) = host.raw(action, body).await;
        assert_eq!(status, 400, "{action} {body}");
        assert!(answer.contains(kind), "{action} {body}: {answer}");
    }
}

#[tokio::test]
async fn queues_are_found_by_name_and_listed() {
    let host = Host::start().await;
    let url = host.client.get_queue_url().queue_name("q.fifo").send().await;
    assert_eq!(url.unwrap().queue_url(), Some(host.url("q.fifo").as_str()));
    let unknown = host.client.get_queue_url().queue_name("none").send().await;
    assert!(unknown.unwrap_err().into_service_error().is_queue_does_not_exist());

    let list = host.client.list_queues().queue_name_prefix("q").send().await;
    assert_eq!(list.unwrap().queue_urls(), [host.url("q"), host.url("q.fifo")]);
    let mut pages = host.client.list_queues().max_results(2).into_paginator().send();
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!(first.queue_urls(), [host.url("dead"), host.url("q")]);
    let second = pages.next().await.unwrap().unwrap();
    assert_eq!(second.queue_urls(), [host.url("q.fifo")]);
    assert!(pages.next().await.is_none());
}

#[tokio::test]
async fn attributes_tell_the_definition_and_the_depth() {
    let host = Host::start().await;
    host.send("q", "a").await;
    host.send("q", "b").await;
    host.client.receive_message().queue_url(host.url("q")).send().await.unwrap();
    let get = host.client.get_queue_attributes().queue_url(host.url("q"));
    let output = get.attribute_names(QueueAttributeName::All).send().await;
    let attributes = output.unwrap().attributes.unwrap();
    let attribute = |name| attributes[&name].as_str();
    assert_eq!(attribute(QueueAttributeName::QueueArn), Queues::arn("q"));
    assert_eq!(attribute(QueueAttributeName::ApproximateNumberOfMessages), "1");
    assert_eq!(attribute(QueueAttributeName::ApproximateNumberOfMessagesNotVisible), "1");
    assert_eq!(attribute(QueueAttributeName::ApproximateNumberOfMessagesDelayed), "0");
    assert_eq!(attribute(QueueAttributeName::VisibilityTimeout), "30");
    assert_eq!(
        attribute(QueueAttributeName::RedrivePolicy),
        r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":3}"#
    );
    assert!(!attributes.contains_key(&QueueAttributeName::FifoQueue));

    let get = host.client.get_queue_attributes().queue_url(host.url("q.fifo"));
    let output = get.attribute_names(QueueAttributeName::FifoQueue).send().await;
    let attributes = output.unwrap().attributes.unwrap();
    assert_eq!(attributes.len(), 1);
    assert_eq!(attributes[&QueueAttributeName::FifoQueue], "true");
}

#[tokio::test]
async fn a_purge_empties_the_queue() {
    let host = Host::start().await;
    host.send("q", "a").await;
    let purge = host.client.purge_queue().queue_url(host.url("q"));
    purge.send().await.unwrap();
    assert_eq!(host.receive("q").await, []);
}

#[tokio::test]
async fn every_request_is_counted_once_a_batch_too() {
    let host = Host::start().await;
    host.send("q", "a").await;
    host.receive("q").await;
    host.receive("q").await;
    let batch = host.client.send_message_batch().queue_url(host.url("q"));
    let entry = |id: &str| {
        let entry = SendMessageBatchRequestEntry::builder().id(id);
        entry.message_body(id).build().unwrap()
    };
    let batch = batch.entries(entry("1")).entries(entry("2"));
    batch.send().await.unwrap();
    host.client.list_queues().send().await.unwrap();
    let counts = host.queues.usage();
    let counts =
        counts.iter().map(|((queue, action), count)| (queue.as_str(), action.as_str(), *count)).collect::<Vec<_>>();
    assert_eq!(
        counts,
        [("", "ListQueues", 1), ("q", "ReceiveMessage", 2), ("q", "SendMessage", 1), ("q", "SendMessageBatch", 1),]
    );
}
