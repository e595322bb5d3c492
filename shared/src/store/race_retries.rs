//! Retries of conditional writes that depend on an item read before: read the item, decide, write, and start over when
//! a concurrent write changed the item first.

use crate::error::{Error, ErrorContext};
use crate::store::table::WriteError;

/// Attempts of one request to read and write an item that concurrent requests keep changing.
const MAX_RACE_ATTEMPTS: usize = 8;

/// Counts the attempts of one read-and-write loop.
pub(in crate::store) struct RaceRetries {
    operation: &'static str,
    attempts_left: usize,
}

impl RaceRetries {
    /// `operation` names the write in the error that is returned when every attempt lost.
    pub(in crate::store) fn new(operation: &'static str) -> Self {
        Self { operation, attempts_left: MAX_RACE_ATTEMPTS }
    }

    /// The result that the caller returns, or none when the write lost a race and the caller must read and write again.
    /// After [`MAX_RACE_ATTEMPTS`] lost races the result is [`Error::Unavailable`].
    pub(in crate::store) fn final_result<T>(&mut self, written: Result<T, WriteError>) -> Option<Result<T, Error>> {
        match written {
            Ok(value) => Some(Ok(value)),
            Err(WriteError::Error(error)) => Some(Err(error)),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => {
                self.attempts_left = self.attempts_left.saturating_sub(1);
                let is_exhausted = self.attempts_left == 0;
                is_exhausted.then(|| Err(Error::Unavailable(ErrorContext::new((self.operation, "lost every race")))))
            }
        }
    }
}
