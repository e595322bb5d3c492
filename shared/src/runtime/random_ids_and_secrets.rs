//! Random secrets and ids, constant-time comparison, and the operator's key.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;

use crate::domain::accounts::web_push::WebPushKey;
use crate::domain::deliveries::signing_key::SigningKey;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::config::Environment;
use crate::runtime::dependencies::{Dependency, StartupContext};

/// The characters of identifiers. Vowels are left out so that identifiers cannot spell words. `0`, `1` and `l` are left
/// out because they are easily confused with other characters.
const IDENTIFIER_ALPHABET: &[u8; 32] = b"23456789bcdfghjkmnpqrstvwxzBCDFG";

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(bytes)
}

/// Creates a secret of 256 random bits in URL-safe base64. It can be used in a path segment or a header.
pub fn random_token() -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(random_bytes::<32>()?))
}

/// Creates a public identifier of 80 random bits. It consists of 16 letters and digits.
pub fn random_identifier() -> Result<String, Error> {
    let letters =
        random_bytes::<16>()?.map(|byte| IDENTIFIER_ALPHABET.get(usize::from(byte % 32)).copied().unwrap_or(b'2'));
    Ok(letters.iter().copied().map(char::from).collect())
}

/// Creates a signing secret of 256 random bits in the Standard Webhooks format.
pub fn random_signing_secret() -> Result<String, Error> {
    Ok(format!("whsec_{}", STANDARD.encode(random_bytes::<32>()?)))
}

/// Creates an Ed25519 key pair and returns its private key in the Standard Webhooks format.
pub fn random_signing_key() -> Result<String, Error> {
    let seed = random_bytes()?;
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(Error::internal)?;
    let public_key = pair.public_key().as_ref().try_into().map_err(Error::internal)?;
    Ok(SigningKey { seed, public_key }.to_private_text())
}

/// Creates a key pair for requests to push services.
pub(crate) fn random_web_push_key() -> Result<WebPushKey, Error> {
    let private_key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let private_key = private_key.map_err(Error::internal)?.as_ref().to_vec();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &private_key).map_err(Error::internal)?;
    let public_key = pair.public_key().as_ref().to_vec();
    Ok(WebPushKey { private_key, public_key })
}

/// Creates the id of a new timeline entry; see [`crate::domain::chats::message_id`].
pub fn new_message_id(chat_id: u64, seq: u64, at: Timestamp) -> Result<String, Error> {
    Ok(crate::domain::chats::message_id::message_id(chat_id, seq, at, u16::from_be_bytes(random_bytes()?)))
}

/// Creates the `webhook-id` of a request whose message is not stored in a timeline.
pub(crate) fn new_webhook_request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Returns whether two hashes are equal. The time that the comparison takes does not reveal where they differ.
pub(crate) fn equals_in_constant_time(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// The operator's key. The configuration contains only its SHA-256 hash.
#[derive(Clone)]
pub struct OperatorKey {
    hash: String,
    /// The hash of the key that replaces the current one. Both are accepted during a rotation.
    next_hash: Option<String>,
}

impl OperatorKey {
    pub fn matches(&self, key: &str) -> bool {
        let hash = sha256::hex_digest(key);
        let matches = |expected: &String| equals_in_constant_time(expected.as_bytes(), hash.as_bytes());
        matches(&self.hash) || self.next_hash.as_ref().is_some_and(matches)
    }

    fn from_environment(environment: &mut Environment) -> Self {
        let (hash, next) =
            (environment.required("OPERATOR_KEY_SHA256"), environment.required("NEXT_OPERATOR_KEY_SHA256"));
        Self { hash, next_hash: Some(next).filter(|hash| !hash.is_empty()) }
    }
}

impl Dependency for OperatorKey {
    fn open(startup: &mut StartupContext) -> Self {
        Self::from_environment(&mut startup.environment)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn operator_key_matches_its_hash() {
        let mut key = OperatorKey { hash: sha256::hex_digest("abc"), next_hash: None };
        assert!(key.matches("abc"));
        assert!(!key.matches("abd") && !key.matches(""));
        key.next_hash = Some(sha256::hex_digest("abd"));
        assert!(key.matches("abc") && key.matches("abd"), "both keys are valid during a rotation");
        assert!(!key.matches("abe"));
    }

    #[test]
    fn tokens_have_256_bits_and_identifiers_are_alphanumeric() {
        assert_eq!(URL_SAFE_NO_PAD.decode(random_token().unwrap()).unwrap().len(), 32);
        let id = random_identifier().unwrap();
        assert!(id.len() == 16 && id.bytes().all(|letter| letter.is_ascii_alphanumeric()), "{id}");
        assert_ne!(random_token().unwrap(), random_token().unwrap());
    }
}
