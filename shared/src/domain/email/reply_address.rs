//! The addresses to which visitors reply. An address is signed with a key of the account and ends after 90 days, so it
//! needs no item in a table, and nobody can make one for another chat.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::domain::chats::chat::Chat;
use crate::domain::email::mailbox::Mailbox;
use crate::domain::files::file_link::FileLinkKey;
use crate::domain::timestamp::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a visitor can reply to an e-mail.
const VALID_DAYS: u64 = 90;
const PREFIX: &str = "reply+";
/// Base32 (RFC 4648) in lower case, because some mail servers change the case of addresses.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const SIGNATURE_BYTES: usize = 10;
const DAY_BYTES: usize = 2;
const CHAT_BYTES: usize = 5;

/// What a reply address says. The signature is not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyToken {
    pub account_id: String,
    pub chat_id: u64,
    /// The last day on which the address is valid, in days since 1970.
    last_day: u16,
    signature: [u8; SIGNATURE_BYTES],
}

impl ReplyToken {
    /// Returns the address for a reply to the visitor's chat. `None` if the numbers do not fit into an address.
    pub fn address(chat: &Chat, key: &FileLinkKey, mail_domain: &str, now: Timestamp) -> Option<Mailbox> {
        let last_day = u16::try_from(day_of(now) + VALID_DAYS).ok()?;
        let signature = signature(chat, last_day, key);
        let [_, _, _, chat_id @ ..] = chat.chat_id.to_be_bytes();
        let bytes = [&signature, last_day.to_be_bytes().as_slice(), &chat_id, chat.account_id.as_bytes()].concat();
        Mailbox::parse(&format!("{PREFIX}{}@{mail_domain}", encode(&bytes)))
    }

    /// Reads the token in an address. `None` if the address has another form or domain.
    pub fn parse(address: &str, mail_domain: &str) -> Option<Self> {
        let address = address.trim().to_ascii_lowercase();
        let (local, domain) = address.rsplit_once('@')?;
        let bytes = decode(local.strip_prefix(PREFIX)?).filter(|_| domain.eq_ignore_ascii_case(mail_domain))?;
        let (signature, rest) = bytes.split_first_chunk::<SIGNATURE_BYTES>()?;
        let (last_day, rest) = rest.split_first_chunk::<DAY_BYTES>()?;
        let (chat_id, account_id) = rest.split_first_chunk::<CHAT_BYTES>()?;
        let chat_id = chat_id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let account_id = String::from_utf8(account_id.to_vec()).ok().filter(|id| !id.is_empty())?;
        Some(Self { account_id, chat_id, last_day: u16::from_be_bytes(*last_day), signature: *signature })
    }

    /// Whether the address was made for this chat of this visitor, and is still valid.
    pub fn is_valid(&self, chat: &Chat, key: &FileLinkKey, now: Timestamp) -> bool {
        let is_of_chat = self.account_id == chat.account_id && self.chat_id == chat.chat_id;
        let mac = mac(chat, self.last_day, key);
        is_of_chat && day_of(now) <= u64::from(self.last_day) && mac.verify_truncated_left(&self.signature).is_ok()
    }
}

fn day_of(at: Timestamp) -> u64 {
    at.seconds() / DAY.as_secs()
}

fn signature(chat: &Chat, last_day: u16, key: &FileLinkKey) -> [u8; SIGNATURE_BYTES] {
    let hash = mac(chat, last_day, key).finalize().into_bytes();
    hash.first_chunk().copied().unwrap_or_default()
}

/// The first line distinguishes the signature from those of links to files, which have the same key.
fn mac(chat: &Chat, last_day: u16, key: &FileLinkKey) -> Hmac<Sha256> {
    let Chat { account_id, channel_id, chat_id, visitor_number, .. } = chat;
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&key.0.into());
    mac.update(format!("reply\n{account_id}\n{channel_id}\n{visitor_number}\n{chat_id}\n{last_day}").as_bytes());
    mac
}

fn encode(bytes: &[u8]) -> String {
    let bit = |index: usize| bytes.get(index / 8).map_or(0, |byte| byte >> (7 - index % 8) & 1);
    let letters = (0..(bytes.len() * 8).div_ceil(5)).map(|letter| {
        let index = (0..5).fold(0, |value, offset| value << 1 | usize::from(bit(letter * 5 + offset)));
        char::from(ALPHABET.get(index).copied().unwrap_or_default())
    });
    letters.collect()
}

/// Returns `None` if a letter is not in the alphabet, or if two texts would stand for the same bytes.
fn decode(text: &str) -> Option<Vec<u8>> {
    let values: Option<Vec<u8>> = text.bytes().map(value_of).collect();
    let values = values?;
    let bit = |index: usize| values.get(index / 5).map_or(0, |value| value >> (4 - index % 5) & 1);
    let bytes: Vec<u8> = (0..values.len() * 5 / 8)
        .map(|byte| (0..8).fold(0, |value, offset| value << 1 | bit(byte * 8 + offset)))
        .collect();
    (encode(&bytes) == text).then_some(bytes)
}

fn value_of(letter: u8) -> Option<u8> {
    ALPHABET.iter().position(|other| *other == letter).and_then(|index| u8::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::sample_data;

    const KEY: FileLinkKey = FileLinkKey([7; 64]);
    const DOMAIN: &str = "mail.example.com";
    const NOW: Timestamp = Timestamp(1_764_000_000_000);

    fn chat() -> Chat {
        Chat { account_id: "k3bX9qTzB2cdFGhj".into(), chat_id: 1 << 33, ..sample_data::chat(NOW) }
    }

    #[test]
    fn address_leads_to_its_chat_until_it_ends() {
        let address = ReplyToken::address(&chat(), &KEY, DOMAIN, NOW).unwrap();
        let (local, _) = address.as_str().split_once('@').unwrap();
        assert!(local.len() <= 64, "{local}");
        for spelling in [address.as_str().to_owned(), address.as_str().to_ascii_uppercase()] {
            let token = ReplyToken::parse(&spelling, DOMAIN).unwrap();
            assert_eq!((&*token.account_id, token.chat_id), ("k3bX9qTzB2cdFGhj", 1 << 33));
            assert!(token.is_valid(&chat(), &KEY, NOW.plus(DAY * 90)));
            assert!(!token.is_valid(&chat(), &KEY, NOW.plus(DAY * 91)), "ended");
            assert!(!token.is_valid(&chat(), &FileLinkKey([8; 64]), NOW), "another account");
        }
    }

    #[test]
    fn address_of_another_chat_or_visitor_is_refused() {
        let address = ReplyToken::address(&chat(), &KEY, DOMAIN, NOW).unwrap();
        let token = ReplyToken::parse(address.as_str(), DOMAIN).unwrap();
        for other in [
            Chat { chat_id: 7, ..chat() },
            Chat { visitor_number: 77, ..chat() },
            Chat { channel_id: "other".into(), ..chat() },
            Chat { account_id: "other".into(), ..chat() },
        ] {
            assert!(!token.is_valid(&other, &KEY, NOW), "{other:?}");
        }
        assert!(!ReplyToken { last_day: token.last_day + 1, ..token.clone() }.is_valid(&chat(), &KEY, NOW));
        assert!(!ReplyToken { signature: [0; SIGNATURE_BYTES], ..token }.is_valid(&chat(), &KEY, NOW));
    }

    #[test]
    fn other_addresses_have_no_token() {
        for address in ["", "chat@mail.example.com", "reply+@mail.example.com", "reply+abc@mail.example.com", "reply+!"]
        {
            assert_eq!(ReplyToken::parse(address, DOMAIN), None, "{address}");
        }
        let address = ReplyToken::address(&chat(), &KEY, DOMAIN, NOW).unwrap();
        assert_eq!(ReplyToken::parse(address.as_str(), "other.example.com"), None);
    }

    #[test]
    fn bytes_are_encoded_in_one_way() {
        for bytes in [vec![], vec![0], vec![255; 7], (0..40).collect::<Vec<u8>>()] {
            assert_eq!(decode(&encode(&bytes)).unwrap(), bytes);
        }
        assert_eq!(encode(b"foobar"), "mzxw6ytboi", "the test vector of RFC 4648");
        assert_eq!(decode("mzxw6ytboj"), None, "unused bits");
    }
}
