//! Rotating a secret: the new one is current at once, and each of those before it holds for as long as was promised of it.

use crate::domain::timestamp::Timestamp;

/// Rotated secrets that hold beside the current one.
pub const MAX_OLD_SECRETS: usize = 4;

/// A secret that can be rotated.
pub trait Rotated {
    /// Until when it holds; the current one has no end.
    fn valid_until(&mut self) -> &mut Option<Timestamp>;
}

/// Puts a new secret behind the others, which are sorted from the oldest on. The current one holds until `old_until`, the
/// others as long as before, the newest four of them all. When the current one is to end at once, all of them do.
pub fn rotate<T: Rotated>(secrets: &mut Vec<T>, new: T, now: Timestamp, old_until: Timestamp) {
    for secret in secrets.iter_mut() {
        secret.valid_until().get_or_insert(old_until);
    }
    secrets.retain_mut(|secret| old_until > now && secret.valid_until().is_some_and(|until| until > now));
    let too_many = secrets.len().saturating_sub(MAX_OLD_SECRETS);
    secrets.drain(..too_many);
    secrets.push(new);
}
