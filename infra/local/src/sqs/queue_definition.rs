//! What the template says about a queue, and whether SQS would accept it.

use std::collections::BTreeMap;

use super::limits::{self, OutOfRange};

/// A queue as `AWS::SQS::Queue` declares it. A name that ends in `.fifo` makes it a FIFO queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDefinition {
    /// The queue's name, the last part of its URL and ARN.
    pub name: String,
    /// How long a message waits before its first delivery, 0 to 900 s; a message of a standard
    /// queue may say otherwise.
    pub delay_seconds: u32,
    /// How long a received message stays hidden, 0 to 43,200 s; a receive may say otherwise.
    pub visibility_seconds: u32,
    /// How long a message is kept, 60 to 1,209,600 s (14 days).
    pub retention_seconds: u32,
    /// FIFO: the hash of the body stands in for a missing deduplication id.
    pub content_based_deduplication: bool,
    /// FIFO: deduplication ids are compared within a group (`messageGroup`) instead of the whole
    /// queue.
    pub deduplication_per_group: bool,
    /// Where messages go that were received too often. `None` keeps them coming.
    pub dead_letter: Option<DeadLetter>,
}

/// A redrive policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The name of the dead-letter queue, of the same type as its source.
    pub queue: String,
    /// How often a message is received, 1 to 1,000, before the next receive moves it instead.
    pub max_receives: u32,
}

impl QueueDefinition {
    /// Whether this is a FIFO queue.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        is_fifo(&self.name)
    }

    fn check(&self, all: &BTreeMap<String, QueueDefinition>) -> Result<(), DefinitionError> {
        if !is_queue_name(&self.name) {
            return Err(DefinitionError::Name(self.name.clone()));
        }
        self.check_limits().map_err(|limit| DefinitionError::Limit { queue: self.name.clone(), limit })?;
        let fifo_settings = self.content_based_deduplication || self.deduplication_per_group;
        if fifo_settings && !self.is_fifo() {
            return Err(DefinitionError::FifoSettings(self.name.clone()));
        }
        self.check_dead_letter(all)
    }

    fn check_limits(&self) -> Result<(), OutOfRange> {
        limits::DELAY_SECONDS.check(self.delay_seconds)?;
        limits::VISIBILITY_SECONDS.check(self.visibility_seconds)?;
        limits::RETENTION_SECONDS.check(self.retention_seconds)?;
        if let Some(dead_letter) = &self.dead_letter {
            limits::MAX_RECEIVES.check(dead_letter.max_receives)?;
        }
        Ok(())
    }

    fn check_dead_letter(&self, all: &BTreeMap<String, QueueDefinition>) -> Result<(), DefinitionError> {
        let Some(dead_letter) = &self.dead_letter else {
            return Ok(());
        };
        match all.get(&dead_letter.queue) {
            None => {
                Err(DefinitionError::NoDeadLetter { queue: self.name.clone(), dead_letter: dead_letter.queue.clone() })
            }
            Some(target) if target.name == self.name => Err(DefinitionError::OwnDeadLetter(self.name.clone())),
            Some(target) if target.is_fifo() != self.is_fifo() => Err(DefinitionError::DeadLetterType {
                queue: self.name.clone(),
                dead_letter: dead_letter.queue.clone(),
            }),
            Some(_) => Ok(()),
        }
    }
}

/// The definitions by name, once all of them are sound.
pub(super) fn by_name(definitions: Vec<QueueDefinition>) -> Result<BTreeMap<String, QueueDefinition>, DefinitionError> {
    let mut all = BTreeMap::new();
    for definition in definitions {
        if let Some(first) = all.insert(definition.name.clone(), definition) {
            return Err(DefinitionError::Twice(first.name));
        }
    }
    for definition in all.values() {
        definition.check(&all)?;
    }
    Ok(all)
}

/// On AWS, too, the name alone tells.
pub(super) fn is_fifo(name: &str) -> bool {
    name.ends_with(".fifo")
}

fn is_queue_name(name: &str) -> bool {
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !stem.is_empty() && name.len() <= 80 && stem.chars().all(allowed)
}

/// Why a set of queue definitions is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DefinitionError {
    /// The name is not one that SQS allows.
    #[error("queue {0:?}: a name is 1 to 80 letters, digits, - and _, and may end in .fifo")]
    Name(String),
    /// Two definitions have one name.
    #[error("queue {0} is defined twice")]
    Twice(String),
    /// A number is outside SQS's limits.
    #[error("queue {queue}: {limit}")]
    Limit {
        /// The queue.
        queue: String,
        /// What is wrong with it.
        limit: OutOfRange,
    },
    /// A standard queue has settings of deduplication.
    #[error("queue {0}: deduplication is for FIFO queues")]
    FifoSettings(String),
    /// The dead-letter queue does not exist.
    #[error("queue {queue}: its dead-letter queue {dead_letter} is not defined")]
    NoDeadLetter {
        /// The queue.
        queue: String,
        /// The missing one.
        dead_letter: String,
    },
    /// The queue is its own dead-letter queue.
    #[error("queue {0} cannot be its own dead-letter queue")]
    OwnDeadLetter(String),
    /// One of the two queues is FIFO and the other is not.
    #[error("queue {queue} and its dead-letter queue {dead_letter} must be of one type")]
    DeadLetterType {
        /// The queue.
        queue: String,
        /// The queue of the other type.
        dead_letter: String,
    },
}
