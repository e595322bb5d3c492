//! The rules for new passwords. They apply when a password is set, and never at sign-in, so older passwords stay valid.
//!
//! The list of common passwords contains only those that the other rules allow. It is part of the binary, because a
//! crate with a complete dictionary would add a megabyte to every function that sets passwords.

use std::ops::RangeInclusive;

/// The lengths that a password may have, in characters.
pub const PASSWORD_CHARS: RangeInclusive<usize> = 12..=254;
/// A password that consists of repetitions of at most this number of characters counts as common: `abcabcabcabc`.
const MAX_REPEATED_CHARS: usize = 4;
/// One password a line, in lower case and sorted.
const COMMON_PASSWORDS: &str = include_str!("common_passwords.txt");

/// A password that an admin or the operator sets for an agent.
pub struct NewPassword {
    /// The password in plain text. Only its hash is stored.
    pub text: String,
    /// Whether the agent must replace the password at the first sign-in.
    pub must_change: bool,
}

/// What is stored of a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordHash {
    /// Computed by [`crate::runtime::password`].
    pub text: String,
    pub must_change: bool,
}

/// Why a password cannot be set. The text completes a sentence that starts with the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("must have at least {} characters", PASSWORD_CHARS.start())]
    TooShort,
    #[error("must have at most {} characters", PASSWORD_CHARS.end())]
    TooLong,
    #[error("must not contain control characters")]
    ControlCharacter,
    #[error("must not consist of blanks")]
    Blank,
    #[error("is too common; choose one that is harder to guess")]
    Common,
    #[error("must not be the e-mail address")]
    EmailAddress,
}

/// Checks a new password. `email` is the e-mail address that it belongs to, if the caller knows it.
pub fn check_new_password(password: &str, email: Option<&str>) -> Result<(), WeakPassword> {
    let chars = password.chars().count();
    if chars < *PASSWORD_CHARS.start() {
        return Err(WeakPassword::TooShort);
    }
    if chars > *PASSWORD_CHARS.end() {
        return Err(WeakPassword::TooLong);
    }
    if password.chars().any(char::is_control) {
        return Err(WeakPassword::ControlCharacter);
    }
    if password.chars().all(char::is_whitespace) {
        return Err(WeakPassword::Blank);
    }
    let lower_case = password.to_lowercase();
    if email.is_some_and(|email| email.to_lowercase() == lower_case) {
        return Err(WeakPassword::EmailAddress);
    }
    if is_repetition(&lower_case) || COMMON_PASSWORDS.lines().any(|common| common == lower_case) {
        return Err(WeakPassword::Common);
    }
    Ok(())
}

/// Whether the text repeats its first few characters to the end.
fn is_repetition(text: &str) -> bool {
    (1..=MAX_REPEATED_CHARS).any(|period| text.chars().zip(text.chars().skip(period)).all(|(one, next)| one == next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_passwords_are_refused_with_their_reason() {
        let table = [
            ("password", WeakPassword::TooShort),
            ("elevenchars", WeakPassword::TooShort),
            ("Password1234", WeakPassword::Common),
            ("CorrectHorseBatteryStaple", WeakPassword::Common),
            ("aaaaaaaaaaaa", WeakPassword::Common),
            ("xyXyxyxyxyxyx", WeakPassword::Common),
            ("            ", WeakPassword::Blank),
            ("\u{a0}\u{2003}          ", WeakPassword::Blank),
            ("\0\0\0\0\0\0\0\0\0\0\0\0", WeakPassword::ControlCharacter),
            ("tulips\u{7}in the rain", WeakPassword::ControlCharacter),
            ("Ada@Shop.Example", WeakPassword::EmailAddress),
        ];
        for (password, reason) in table {
            assert_eq!(check_new_password(password, Some("ada@shop.example")), Err(reason), "{password:?}");
        }
        assert_eq!(check_new_password(&"ab cd ef".repeat(40), None), Err(WeakPassword::TooLong));
        for password in ["tulips in the rain", "пароль из шести слов", "x7#Kq9!mW2zB", "ada@shop.example"]
        {
            assert_eq!(check_new_password(password, None), Ok(()), "{password}");
        }
    }

    #[test]
    fn common_passwords_are_in_lower_case_and_long_enough_to_be_chosen() {
        let listed: Vec<&str> = COMMON_PASSWORDS.lines().collect();
        assert!(listed.is_sorted() && listed.len() > 400, "{}", listed.len());
        for password in listed {
            assert_eq!(password.to_lowercase(), password);
            assert!(PASSWORD_CHARS.contains(&password.chars().count()), "{password}");
        }
    }
}
