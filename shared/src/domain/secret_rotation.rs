//! Secret rotation: a new secret is current at once, and old secrets stay valid until their own end.

use crate::domain::timestamp::Timestamp;

/// Valid secrets besides the current one.
pub const MAX_OLD_SECRETS: usize = 4;

pub trait Rotatable {
    /// The end of a rotated secret; none for the current one.
    fn valid_until(&mut self) -> &mut Option<Timestamp>;
}

/// Appends a new secret to a list that is sorted from the oldest to the current one. The current one becomes an old one
/// that ends at `old_until`; older ones keep their end. At most four old secrets stay. When `old_until` is not in the
/// future, all old secrets end at once.
pub fn rotate<T: Rotatable>(secrets: &mut Vec<T>, new: T, now: Timestamp, old_until: Timestamp) {
    for secret in secrets.iter_mut() {
        secret.valid_until().get_or_insert(old_until);
    }
    secrets.retain_mut(|secret| old_until > now && secret.valid_until().is_some_and(|until| until > now));
    let excess = secrets.len().saturating_sub(MAX_OLD_SECRETS);
    secrets.drain(..excess);
    secrets.push(new);
}
