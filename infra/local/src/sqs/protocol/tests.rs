//! Protocol tests in which the AWS SDK, or a plain HTTP client with malformed requests, calls a server on a free port.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::operation::change_message_visibility::ChangeMessageVisibilityError;
use aws_sdk_sqs::operation::get_queue_attributes::GetQueueAttributesError;
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_sdk_sqs::operation::send_message_batch::SendMessageBatchError;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName,
    SendMessageBatchRequestEntry,
};
use shared::runtime::aws_config;

use super::super::limits::MAX_MESSAGE_BYTES;
use super::super::tests::{message, queue};
use super::super::{QueueDatabaseLocation, QueueDefinition, Queues, RedrivePolicy};
use crate::clock::Clock;

struct TestServer {
    queues: Queues,
    client: Client,
    base_url: String,
}

impl TestServer {
    async fn start() -> Self {
        let source = QueueDefinition {
            redrive_policy: Some(RedrivePolicy { dead_letter_queue: "dead".to_owned(), max_receive_count: 3 }),
            ..queue("q")
        };
        let definitions = vec![source, queue("dead"), queue("q.fifo")];
        let queues = Queues::open(&QueueDatabaseLocation::Memory, definitions, Clock::new().unwrap()).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let router = queues.router(base_url.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { queues, client: client(&base_url), base_url }
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

    async fn send_raw(&self, action: &str, body: &'static str) -> (u16, String) {
        let response =
            reqwest::Client::new().post(&self.base_url).header("x-amz-target", action).body(body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

fn client(endpoint: &str) -> Client {
    Client::new(&aws_config::of_local_server(endpoint))
}

#[tokio::test]
async fn received_message_has_its_system_attributes() {
    let server = TestServer::start().await;
    let sent = server
        .client
        .send_message()
        .queue_url(server.url("q.fifo"))
        .message_body("hello")
        .message_group_id("g")
        .message_deduplication_id("once")
        .send()
        .await
        .unwrap();
    let received = server
        .client
        .receive_message()
        .queue_url(server.url("q.fifo"))
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
async fn only_requested_attributes_are_returned() {
    let server = TestServer::start().await;
    server.send("q", "a").await;
    let received = server
        .client
        .receive_message()
        .queue_url(server.url("q"))
        .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
        .send()
        .await
        .unwrap();
    let attributes = received.messages()[0].attributes().unwrap();
    let names = attributes.keys().collect::<Vec<_>>();
    assert_eq!(names, [&MessageSystemAttributeName::SentTimestamp]);
}

#[tokio::test]
async fn long_poll_returns_when_a_message_is_sent() {
    let server = TestServer::start().await;
    let poll = server.client.receive_message().queue_url(server.url("q"));
    let poll = poll.wait_time_seconds(20).send();
    let send = async {
        tokio::task::yield_now().await;
        server.queues.send("q", message("a")).unwrap();
    };
    let limit = Duration::from_secs(10);
    let (received, ()) = tokio::time::timeout(limit, async { tokio::join!(poll, send) })
        .await
        .expect("a response long before the poll ends");
    assert_eq!(received.unwrap().messages()[0].body(), Some("a"));
}

#[tokio::test]
async fn short_poll_of_an_empty_queue_returns_at_once() {
    let server = TestServer::start().await;
    assert_eq!(server.receive("q").await, []);
}

#[tokio::test]
async fn receipt_handle_changes_visibility_and_deletes() {
    let server = TestServer::start().await;
    server.send("q", "a").await;
    let first = server.receive("q").await.remove(0);
    let change = server.client.change_message_visibility();
    let change = change.queue_url(server.url("q")).visibility_timeout(0);
    let change = change.receipt_handle(first.receipt_handle().unwrap());
    change.clone().send().await.unwrap();
    let error = change.send().await.unwrap_err().into_service_error();
    assert!(matches!(error, ChangeMessageVisibilityError::MessageNotInflight(_)));

    let second = server.receive("q").await.remove(0);
    let delete = server.client.delete_message().queue_url(server.url("q"));
    let delete = delete.receipt_handle(second.receipt_handle().unwrap());
    delete.send().await.unwrap();
    assert_eq!(server.queues.depth("q").unwrap(), super::super::QueueDepth::default());
}

#[tokio::test]
async fn batch_entries_succeed_and_fail_independently() {
    let server = TestServer::start().await;
    let entry = |id: &str, body: &str| {
        let entry = SendMessageBatchRequestEntry::builder().id(id);
        entry.message_body(body).build().unwrap()
    };
    let sent = server
        .client
        .send_message_batch()
        .queue_url(server.url("q"))
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

    let message = server.receive("q").await.remove(0);
    let entry = |id: &str, handle: &str| {
        let entry = DeleteMessageBatchRequestEntry::builder().id(id);
        entry.receipt_handle(handle).build().unwrap()
    };
    let deleted = server
        .client
        .delete_message_batch()
        .queue_url(server.url("q"))
        .entries(entry("1", message.receipt_handle().unwrap()))
        .entries(entry("2", "invented"))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.successful()[0].id(), "1");
    assert_eq!(deleted.failed()[0].code(), "ReceiptHandleIsInvalid");
}

#[tokio::test]
async fn invalid_batch_is_rejected_with_a_typed_sdk_error() {
    let server = TestServer::start().await;
    let send_batch_error = async |ids: &[&str], body: &str| {
        let entries = ids.iter().map(|id| {
            let entry = SendMessageBatchRequestEntry::builder().id(*id);
            entry.message_body(body).build().unwrap()
        });
        let batch = server.client.send_message_batch().queue_url(server.url("q"));
        let batch = batch.set_entries(Some(entries.collect()));
        batch.send().await.unwrap_err().into_service_error()
    };
    assert!(matches!(send_batch_error(&[], "a").await, SendMessageBatchError::EmptyBatchRequest(_)));
    let eleven = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    assert!(matches!(send_batch_error(&eleven, "a").await, SendMessageBatchError::TooManyEntriesInBatchRequest(_)));
    assert!(matches!(send_batch_error(&["a", "a"], "a").await, SendMessageBatchError::BatchEntryIdsNotDistinct(_)));
    assert!(matches!(send_batch_error(&["a b"], "a").await, SendMessageBatchError::InvalidBatchEntryId(_)));
    assert!(matches!(
        send_batch_error(&["1", "2"], &"x".repeat(MAX_MESSAGE_BYTES / 2 + 1)).await,
        SendMessageBatchError::BatchRequestTooLong(_)
    ));
}

#[tokio::test]
async fn largest_message_is_accepted_with_escaped_json() {
    let server = TestServer::start().await;
    let body = "\t".repeat(MAX_MESSAGE_BYTES);
    server.send("q", &body).await;
    assert_eq!(server.receive("q").await[0].body(), Some(body.as_str()));
}

#[tokio::test]
async fn errors_have_the_types_of_the_sdk() {
    let server = TestServer::start().await;
    let send = |queue: &str| server.client.send_message().queue_url(server.url(queue));
    let unknown = send("none").message_body("a").send().await;
    let unknown = unknown.unwrap_err().into_service_error();
    assert!(matches!(unknown, SendMessageError::QueueDoesNotExist(_)));

    let delete = server.client.delete_message().queue_url(server.url("q"));
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

    let attributes = server.client.get_queue_attributes().queue_url(server.url("q"));
    let attributes = attributes.attribute_names("Colour".into()).send().await;
    let attributes = attributes.unwrap_err().into_service_error();
    assert!(matches!(attributes, GetQueueAttributesError::InvalidAttributeName(_)));
}

#[tokio::test]
async fn unsupported_features_are_rejected() {
    let server = TestServer::start().await;
    let create = server.client.create_queue().queue_name("new").send().await;
    assert!(create.unwrap_err().into_service_error().is_unsupported_operation());

    let value = MessageAttributeValue::builder().data_type("String");
    let value = value.string_value("red").build().unwrap();
    let send = server.client.send_message().queue_url(server.url("q"));
    let send = send.message_body("a").message_attributes("colour", value);
    let error = send.send().await.unwrap_err().into_service_error();
    assert!(matches!(error, SendMessageError::UnsupportedOperation(_)));
}

#[tokio::test]
async fn malformed_requests_are_rejected() {
    let server = TestServer::start().await;
    for (action, body, error_type) in [
        ("AmazonSQS.NoSuchAction", "{}", "UnknownOperationException"),
        ("NotAnSqsAction", "{}", "UnknownOperationException"),
        ("AmazonSQS.SendMessage", "{", "SerializationException"),
        ("AmazonSQS.SendMessage", "[]", "MissingRequiredParameterException"),
        ("AmazonSQS.SendMessage", "{}", "MissingRequiredParameterException"),
        ("AmazonSQS.SendMessage", r#"{"QueueUrl": "x/q", "MessageBody": 5}"#, "SerializationException"),
        ("AmazonSQS.DeleteMessage", r#"{"QueueUrl": "x/q"}"#, "MissingRequiredParameterException"),
    ] {
        let (status, response_body) = server.send_raw(action, body).await;
        assert_eq!(status, 400, "{action} {body}");
        assert!(response_body.contains(error_type), "{action} {body}: {response_body}");
    }
}

#[tokio::test]
async fn queues_are_found_by_name_and_listed_in_pages() {
    let server = TestServer::start().await;
    let url = server.client.get_queue_url().queue_name("q.fifo").send().await;
    assert_eq!(url.unwrap().queue_url(), Some(server.url("q.fifo").as_str()));
    let unknown = server.client.get_queue_url().queue_name("none").send().await;
    assert!(unknown.unwrap_err().into_service_error().is_queue_does_not_exist());

    let list = server.client.list_queues().queue_name_prefix("q").send().await;
    assert_eq!(list.unwrap().queue_urls(), [server.url("q"), server.url("q.fifo")]);
    let mut pages = server.client.list_queues().max_results(2).into_paginator().send();
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!(first.queue_urls(), [server.url("dead"), server.url("q")]);
    let second = pages.next().await.unwrap().unwrap();
    assert_eq!(second.queue_urls(), [server.url("q.fifo")]);
    assert!(pages.next().await.is_none());
}

#[tokio::test]
async fn queue_attributes_include_definition_and_depth() {
    let server = TestServer::start().await;
    server.send("q", "a").await;
    server.send("q", "b").await;
    server.client.receive_message().queue_url(server.url("q")).send().await.unwrap();
    let get = server.client.get_queue_attributes().queue_url(server.url("q"));
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

    let get = server.client.get_queue_attributes().queue_url(server.url("q.fifo"));
    let output = get.attribute_names(QueueAttributeName::FifoQueue).send().await;
    let attributes = output.unwrap().attributes.unwrap();
    assert_eq!(attributes.len(), 1);
    assert_eq!(attributes[&QueueAttributeName::FifoQueue], "true");
}

#[tokio::test]
async fn purge_empties_the_queue() {
    let server = TestServer::start().await;
    server.send("q", "a").await;
    let purge = server.client.purge_queue().queue_url(server.url("q"));
    purge.send().await.unwrap();
    assert_eq!(server.receive("q").await, []);
}

#[tokio::test]
async fn every_request_and_every_batch_is_counted_once() {
    let server = TestServer::start().await;
    server.send("q", "a").await;
    server.receive("q").await;
    server.receive("q").await;
    let batch = server.client.send_message_batch().queue_url(server.url("q"));
    let entry = |id: &str| {
        let entry = SendMessageBatchRequestEntry::builder().id(id);
        entry.message_body(id).build().unwrap()
    };
    let batch = batch.entries(entry("1")).entries(entry("2"));
    batch.send().await.unwrap();
    server.client.list_queues().send().await.unwrap();
    let counts = server.queues.request_counts();
    let counts =
        counts.iter().map(|((queue, action), count)| (queue.as_str(), action.as_str(), *count)).collect::<Vec<_>>();
    assert_eq!(
        counts,
        [("", "ListQueues", 1), ("q", "ReceiveMessage", 2), ("q", "SendMessage", 1), ("q", "SendMessageBatch", 1),]
    );
}
