//! Password hashing with argon2id. The parameters are those that OWASP recommends (19 MiB, 2 passes, 1 lane), which are
//! also the defaults of the `argon2` crate.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::error::{Error, ErrorContext};

/// Hashes a password. Returns the hash in the PHC string format, ready to be stored.
pub fn hash(password: &str) -> Result<String, Error> {
    let hash =
        Argon2::default().hash_password(password.as_bytes()).map_err(|e| Error::Internal(ErrorContext::new(e)))?;
    Ok(hash.to_string())
}

/// Whether the password matches the stored hash. `None` means that there is no agent with the e-mail address. In that
/// case the same work is done, so that a login with an unknown e-mail address takes as long as one with a wrong
/// password.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let parsed = PasswordHash::new(stored.unwrap_or(UNKNOWN_USER_HASH));
    let matches = parsed.is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
    matches && stored.is_some()
}

/// A well-formed hash with the parameters that [`hash`] uses. The password is checked against it if there is no stored
/// hash. No known password matches it.
const UNKNOWN_USER_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$c3dpdGNoYm9hcmQtbm9ib2R5$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_the_right_password_matches_a_hash() {
        let stored = hash("correct horse").unwrap();
        assert!(verify("correct horse", Some(&stored)));
        assert!(!verify("battery staple", Some(&stored)));
        assert!(!verify("correct horse", None));
    }

    #[test]
    fn unknown_user_takes_as_long_as_a_known_one() {
        let stored = hash("x").unwrap();
        let parameters = |hash: &str| PasswordHash::new(hash).unwrap().params.to_string();
        assert_eq!(parameters(UNKNOWN_USER_HASH), parameters(&stored));
    }
}
