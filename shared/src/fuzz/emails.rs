//! Fuzzes the sources of received e-mails, the addresses to which they were sent, and the events of SES.

use crate::domain::email::received::ReceivedEmail;
use crate::domain::email::reply_address::ReplyToken;
use crate::domain::files::file_link::FileLinkKey;
use crate::fuzz::{NOW, targets};
use crate::wire::email_event;
use crate::wire::sample_data;

targets!(received_email, reply_address, ses_event);

const MAX_TEXT_BYTES: usize = 10_000;

fn received_email(input: &[u8]) {
    let Ok(email) = ReceivedEmail::parse(input, MAX_TEXT_BYTES) else { return };
    assert!(!email.text.is_empty() && email.text.len() <= MAX_TEXT_BYTES && email.text == email.text.trim());
    assert!(!email.message_id.is_empty() && !email.text.contains('\0'));
    assert!(email.from.as_str().is_ascii() && !email.from.as_str().contains(['\r', '\n', ' ', ',']));
}

/// Nobody can make an address that is valid for a chat without the key of its account.
fn reply_address(input: &[u8]) {
    let Some(token) = ReplyToken::parse(&String::from_utf8_lossy(input), "mail.example.com") else { return };
    assert!(!token.is_valid(&sample_data::chat(NOW), &FileLinkKey([7; 64]), NOW));
}

fn ses_event(input: &[u8]) {
    let Ok(event) = serde_json::from_slice(input) else { return };
    for notice in email_event::read(event).unwrap_or_default() {
        assert!(notice.object_key().starts_with("mail/") && !notice.object_key().contains(".."));
    }
}
