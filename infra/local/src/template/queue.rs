//! Reads `AWS::SQS::Queue`.

use super::error::{Error, ErrorKind};
use super::evaluated_value::EvaluatedValue;
use crate::sqs::{QueueDefinition, Queues, RedrivePolicy};

pub(super) fn read(logical_id: &str, properties: &EvaluatedValue<'_>) -> Result<QueueDefinition, Error> {
    let deduplication_scope = properties.get("DeduplicationScope")?.map(|scope| scope.text()).transpose()?;
    Ok(QueueDefinition {
        name: properties.scope().queue_name(logical_id),
        delay_seconds: properties.number_or("DelaySeconds", 0..=900, 0)?,
        visibility_timeout_seconds: properties.number_or("VisibilityTimeout", 0..=43_200, 30)?,
        retention_seconds: properties.number_or("MessageRetentionPeriod", 60..=1_209_600, 345_600)?,
        content_based_deduplication: properties.boolean_or("ContentBasedDeduplication", false)?,
        deduplication_per_group: deduplication_scope.as_deref() == Some("messageGroup"),
        redrive_policy: properties.get("RedrivePolicy")?.map(|policy| redrive_policy(&policy)).transpose()?,
    })
}

fn redrive_policy(policy: &EvaluatedValue<'_>) -> Result<RedrivePolicy, Error> {
    Ok(RedrivePolicy {
        dead_letter_queue: queue_name_from_arn(&policy.require("deadLetterTargetArn")?)?,
        max_receive_count: policy.require("maxReceiveCount")?.number(1..=1000)?,
    })
}

/// Returns the name of the queue with this ARN. Fails if the ARN does not belong to a queue in this template.
pub(super) fn queue_name_from_arn(arn: &EvaluatedValue<'_>) -> Result<String, Error> {
    let text = arn.text()?;
    let name = text.rsplit(':').next().unwrap_or_default();
    let logical_id = name.strip_suffix(".fifo").unwrap_or(name);
    if Queues::arn(name) == text && arn.scope().is_queue(logical_id) {
        return Ok(name.to_owned());
    }
    Err(arn.error(ErrorKind::UnknownQueue(text)))
}
