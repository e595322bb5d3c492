//! The bodies of the endpoints that replace a signing secret or an endpoint URL.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::timestamp::Timestamp;
use crate::wire::fields::values::{UnixSeconds, Whole};

const MAX_OVERLAP_SECONDS: u64 = 30 * 24 * 60 * 60;
const DEFAULT_OVERLAP_SECONDS: u64 = 24 * 60 * 60;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SecretRotation {
    /// How long the previous value stays valid.
    #[schemars(extend("default" = DEFAULT_OVERLAP_SECONDS))]
    keep_old_seconds: Option<Whole<0, MAX_OVERLAP_SECONDS>>,
}

impl SecretRotation {
    /// Returns the time until which the previous value stays valid.
    pub fn old_valid_until(&self, now: Timestamp) -> Timestamp {
        let seconds = self.keep_old_seconds.map_or(DEFAULT_OVERLAP_SECONDS, |Whole(seconds)| seconds);
        now.plus(Duration::from_secs(seconds))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RotatedSigningSecret {
    pub signing_secret: SigningSecret,
    pub old_signing_secret_valid_until: UnixSeconds,
}

impl RotatedSigningSecret {
    pub const DESCRIPTION: &str = "The new signing secret, which is shown only once, and the time until which the \
                                   previous one also signs requests.";
}

/// Standard Webhooks; shown only once, in the response that created it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct SigningSecret(#[schemars(regex(pattern = "^whsec_"))] String);

impl SigningSecret {
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }
}
