//! Lets an admin rotate the signing secret of a channel or a bot.

use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_signing_secret;
use crate::wire::admin::signing_secret::{RotatedSigningSecret, SecretRotation, SigningSecret};

/// A rotation that is not stored yet.
pub struct Rotation {
    pub secrets: SigningSecrets,
    /// The body of the response. It contains the new secret, which no later response contains.
    pub body: RotatedSigningSecret,
}

/// Adds a new random signing secret to the secrets in `before` and returns the result, which the caller must store. The
/// request says how long the previous secret stays valid.
pub fn rotated(before: &SigningSecrets, request: &SecretRotation, now: Timestamp) -> Result<Rotation, Error> {
    let old_until = request.old_valid_until(now);
    let (secret, mut secrets) = (random_signing_secret()?, before.clone());
    secrets.rotate(secret.clone(), now, old_until);
    let body = RotatedSigningSecret {
        signing_secret: SigningSecret::new(secret),
        old_signing_secret_valid_until: old_until.into(),
    };
    Ok(Rotation { secrets, body })
}
