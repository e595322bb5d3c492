//! Links to files. Whoever has a link can open the file, without signing in, until the link ends. The link is signed
//! with a key of the account, so it needs no item in a table.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::domain::timestamp::Timestamp;

/// The block size of SHA-256, which is the size of a key of HMAC.
const KEY_BYTES: usize = 64;

/// The key with which an account signs its links.
#[derive(Clone, PartialEq, Eq)]
pub struct FileLinkKey(pub [u8; KEY_BYTES]);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLink {
    pub account_id: String,
    pub file_id: String,
    /// Unix time in seconds.
    pub until: u64,
}

impl FileLink {
    /// Returns the path of the link with its signature.
    pub fn signed_path(&self, key: &FileLinkKey) -> String {
        let Self { account_id, file_id, until } = self;
        format!(
            "/files/{account_id}/{file_id}/{until}/{}",
            URL_SAFE_NO_PAD.encode(self.mac(key).finalize().into_bytes())
        )
    }

    /// Whether the signature is right and the link has not ended.
    pub fn is_valid(&self, signature: &str, key: &FileLinkKey, now: Timestamp) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        self.until >= now.seconds() && self.mac(key).verify_slice(&signature).is_ok()
    }

    /// Returns when a link ends, without checking its signature. `None` if the URL has another form.
    pub fn end_of(url: &str) -> Option<Timestamp> {
        url.rsplit('/').nth(1)?.parse().ok().map(Timestamp::from_seconds)
    }

    fn mac(&self, key: &FileLinkKey) -> Hmac<Sha256> {
        let Self { account_id, file_id, until } = self;
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&key.0.into());
        mac.update(format!("file\n{account_id}\n{file_id}\n{until}").as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn link_opens_its_file_until_it_ends() {
        let key = FileLinkKey([7; KEY_BYTES]);
        let link = FileLink { account_id: "acc".into(), file_id: "f".into(), until: 100 };
        let path = link.signed_path(&key);
        let signature = path.rsplit('/').next().unwrap();
        assert_eq!(path, format!("/files/acc/f/100/{signature}"));
        assert!(link.is_valid(signature, &key, Timestamp(100_000)));
        assert!(!link.is_valid(signature, &key, Timestamp(101_000)), "ended");
        assert!(!link.is_valid(signature, &FileLinkKey([8; KEY_BYTES]), Timestamp(0)), "another account");
        assert!(!link.is_valid("", &key, Timestamp(0)));
        for changed in [
            FileLink { until: 101, ..link.clone() },
            FileLink { file_id: "g".into(), ..link.clone() },
            FileLink { account_id: "bcc".into(), ..link.clone() },
        ] {
            assert!(!changed.is_valid(signature, &key, Timestamp(0)), "{changed:?}");
        }
    }
}
