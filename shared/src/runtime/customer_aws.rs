//! Sends to queues and event buses in the AWS accounts of customers. For that, the service assumes a role of the
//! customer, with the account's id as the external id. The customer's trust policy requires this id, so the webhook of
//! another account cannot use the role (the confused deputy problem).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::config::{Credentials, Region, SharedCredentialsProvider};
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use aws_sdk_sqs::types::MessageAttributeValue;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_types::SdkConfig;
use futures_util::future::BoxFuture;

use crate::domain::deliveries::aws_address::{event_bus_region, is_fifo_queue, queue_region};
use crate::domain::timestamp::Timestamp;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::{aws_config, clock};

/// How long before their end the credentials of a role are replaced.
const RENEWED_BEFORE_EXPIRY: Duration = Duration::from_secs(5 * 60);
/// The limit of SQS for a message with its attributes.
const MAX_QUEUE_MESSAGE_BYTES: usize = 1024 * 1024;
/// The limit of EventBridge for an event.
const MAX_EVENT_BYTES: usize = 256 * 1024;
/// What EventBridge counts for the time of an event.
const EVENT_TIME_BYTES: usize = 14;
const EVENT_SOURCE: &str = "switchboard";
const MAX_AWS_MESSAGE_CHARS: usize = 300;

/// A role of a customer. `external_id` is the id of the account whose webhook names the role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CustomerRole {
    pub arn: String,
    pub external_id: String,
}

/// An event for a queue or an event bus.
pub(crate) struct CustomerEvent<'a> {
    /// The `webhook-id`, which is the same for every attempt.
    pub id: &'a str,
    pub name: &'static str,
    pub chat_id: u64,
    /// The time of the attempt.
    pub sent_at: Timestamp,
    pub body: String,
}

impl CustomerEvent<'_> {
    /// The attributes of a message in a queue.
    pub(crate) fn attributes(&self) -> [(&'static str, String); 3] {
        [
            ("webhook-id", self.id.to_owned()),
            ("webhook-timestamp", self.sent_at.seconds().to_string()),
            ("webhook-event", self.name.to_owned()),
        ]
    }

    /// The message group and the deduplication id in a FIFO queue, with their names in the API of SQS. In such a queue,
    /// the messages of a chat are a group.
    pub(crate) fn fifo_fields(&self, queue_url: &str) -> Option<[(&'static str, String); 2]> {
        let fields = [("MessageGroupId", self.chat_id.to_string()), ("MessageDeduplicationId", self.id.to_owned())];
        is_fifo_queue(queue_url).then_some(fields)
    }

    /// The source and the type of an event on a bus, with their names in the API of EventBridge.
    pub(crate) fn bus_fields(&self) -> [(&'static str, String); 2] {
        [("Source", EVENT_SOURCE.to_owned()), ("DetailType", self.name.to_owned())]
    }
}

/// Why an event was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CustomerFailure {
    /// A repeated attempt would fail again.
    Final(String),
    /// The HTTP status is `None` if there was no response.
    Temporary { status: Option<u16>, reason: String },
}

/// The clients of customers' accounts. Clones share the credentials of the roles.
#[derive(Clone)]
pub struct CustomerAws {
    config: SdkConfig,
    sts: aws_sdk_sts::Client,
    credentials: Arc<Mutex<BTreeMap<CustomerRole, (Credentials, Timestamp)>>>,
}

impl Dependency for CustomerAws {
    fn open(startup: &mut StartupContext) -> Self {
        let sts = aws_sdk_sts::Client::new(&aws_config::for_service(&startup.aws, "STS"));
        Self { config: startup.aws.clone(), sts, credentials: Arc::default() }
    }
}

impl CustomerAws {
    /// Sends a message to a queue. The future is boxed so that the SDK's types are compiled only once, in this crate.
    pub(crate) fn send_message<'a>(
        &'a self,
        role: &'a CustomerRole,
        queue_url: &'a str,
        event: &'a CustomerEvent<'a>,
    ) -> BoxFuture<'a, Result<(), CustomerFailure>> {
        Box::pin(async move {
            let attributes = event.attributes();
            let attribute_bytes: usize = attributes.iter().map(|(name, value)| name.len() + value.len() + 6).sum();
            require_size(event.body.len() + attribute_bytes, MAX_QUEUE_MESSAGE_BYTES, "SQS")?;
            let config = self.config_of(role, "SQS", queue_region(queue_url)).await?;
            let mut request = aws_sdk_sqs::Client::new(&config).send_message().queue_url(queue_url);
            for (name, value) in attributes {
                let value = MessageAttributeValue::builder().data_type("String").string_value(value).build();
                request = request.message_attributes(name, value.map_err(|error| failed("SQS", None, error))?);
            }
            if let Some([(_, group_id), (_, deduplication_id)]) = event.fifo_fields(queue_url) {
                request = request.message_group_id(group_id).message_deduplication_id(deduplication_id);
            }
            request.message_body(event.body.clone()).send().await.map(|_| ()).map_err(|error| refused("SQS", &error))
        })
    }

    /// Puts an event on a bus. The future is boxed like that of [`send_message`](Self::send_message).
    pub(crate) fn put_event<'a>(
        &'a self,
        role: &'a CustomerRole,
        bus_arn: &'a str,
        event: &'a CustomerEvent<'a>,
    ) -> BoxFuture<'a, Result<(), CustomerFailure>> {
        Box::pin(async move {
            let [(_, source), (_, detail_type)] = event.bus_fields();
            let bytes = event.body.len() + source.len() + detail_type.len() + EVENT_TIME_BYTES;
            require_size(bytes, MAX_EVENT_BYTES, "EventBridge")?;
            let config = self.config_of(role, "EVENTBRIDGE", event_bus_region(bus_arn)).await?;
            let entry = PutEventsRequestEntry::builder()
                .event_bus_name(bus_arn)
                .source(source)
                .detail_type(detail_type)
                .detail(event.body.clone())
                .build();
            let client = aws_sdk_eventbridge::Client::new(&config);
            let put = client.put_events().entries(entry).send().await;
            let put = put.map_err(|error| refused("EventBridge", &error))?;
            // A rejected entry does not fail the request.
            match put.entries().first().and_then(|entry| Some((entry.error_code()?, entry.error_message()))) {
                Some((code, message)) => Err(failed("EventBridge", Some(200), described(Some(code), message))),
                None => Ok(()),
            }
        })
    }

    /// Returns the configuration for a client that acts as the role. `service` is the service's name in the environment
    /// variables that replace its endpoint.
    async fn config_of(
        &self,
        role: &CustomerRole,
        service: &str,
        region: Option<&str>,
    ) -> Result<SdkConfig, CustomerFailure> {
        let region = region.ok_or_else(|| CustomerFailure::Final("the address names no region".to_owned()))?;
        let credentials = SharedCredentialsProvider::new(self.credentials_of(role).await?);
        let config = aws_config::for_service(&self.config, service).to_builder();
        Ok(config.region(Region::new(region.to_owned())).credentials_provider(credentials).build())
    }

    /// Returns the credentials of a role, from memory unless they end soon.
    async fn credentials_of(&self, role: &CustomerRole) -> Result<Credentials, CustomerFailure> {
        let now = clock::now();
        let cached = self.lock().get(role).cloned();
        if let Some((credentials, expires_at)) = cached
            && now.plus(RENEWED_BEFORE_EXPIRY) < expires_at
        {
            return Ok(credentials);
        }
        let request = self.sts.assume_role().role_arn(&role.arn).external_id(&role.external_id);
        let session = format!("switchboard-{}", role.external_id);
        let assumed = request.role_session_name(session).send().await;
        let assumed = assumed.map_err(|error| refused("STS", &error))?;
        let Some(found) = assumed.credentials() else { return Err(failed("STS", Some(200), "no credentials")) };
        let expires_at = Timestamp::from_seconds(u64::try_from(found.expiration().secs()).unwrap_or_default());
        let (key, secret, token) = (found.access_key_id(), found.secret_access_key(), found.session_token());
        let credentials = Credentials::new(key, secret, Some(token.to_owned()), None, "customer role");
        self.lock().insert(role.clone(), (credentials.clone(), expires_at));
        Ok(credentials)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<CustomerRole, (Credentials, Timestamp)>> {
        self.credentials.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn require_size(bytes: usize, limit: usize, service: &str) -> Result<(), CustomerFailure> {
    if bytes <= limit {
        return Ok(());
    }
    let (size, limit) = (bytes.div_ceil(1024), limit / 1024);
    Err(CustomerFailure::Final(format!("the event has {size} KB; {service} accepts at most {limit} KB")))
}

fn refused<E: ProvideErrorMetadata>(service: &str, error: &SdkError<E, HttpResponse>) -> CustomerFailure {
    let status = error.raw_response().map(|response| response.status().as_u16());
    match status {
        Some(_) => failed(service, status, described(error.code(), error.message())),
        None => failed(service, None, "no response"),
    }
}

fn described(code: Option<&str>, message: Option<&str>) -> String {
    let message = message.unwrap_or_default().chars().take(MAX_AWS_MESSAGE_CHARS).collect::<String>();
    [code.unwrap_or("error"), &message].join(": ").trim_end_matches(": ").to_owned()
}

fn failed(service: &str, status: Option<u16>, reason: impl std::fmt::Display) -> CustomerFailure {
    CustomerFailure::Temporary { status, reason: format!("{service}: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_names_the_service_and_its_limit() {
        assert_eq!(require_size(MAX_EVENT_BYTES, MAX_EVENT_BYTES, "EventBridge"), Ok(()));
        let message = "the event has 257 KB; EventBridge accepts at most 256 KB".to_owned();
        let too_large = require_size(MAX_EVENT_BYTES + 1, MAX_EVENT_BYTES, "EventBridge");
        assert_eq!(too_large, Err(CustomerFailure::Final(message)));
        assert_eq!(described(Some("AccessDenied"), Some("no")), "AccessDenied: no");
        assert_eq!(described(Some("AccessDenied"), None), "AccessDenied");
    }
}
