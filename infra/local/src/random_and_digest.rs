//! Generates random values and computes digests, as lowercase hexadecimal text.

use sha2::{Digest, Sha256};

#[derive(Debug, thiserror::Error)]
#[error("the operating system cannot provide random numbers: {0}")]
pub struct RandomError(#[from] getrandom::Error);

/// Returns `N` random bytes as `2 * N` characters.
pub fn random_hex<const N: usize>() -> Result<String, RandomError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(encode(&bytes))
}

#[must_use]
pub fn sha256_hex(text: &str) -> String {
    encode(&Sha256::digest(text))
}

fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_equals_output_of_sha256sum() {
        assert_eq!(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
