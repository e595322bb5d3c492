//! Ed25519 key pairs in the format of Standard Webhooks (`v1a`): a private key is `whsk_` and the base64 of the seed and
//! the public key, 64 bytes together; a public key is `whpk_` and the base64 of its 32 bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PRIVATE_KEY_PREFIX: &str = "whsk_";
const PUBLIC_KEY_PREFIX: &str = "whpk_";
const KEY_BYTES: usize = 32;

/// The two halves of a private key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SigningKey {
    pub seed: [u8; KEY_BYTES],
    pub public_key: [u8; KEY_BYTES],
}

impl SigningKey {
    /// Parses a private key. Returns `None` for any other text, such as an HMAC secret (`whsec_`).
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(PRIVATE_KEY_PREFIX)?).ok()?;
        let (seed, public_key) = bytes.split_at_checked(KEY_BYTES)?;
        Some(Self { seed: seed.try_into().ok()?, public_key: public_key.try_into().ok()? })
    }

    pub fn to_private_text(self) -> String {
        format!("{PRIVATE_KEY_PREFIX}{}", STANDARD.encode([self.seed, self.public_key].concat()))
    }

    pub fn to_public_text(self) -> String {
        format!("{PUBLIC_KEY_PREFIX}{}", STANDARD.encode(self.public_key))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn private_key_contains_its_public_key() {
        let key = SigningKey { seed: [1; KEY_BYTES], public_key: [2; KEY_BYTES] };
        let text = key.to_private_text();
        assert!(SigningKey::parse(&text) == Some(key));
        assert_eq!(key.to_public_text(), format!("whpk_{}", STANDARD.encode([2; KEY_BYTES])));
        let wrong = [text.replace("whsk_", "whsec_"), text.replace("whsk_", "whsk_AAAA"), "whsk_".to_owned()];
        assert!(wrong.iter().all(|text| SigningKey::parse(text).is_none()));
    }
}
