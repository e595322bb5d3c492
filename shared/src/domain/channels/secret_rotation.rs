//! Replaces secrets without interruption. A new secret becomes the current one immediately, and the old secrets stay
//! valid until they expire. A caller can also end all old secrets at once, and only the newest four are kept.

use crate::domain::timestamp::Timestamp;

/// The maximum number of rotated secrets that stay valid in addition to the current one.
pub const MAX_OLD_SECRETS: usize = 4;

pub trait Rotatable {
    /// The time at which a rotated secret expires. `None` means that this is the current secret, which does not expire.
    fn valid_until(&mut self) -> &mut Option<Timestamp>;
}

/// Appends a new secret to a list that is sorted from the oldest secret to the current one. The current secret becomes
/// an old secret that expires at `old_until`; the other old secrets keep their expiry time. Only the newest four old
/// secrets are kept. If `old_until` is not in the future, all old secrets are removed.
pub fn rotate<T: Rotatable>(secrets: &mut Vec<T>, new: T, now: Timestamp, old_until: Timestamp) {
    for secret in secrets.iter_mut() {
        secret.valid_until().get_or_insert(old_until);
    }
    secrets.retain_mut(|secret| old_until > now && secret.valid_until().is_some_and(|until| until > now));
    let excess = secrets.len().saturating_sub(MAX_OLD_SECRETS);
    secrets.drain(..excess);
    secrets.push(new);
}
