//! Retries conditional writes of items that have been read before. An operation reads the item, decides what to write,
//! and writes it. If a concurrent write has changed the item in the meantime, the operation starts over.

use crate::error::{Error, ErrorContext};
use crate::store::table::WriteError;

/// The maximum number of times that an operation reads and writes an item while concurrent requests keep changing it.
const MAX_RACE_ATTEMPTS: usize = 8;

/// Counts the attempts of one operation that reads an item and writes it conditionally.
pub(in crate::store) struct RaceRetries {
    operation: &'static str,
    attempts_left: usize,
}

impl RaceRetries {
    /// Starts counting. `operation` is the name of the operation in the error that is returned if every attempt loses
    /// its race.
    pub(in crate::store) fn new(operation: &'static str) -> Self {
        Self { operation, attempts_left: MAX_RACE_ATTEMPTS }
    }

    /// Returns the result for the caller, or `None` if the write lost a race. In that case the caller reads the item
    /// and tries again. After [`MAX_RACE_ATTEMPTS`] lost races the result is [`Error::Unavailable`].
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
