//! The template's queue definitions, and the check that SQS would accept them.

use std::collections::BTreeMap;

use super::limits::{self, OutOfRange};

/// A queue whose name ends in `.fifo` is a FIFO queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDefinition {
    /// The last part of the queue's URL and ARN.
    pub name: String,
    /// The time before a new message becomes visible, 0 to 900 s. A message to a standard queue can override it.
    pub delay_seconds: u32,
    /// The time for which a received message stays hidden, 0 to 43,200 s. A receive request can override it.
    pub visibility_timeout_seconds: u32,
    /// The time after which a message is deleted, 60 to 1,209,600 s (14 days).
    pub retention_seconds: u32,
    /// For FIFO queues only: whether the hash of the body replaces a missing deduplication id.
    pub content_based_deduplication: bool,
    /// For FIFO queues only: whether a deduplication id applies to its message group (`DeduplicationScope` is
    /// `messageGroup`) rather than to the whole queue.
    pub deduplication_per_group: bool,
    /// When and where messages are moved to a dead-letter queue. With `None`, they are never moved.
    pub redrive_policy: Option<RedrivePolicy>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedrivePolicy {
    /// The name of the dead-letter queue. It must have the same type (standard or FIFO) as the source queue.
    pub dead_letter_queue: String,
    /// How many times a message can be received, from 1 to 1,000. The next receive moves the message to the
    /// dead-letter queue instead of returning it.
    pub max_receive_count: u32,
}

impl QueueDefinition {
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        is_fifo(&self.name)
    }

    fn check(&self, all: &BTreeMap<String, QueueDefinition>) -> Result<(), DefinitionError> {
        if !is_queue_name(&self.name) {
            return Err(DefinitionError::InvalidName(self.name.clone()));
        }
        self.check_limits().map_err(|limit| DefinitionError::OutOfRange { queue: self.name.clone(), limit })?;
        let has_fifo_settings = self.content_based_deduplication || self.deduplication_per_group;
        if has_fifo_settings && !self.is_fifo() {
            return Err(DefinitionError::FifoSettingOnStandardQueue(self.name.clone()));
        }
        self.check_redrive_policy(all)
    }

    fn check_limits(&self) -> Result<(), OutOfRange> {
        limits::DELAY_SECONDS.check(self.delay_seconds)?;
        limits::VISIBILITY_TIMEOUT_SECONDS.check(self.visibility_timeout_seconds)?;
        limits::RETENTION_SECONDS.check(self.retention_seconds)?;
        if let Some(redrive_policy) = &self.redrive_policy {
            limits::MAX_RECEIVE_COUNT.check(redrive_policy.max_receive_count)?;
        }
        Ok(())
    }

    fn check_redrive_policy(&self, all: &BTreeMap<String, QueueDefinition>) -> Result<(), DefinitionError> {
        let Some(RedrivePolicy { dead_letter_queue, .. }) = &self.redrive_policy else {
            return Ok(());
        };
        match all.get(dead_letter_queue) {
            None => Err(DefinitionError::MissingDeadLetterQueue {
                queue: self.name.clone(),
                dead_letter_queue: dead_letter_queue.clone(),
            }),
            Some(target) if target.name == self.name => Err(DefinitionError::OwnDeadLetterQueue(self.name.clone())),
            Some(target) if target.is_fifo() != self.is_fifo() => Err(DefinitionError::DeadLetterQueueType {
                queue: self.name.clone(),
                dead_letter_queue: dead_letter_queue.clone(),
            }),
            Some(_) => Ok(()),
        }
    }
}

/// Validates the definitions and indexes them by queue name.
pub(super) fn by_name(definitions: Vec<QueueDefinition>) -> Result<BTreeMap<String, QueueDefinition>, DefinitionError> {
    let mut all = BTreeMap::new();
    for definition in definitions {
        if let Some(first) = all.insert(definition.name.clone(), definition) {
            return Err(DefinitionError::DuplicateName(first.name));
        }
    }
    for definition in all.values() {
        definition.check(&all)?;
    }
    Ok(all)
}

/// As on AWS, only the names of FIFO queues end in `.fifo`.
pub(super) fn is_fifo(name: &str) -> bool {
    name.ends_with(".fifo")
}

fn is_queue_name(name: &str) -> bool {
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !stem.is_empty() && name.len() <= 80 && stem.chars().all(is_allowed)
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DefinitionError {
    #[error("queue {0:?}: a name is 1 to 80 letters, digits, - and _, and may end in .fifo")]
    InvalidName(String),
    #[error("queue {0} is defined twice")]
    DuplicateName(String),
    #[error("queue {queue}: {limit}")]
    OutOfRange { queue: String, limit: OutOfRange },
    #[error("queue {0}: deduplication is for FIFO queues")]
    FifoSettingOnStandardQueue(String),
    #[error("queue {queue}: its dead-letter queue {dead_letter_queue} is not defined")]
    MissingDeadLetterQueue { queue: String, dead_letter_queue: String },
    #[error("queue {0} cannot be its own dead-letter queue")]
    OwnDeadLetterQueue(String),
    #[error("queue {queue} and its dead-letter queue {dead_letter_queue} must be of one type")]
    DeadLetterQueueType { queue: String, dead_letter_queue: String },
}
