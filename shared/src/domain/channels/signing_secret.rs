//! The secrets that sign requests to a receiver. After a rotation, each request is signed with the new secret and with
//! every old secret that has not expired yet.

use crate::domain::channels::secret_rotation::{self, Rotatable};
use crate::domain::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// The secret in the format of Standard Webhooks, `whsec_...`.
    pub secret: String,
    /// The time at which a rotated secret expires. `None` means that this is the current secret, which does not expire.
    pub valid_until: Option<Timestamp>,
}

impl Rotatable for SigningSecret {
    fn valid_until(&mut self) -> &mut Option<Timestamp> {
        &mut self.valid_until
    }
}

/// The secrets of a channel, a bot or a webhook, sorted from the oldest to the newest: first the rotated secrets, then
/// the current secret. A rotated secret that has expired remains in the list until the next rotation. A widget has no
/// secrets, because it has no receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningSecrets(pub Vec<SigningSecret>);

impl SigningSecrets {
    pub fn new(secret: impl Into<String>) -> Self {
        Self(vec![SigningSecret { secret: secret.into(), valid_until: None }])
    }

    pub fn current(&self) -> Option<&str> {
        self.0.iter().find(|existing| existing.valid_until.is_none()).map(|current| current.secret.as_str())
    }

    /// Returns the secrets that are valid at `now`, newest first.
    pub fn valid(&self, now: Timestamp) -> Vec<String> {
        let valid = self.0.iter().filter(|existing| existing.valid_until.is_none_or(|until| now < until));
        valid.rev().map(|existing| existing.secret.clone()).collect()
    }

    /// Replaces the current secret; see [`secret_rotation::rotate`]. The previous secret stays valid until `old_until`.
    pub fn rotate(&mut self, secret: String, now: Timestamp, old_until: Timestamp) {
        secret_rotation::rotate(&mut self.0, SigningSecret { secret, valid_until: None }, now, old_until);
    }

    /// Makes `secret` the current secret if the secrets still equal `before`. Returns whether the secrets contain
    /// `secret` afterwards. They may already contain it, because an earlier attempt at the same write may have
    /// succeeded; the function then changes nothing.
    pub fn rotate_if_unchanged(&mut self, before: &Self, secret: &str, now: Timestamp, old_until: Timestamp) -> bool {
        let is_in_place = self.0.iter().any(|existing| existing.secret == secret);
        if !is_in_place && self == before {
            self.rotate(secret.to_owned(), now, old_until);
            return true;
        }
        is_in_place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_secrets_stay_valid_until_they_expire() {
        let mut secrets = SigningSecrets::new("one");
        assert_eq!(secrets.valid(Timestamp(0)), ["one"]);
        secrets.rotate("two".into(), Timestamp(0), Timestamp(100));
        secrets.rotate("three".into(), Timestamp(5), Timestamp(20));
        assert_eq!(secrets.valid(Timestamp(19)), ["three", "two", "one"]);
        assert_eq!(secrets.valid(Timestamp(20)), ["three", "one"]);
        assert_eq!(secrets.valid(Timestamp(100)), ["three"]);
        for secret in ["four", "five", "six", "seven"] {
            secrets.rotate(secret.into(), Timestamp(10), Timestamp(200));
        }
        assert_eq!(secrets.valid(Timestamp(11)), ["seven", "six", "five", "four", "three"]);
        secrets.rotate("last".into(), Timestamp(12), Timestamp(12));
        assert_eq!(secrets.valid(Timestamp(12)), ["last"]);
        assert_eq!(secrets.current(), Some("last"));
    }

    #[test]
    fn repeated_rotation_succeeds_and_concurrent_one_fails() {
        let (mut rotated, before) = (SigningSecrets::new("one"), SigningSecrets::new("one"));
        let rotate = |secrets: &mut SigningSecrets, secret: &str| {
            secrets.rotate_if_unchanged(&before, secret, Timestamp(0), Timestamp(100))
        };
        assert!(rotate(&mut rotated, "two"));
        let after = rotated.clone();
        assert!(rotate(&mut rotated, "two"), "a repeated write");
        assert!(!rotate(&mut rotated, "three"), "a concurrent rotation");
        assert_eq!(rotated, after);
    }
}
