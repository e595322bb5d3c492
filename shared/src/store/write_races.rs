//! Limits the retries of operations that read an item, decide what to write, and then write it conditionally. If a
//! concurrent write changes the item in between, the operation has lost a race and starts over.

use crate::error::{Error, ErrorContext};
use crate::store::table::WriteError;

const MAX_LOST_RACES: usize = 8;

pub(crate) struct WriteRaces {
    operation: &'static str,
    attempts_left: usize,
}

impl WriteRaces {
    /// `operation` names the operation in the error that is returned if every attempt loses its race.
    pub(crate) fn new(operation: &'static str) -> Self {
        Self { operation, attempts_left: MAX_LOST_RACES }
    }

    /// Returns the operation's result, or `None` if the write lost a race and the caller must read the item again and
    /// retry. After [`MAX_LOST_RACES`] lost races, the result is [`Error::Unavailable`].
    pub(crate) fn final_result<T>(&mut self, written: Result<T, WriteError>) -> Option<Result<T, Error>> {
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
