//! The CloudFront distribution that may stand in front of the HTTP API. It adds headers about the viewer, which any
//! client could send to the API directly. They are believed only beside the secret that the distribution sends.

use lambda_http::http::HeaderMap;

use crate::domain::sha256;
use crate::runtime::config;
use crate::runtime::random_ids_and_secrets::equals_in_constant_time;

/// The header in which the distribution sends its secret. CloudFront replaces a value that the viewer sent.
const SECRET_HEADER: &str = "x-origin-secret";

/// The hashes of the secrets that prove that a request came through the distribution. There are none on a stack without
/// a distribution, and several while a secret is being replaced.
#[derive(Default)]
pub(super) struct Distribution {
    secret_hashes: Vec<[u8; 32]>,
}

impl Distribution {
    pub fn read() -> Self {
        Self::with_secrets(&config::origin_secrets())
    }

    fn with_secrets(secrets: &[String]) -> Self {
        Self { secret_hashes: secrets.iter().map(sha256::digest).collect() }
    }

    /// Returns whether the distribution sent the request.
    pub fn sent(&self, headers: &HeaderMap) -> bool {
        let Some(secret) = headers.get(SECRET_HEADER) else { return false };
        let hash = sha256::digest(secret);
        self.secret_hashes.iter().fold(false, |is_valid, expected| is_valid | equals_in_constant_time(expected, &hash))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_configured_secret_is_accepted() {
        let sent = |secrets: &[&str], header: Option<&str>| {
            let secrets: Vec<_> = secrets.iter().map(|&secret| secret.to_owned()).collect();
            let headers = header.map(|value| (SECRET_HEADER.parse().unwrap(), value.parse().unwrap()));
            Distribution::with_secrets(&secrets).sent(&headers.into_iter().collect())
        };
        assert!(sent(&["new", "old"], Some("new")) && sent(&["new", "old"], Some("old")));
        assert!(!sent(&["new", "old"], Some("new,old")) && !sent(&["new"], Some("")) && !sent(&["new"], None));
        assert!(!sent(&[], Some("")) && !sent(&[], None));
    }
}
