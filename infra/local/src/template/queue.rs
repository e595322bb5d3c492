//! `AWS::SQS::Queue`.

use super::cursor::Cursor;
use super::error::{Error, Problem};
use crate::sqs::{DeadLetter, QueueDefinition, Queues};

pub(super) fn read(logical_id: &str, properties: &Cursor<'_>) -> Result<QueueDefinition, Error> {
    let scope = properties.get("DeduplicationScope")?.map(|scope| scope.text()).transpose()?;
    Ok(QueueDefinition {
        name: properties.scope().queue_name(logical_id),
        delay_seconds: properties.number_or("DelaySeconds", 0..=900, 0)?,
        visibility_seconds: properties.number_or("VisibilityTimeout", 0..=43_200, 30)?,
        retention_seconds: properties.number_or("MessageRetentionPeriod", 60..=1_209_600, 345_600)?,
        content_based_deduplication: properties.flag_or("ContentBasedDeduplication", false)?,
        deduplication_per_group: scope.as_deref() == Some("messageGroup"),
        dead_letter: properties.get("RedrivePolicy")?.map(|policy| dead_letter(&policy)).transpose()?,
    })
}

fn dead_letter(policy: &Cursor<'_>) -> Result<DeadLetter, Error> {
    Ok(DeadLetter {
        queue: referred(&policy.require("deadLetterTargetArn")?)?,
        max_receives: policy.require("maxReceiveCount")?.number(1..=1000)?,
    })
}

/// The name of the queue whose ARN this is.
pub(super) fn referred(arn: &Cursor<'_>) -> Result<String, Error> {
    let text = arn.text()?;
    let name = text.rsplit(':').next().unwrap_or_default();
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    if Queues::arn(name) == text && arn.scope().is_queue(stem) {
        return Ok(name.to_owned());
    }
    Err(arn.error(Problem::NotAQueue(text)))
}
