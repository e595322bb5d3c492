//! SHA-256 hashes without a salt. They protect only those secrets that are too random to be guessed.

use sha2::{Digest, Sha256};

pub fn digest(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(bytes.as_ref()).into()
}

/// Returns the [`digest`] in lower-case hexadecimal.
pub fn hex_digest(bytes: impl AsRef<[u8]>) -> String {
    digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_matches_published_test_vector() {
        assert_eq!(hex_digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
