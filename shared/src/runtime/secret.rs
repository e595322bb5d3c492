//! Random secrets, and how they are kept and compared.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::config::Environment;
use crate::runtime::dependencies::{Dependency, Platform};

/// Letters of identifiers: no vowels, so no words; no characters that look alike.
const ID_LETTERS: &[u8; 32] = b"23456789bcdfghjkmnpqrstvwxzBCDFG";

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(bytes)
}

/// A secret of 256 random bits that fits into a path segment or a header.
pub fn token() -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(random::<32>()?))
}

/// A public identifier of 80 random bits: 16 letters and digits.
pub fn identifier() -> Result<String, Error> {
    let letters = random::<16>()?.map(|byte| ID_LETTERS.get(usize::from(byte % 32)).copied().unwrap_or(b'2'));
    Ok(letters.iter().copied().map(char::from).collect())
}

/// A Standard Webhooks signing secret.
pub fn signing_secret() -> Result<String, Error> {
    Ok(format!("whsec_{}", STANDARD.encode(random::<32>()?)))
}

/// The id of a new timeline entry, see [`crate::domain::message_id`].
pub fn message_id(chat_id: u64, seq: u64, at: Timestamp) -> Result<String, Error> {
    Ok(crate::domain::message_id::message_id(chat_id, seq, at, u16::from_be_bytes(random()?)))
}

/// The `webhook-id` of a notice that is stored nowhere.
pub fn notice_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// What is stored of a secret with enough randomness to need no salt.
pub fn hash(secret: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(secret.as_ref()).into()
}

/// [`hash`] in lower-case hex.
pub fn hex_hash(secret: impl AsRef<[u8]>) -> String {
    hash(secret).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two hashes are the same, in a time that does not depend on where they differ.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// The operator's key, known by its hash alone.
#[derive(Clone)]
pub struct OperatorKey {
    hash: String,
}

impl OperatorKey {
    /// Whether this is the key.
    pub fn matches(&self, key: &str) -> bool {
        same(self.hash.as_bytes(), hex_hash(key).as_bytes())
    }

    fn from_environment(environment: &mut Environment) -> Self {
        Self { hash: environment.text("OPERATOR_KEY_SHA256") }
    }
}

impl Dependency for OperatorKey {
    fn open(platform: &mut Platform) -> Self {
        Self::from_environment(&mut platform.environment)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_operator_key_is_recognised_by_its_hash() {
        let key = OperatorKey { hash: hex_hash("abc") };
        assert!(key.matches("abc"));
        assert!(!key.matches("abd"));
        assert_eq!(hex_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn tokens_carry_256_bits_and_identifiers_are_plain_letters() {
        assert_eq!(URL_SAFE_NO_PAD.decode(token().unwrap()).unwrap().len(), 32);
        let id = identifier().unwrap();
        assert!(id.len() == 16 && id.bytes().all(|letter| letter.is_ascii_alphanumeric()), "{id}");
        assert_ne!(token().unwrap(), token().unwrap());
    }
}
