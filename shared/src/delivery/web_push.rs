//! Web Push: encrypts a notification for one browser (RFC 8291), signs the request with the account's key (VAPID,
//! RFC 8292), and posts it to the browser's push service (RFC 8030). The push service cannot read the notification.

use std::time::Duration;

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use url::Url;

use crate::delivery::outbound_client::OutboundClient;
use crate::domain::accounts::web_push::{BrowserKeys, WebPushKey, WebPushSubscription};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_bytes;

/// How long a push service keeps a notification for a browser that is not connected: as long as a session lasts without
/// a request.
const TIME_TO_LIVE: Duration = Duration::from_secs(12 * 60 * 60);
/// How long a signature is valid. The maximum is a day.
const SIGNATURE_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// The maximum duration of a request. The changes after it wait, so a slow push service must not delay them.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

const SALT_BYTES: usize = 16;
const CONTENT_KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
const KEYING_MATERIAL_BYTES: usize = 32;
/// The size of a record, which is larger than any notification: each consists of one record.
const RECORD_SIZE: u32 = 4_096;
/// Marks the last record.
const LAST_RECORD: u8 = 2;

/// What a push service did with a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PushResult {
    Accepted,
    /// The browser no longer has this subscription.
    Gone,
    /// The reason contains nothing of the endpoint.
    Failed(String),
}

/// Sends a notification. A push service replaces an earlier notification with the same `topic`, up to 32 letters,
/// digits and hyphens, that it has not delivered yet.
pub(crate) async fn send(
    client: &OutboundClient,
    subscription: &WebPushSubscription,
    key: &WebPushKey,
    (topic, notification): (String, &[u8]),
    now: Timestamp,
) -> Result<PushResult, Error> {
    let endpoint = Url::parse(&subscription.endpoint).map_err(Error::internal)?;
    let headers = vec![
        ("authorization", authorization(&endpoint, &subscription.contact, key, now)?),
        ("content-encoding", "aes128gcm".to_owned()),
        ("content-type", "application/octet-stream".to_owned()),
        ("ttl", TIME_TO_LIVE.as_secs().to_string()),
        ("topic", topic),
        ("urgency", "high".to_owned()),
    ];
    let body = encrypt(&subscription.keys, notification)?;
    let posted = client.post_bytes(endpoint, headers, body, REQUEST_TIMEOUT).await?;
    Ok(match posted.result {
        Ok(response) => match response.status {
            200..=299 => PushResult::Accepted,
            404 | 410 => PushResult::Gone,
            status => PushResult::Failed(format!("status {status}")),
        },
        Err(error) => PushResult::Failed(error.to_string()),
    })
}

/// Returns the header that says who sends the request (RFC 8292, section 3).
fn authorization(endpoint: &Url, contact: &str, key: &WebPushKey, now: Timestamp) -> Result<String, Error> {
    let claims = json!({
        "aud": endpoint.origin().ascii_serialization(),
        "exp": now.plus(SIGNATURE_LIFETIME).seconds(),
        "sub": contact,
    });
    let encode = |part: &str| URL_SAFE_NO_PAD.encode(part);
    let signed = format!("{}.{}", encode(r#"{"typ":"JWT","alg":"ES256"}"#), encode(&claims.to_string()));
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key.private_key).map_err(Error::internal)?;
    let signature = pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(Error::internal)?;
    let (signature, public_key) = (URL_SAFE_NO_PAD.encode(signature), URL_SAFE_NO_PAD.encode(&key.public_key));
    Ok(format!("vapid t={signed}.{signature}, k={public_key}"))
}

fn encrypt(keys: &BrowserKeys, notification: &[u8]) -> Result<Vec<u8>, Error> {
    let private_key = PrivateKey::generate(&ECDH_P256).map_err(Error::internal)?;
    encrypt_with(keys, notification, &private_key, &random_bytes()?)
}

/// Encrypts a notification with a key pair and a salt that are used only once (RFC 8291, section 3.4).
fn encrypt_with(
    keys: &BrowserKeys,
    notification: &[u8],
    private_key: &PrivateKey,
    salt: &[u8; SALT_BYTES],
) -> Result<Vec<u8>, Error> {
    let public_key = private_key.compute_public_key().map_err(Error::internal)?;
    let browser_key = UnparsedPublicKey::new(&ECDH_P256, &keys.public_key);
    let failed = || Error::internal("the key agreement with a browser");
    let secret = agree(private_key, browser_key, failed(), |secret| Ok::<_, Error>(secret.to_vec()))?;
    let info = [b"WebPush: info\0".as_slice(), &keys.public_key, public_key.as_ref()].concat();
    let keying_material: [u8; KEYING_MATERIAL_BYTES] = derive(&keys.auth, &secret, &info)?;
    let content_key: [u8; CONTENT_KEY_BYTES] = derive(salt, &keying_material, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; NONCE_BYTES] = derive(salt, &keying_material, b"Content-Encoding: nonce\0")?;
    let content_key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &content_key).map_err(Error::internal)?);
    let mut record = [notification, &[LAST_RECORD]].concat();
    content_key
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)
        .map_err(Error::internal)?;
    let key_size = u8::try_from(public_key.as_ref().len()).map_err(Error::internal)?;
    Ok([salt.as_slice(), &RECORD_SIZE.to_be_bytes(), &[key_size], public_key.as_ref(), &record].concat())
}

/// The size of a key that HKDF derives.
struct Size(usize);

impl KeyType for Size {
    fn len(&self) -> usize {
        self.0
    }
}

/// Derives a key with HKDF (RFC 5869).
fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> Result<[u8; N], Error> {
    let mut key = [0; N];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(secret);
    let expanded = [info];
    let expanded = extracted.expand(&expanded, Size(N)).map_err(Error::internal)?;
    expanded.fill(&mut key).map_err(Error::internal)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    #[test]
    fn encryption_has_the_result_of_the_rfc() {
        // RFC 8291, appendix A.
        let keys = BrowserKeys {
            public_key: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            )
            .try_into()
            .unwrap(),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg").try_into().unwrap(),
        };
        let private_key =
            PrivateKey::from_private_key(&ECDH_P256, &bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")).unwrap();
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let text = b"When I grow up, I want to be a watermelon";
        let encrypted = encrypt_with(&keys, text, &private_key, &salt).unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(encrypted),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn each_notification_is_encrypted_differently() {
        let browser = PrivateKey::generate(&ECDH_P256).unwrap();
        let public_key = browser.compute_public_key().unwrap().as_ref().try_into().unwrap();
        let keys = BrowserKeys { public_key, auth: [7; 16] };
        assert_ne!(encrypt(&keys, b"Hi").unwrap(), encrypt(&keys, b"Hi").unwrap());
        let no_point = BrowserKeys { public_key: [4; 65], auth: [7; 16] };
        assert!(encrypt(&no_point, b"Hi").is_err());
    }
}
