//! E-mail addresses that are safe in a header, and the names in front of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const MAX_LOCAL_BYTES: usize = 64;
const MAX_DOMAIN_BYTES: usize = 253;
/// The bytes of a text in one encoded word, which has at most 75 characters (RFC 2047).
const MAX_ENCODED_WORD_BYTES: usize = 45;

/// An address of ASCII characters without quotation marks (a dot-atom of RFC 5322), so it needs no escaping and cannot
/// end a header or name a second recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox(String);

impl Mailbox {
    /// Returns `None` if the text is not such an address. Surrounding whitespace is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let address = text.trim();
        let (local, domain) = address.rsplit_once('@')?;
        (is_local_part(local) && is_domain(domain)).then(|| Self(address.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both reach the same person. Hosts that distinguish upper and lower case are not known.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    /// Returns the address with a name, as in the header `From`.
    pub fn with_name(&self, name: &str) -> String {
        format!("{} <{}>", encoded_phrase(name), self.0)
    }
}

fn is_local_part(local: &str) -> bool {
    let is_atom = |letter: u8| letter.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&letter);
    !local.is_empty()
        && local.len() <= MAX_LOCAL_BYTES
        && local.bytes().all(is_atom)
        && local.split('.').all(|atom| !atom.is_empty())
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        let is_inside = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-';
        !label.is_empty() && label.bytes().all(is_inside) && !label.starts_with('-') && !label.ends_with('-')
    };
    domain.len() <= MAX_DOMAIN_BYTES && domain.contains('.') && domain.split('.').all(is_label)
}

/// Returns a name for a header: in quotation marks if it is ASCII, and as encoded words (RFC 2047) otherwise. Control
/// characters become spaces.
fn encoded_phrase(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if name.is_ascii() {
        return format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    }
    let mut words = Vec::new();
    let mut rest = name.as_str();
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.floor_char_boundary(MAX_ENCODED_WORD_BYTES));
        words.push(format!("=?UTF-8?B?{}?=", STANDARD.encode(word)));
        rest = after;
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn address_cannot_add_a_header_or_a_recipient() {
        for address in [
            "ada@example.com\r\nBcc: eve@example.com",
            "ada@example.com, eve@example.com",
            "ada@example.com;eve@example.com",
            "\"ada\"@example.com",
            "Ada <ada@example.com>",
            "ada@example",
            "ada@-example.com",
            "ada@exa mple.com",
            "ada@@example.com",
            ".ada@example.com",
            "a..b@example.com",
            "ädä@example.com",
            "ada@exämple.com",
            "@example.com",
            "ada@",
            "",
        ] {
            assert_eq!(Mailbox::parse(address), None, "{address:?}");
        }
        assert_eq!(Mailbox::parse(" ada+shop@mail.example.com ").unwrap().as_str(), "ada+shop@mail.example.com");
        assert_eq!(Mailbox::parse(&format!("{}@example.com", "a".repeat(65))), None);
    }

    #[test]
    fn name_of_sender_is_quoted_or_encoded() {
        let mailbox = Mailbox::parse("chat@example.com").unwrap();
        assert_eq!(mailbox.with_name("Shop, \"Ltd\""), "\"Shop, \\\"Ltd\\\"\" <chat@example.com>");
        assert_eq!(mailbox.with_name("a\r\nBcc: b"), "\"a  Bcc: b\" <chat@example.com>");
        assert_eq!(mailbox.with_name("Bücher"), "=?UTF-8?B?QsO8Y2hlcg==?= <chat@example.com>");
        let long = mailbox.with_name(&"ü".repeat(60));
        assert!(long.split(' ').all(|word| word.len() <= 75) && long.matches("=?UTF-8?B?").count() == 3, "{long}");
    }

    #[test]
    fn case_does_not_distinguish_addresses() {
        let [one, other] = ["Ada@Example.com", "ada@example.COM"].map(|it| Mailbox::parse(it).unwrap());
        assert!(one.is_same_as(&other));
        assert!(!one.is_same_as(&Mailbox::parse("bob@example.com").unwrap()));
    }
}
