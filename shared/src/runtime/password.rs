//! Password hashing with argon2id. The parameters are those that OWASP recommends (19 MiB, 2 passes, 1 lane), which are
//! also the defaults of the `argon2` crate.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::domain::accounts::password_policy::{NewPassword, PasswordHash as StoredHash};
use crate::error::{Error, ErrorContext};

/// Returns what is stored of a new password.
pub fn hash_new(password: &NewPassword) -> Result<StoredHash, Error> {
    Ok(StoredHash { text: hash(&password.text)?, must_change: password.must_change })
}

/// Returns the hash in the PHC string format, which contains the salt and the parameters.
pub fn hash(password: &str) -> Result<String, Error> {
    let hash =
        Argon2::default().hash_password(password.as_bytes()).map_err(|e| Error::Internal(ErrorContext::new(e)))?;
    Ok(hash.to_string())
}

/// Whether the password matches the stored hash. `None` means that no agent has the e-mail address. A hash is then
/// checked all the same, so that the response time does not reveal whether the address is known.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let parsed = PasswordHash::new(stored.unwrap_or(UNKNOWN_USER_HASH));
    let matches = parsed.is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
    matches && stored.is_some()
}

/// A well-formed hash that no known password matches. It has the parameters that [`hash`] uses, so checking it takes
/// the same time.
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
