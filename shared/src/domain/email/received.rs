//! A received e-mail. It is refused unless it comes from the visitor to whom the service has written.

use mail_parser::{Address, HeaderValue, Message, MessageParser, PartType};

use crate::domain::chats::message_content::truncate_bytes;
use crate::domain::email::mailbox::Mailbox;
use crate::domain::email::quoted_text::{html_before_quotation, without_quoted_text};
use crate::domain::named::named;

/// Attachments are not stored, so a larger e-mail has no use. It is less than what SES accepts.
pub const MAX_EMAIL_BYTES: u64 = 10 * 1024 * 1024;

/// More of a text is not examined. A message has less.
const MAX_TEXT_BYTES: usize = 200 * 1024;

named! {
    /// Why an e-mail is refused. Nobody is told, because the sender may be forged.
    pub enum Refusal {
        /// No address of the recipients is a reply address with a valid signature, or it has ended.
        Token = "token",
        TooLarge = "too_large",
        /// The e-mail cannot be read, or has not exactly one sender.
        Unreadable = "unreadable",
        /// The sender's domain has not sent it.
        Authentication = "authentication",
        Virus = "virus",
        Spam = "spam",
        /// A program has sent it, for example an auto-reply.
        Automatic = "automatic",
        /// Another address than that of the visitor has sent it.
        Sender = "sender",
        /// The account or its channel does not receive e-mails any more.
        SwitchedOff = "switched_off",
        /// Nothing is left without what it quotes.
        Empty = "empty",
        /// An agent has blacklisted the visitor.
        Blacklisted = "blacklisted",
    }
}

named! {
    /// What SES says about an e-mail.
    pub enum Verdict {
        Pass = "PASS",
        Fail = "FAIL",
        /// The domain has no policy.
        Gray = "GRAY",
        ProcessingFailed = "PROCESSING_FAILED",
    }
}

/// The checks of SES. `None` if SES has not made a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts {
    pub spf: Option<Verdict>,
    pub dkim: Option<Verdict>,
    pub dmarc: Option<Verdict>,
    pub spam: Option<Verdict>,
    pub virus: Option<Verdict>,
}

impl Verdicts {
    /// # Errors
    /// Fails if the e-mail contains a virus, is spam, or violates the policy of the sender's domain, and if neither the
    /// signature nor the server of the sender is right.
    pub fn require_authentic(&self) -> Result<(), Refusal> {
        let is_passed = |verdict: Option<Verdict>| verdict == Some(Verdict::Pass);
        if self.virus == Some(Verdict::Fail) {
            return Err(Refusal::Virus);
        }
        if self.spam == Some(Verdict::Fail) {
            return Err(Refusal::Spam);
        }
        let is_sent_by_domain = is_passed(self.spf) || is_passed(self.dkim);
        if self.dmarc == Some(Verdict::Fail) || !is_sent_by_domain { Err(Refusal::Authentication) } else { Ok(()) }
    }
}

/// The folder of the bucket in which SES stores received e-mails. A rule of the bucket deletes them after a week.
const MAIL_PREFIX: &str = "mail";

/// What SES tells about an e-mail that it has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailNotice {
    /// The id of the e-mail in SES and of its object in the bucket.
    pub email_id: String,
    /// The recipients for whom SES has accepted it.
    pub recipients: Vec<String>,
    pub verdicts: Verdicts,
}

impl EmailNotice {
    pub fn object_key(&self) -> String {
        format!("{MAIL_PREFIX}/{}", self.email_id)
    }
}

/// An e-mail of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedEmail {
    /// The `Message-ID`, by which a repeated e-mail is recognized.
    pub message_id: String,
    pub from: Mailbox,
    /// What the person has written, without what it quotes.
    pub text: String,
}

impl ReceivedEmail {
    /// Reads an e-mail. The text has at most `max_bytes` bytes.
    ///
    /// # Errors
    /// Fails if the e-mail cannot be read, if a program has sent it, or if nothing but quoted text is in it.
    pub fn parse(bytes: &[u8], max_bytes: usize) -> Result<Self, Refusal> {
        let message = MessageParser::default().parse(bytes).ok_or(Refusal::Unreadable)?;
        if is_automatic(&message) {
            return Err(Refusal::Automatic);
        }
        let from = single_sender(&message).ok_or(Refusal::Unreadable)?;
        let message_id = message.message_id().filter(|id| !id.is_empty()).ok_or(Refusal::Unreadable)?.to_owned();
        let text = written_text(&message).replace('\0', "");
        let text = truncate_bytes(text.trim(), max_bytes).to_owned();
        if text.is_empty() { Err(Refusal::Empty) } else { Ok(Self { message_id, from, text }) }
    }
}

/// Whether the headers say that no person has written the e-mail (RFC 3834, and what servers do in practice).
fn is_automatic(message: &Message<'_>) -> bool {
    let header = |name: &str| message.header_raw(name).unwrap_or_default().trim().to_ascii_lowercase();
    let is_submitted_by_program = !["", "no"].contains(&header("Auto-Submitted").as_str());
    let is_bulk = ["auto_reply", "bulk", "junk", "list"].contains(&header("Precedence").as_str());
    let has_marker = ["X-Autoreply", "X-Autorespond", "List-Id"].iter().any(|name| !header(name).is_empty());
    // A report that an e-mail could not be delivered has an empty return path.
    is_submitted_by_program || is_bulk || has_marker || header("Return-Path") == "<>"
}

fn single_sender(message: &Message<'_>) -> Option<Mailbox> {
    let froms = message.headers().iter().filter(|header| header.name.as_str().eq_ignore_ascii_case("from"));
    let [header] = froms.collect::<Vec<_>>()[..] else { return None };
    let HeaderValue::Address(Address::List(addresses)) = &header.value else { return None };
    let [address] = addresses.as_slice() else { return None };
    Mailbox::parse(address.address.as_deref()?)
}

/// Returns the text of the first body. An e-mail that has only HTML is converted.
fn written_text(message: &Message<'_>) -> String {
    let parts = message.text_bodies().next().map(|part| &part.body);
    match parts {
        Some(PartType::Text(text)) => without_quoted_text(truncate_bytes(text, MAX_TEXT_BYTES)),
        Some(PartType::Html(html)) => {
            let text = mail_parser::decoders::html::html_to_text(html_before_quotation(html));
            without_quoted_text(truncate_bytes(&text, MAX_TEXT_BYTES))
        }
        Some(PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_))
        | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const MAX_BYTES: usize = 1_000;

    fn email(headers: &str, body: &str) -> String {
        format!("From: Ada <ada@example.com>\r\nMessage-ID: <1@example.com>\r\n{headers}\r\n{body}")
    }

    fn parse(text: &str) -> Result<ReceivedEmail, Refusal> {
        ReceivedEmail::parse(text.as_bytes(), MAX_BYTES)
    }

    #[test]
    fn text_is_preferred_and_html_is_converted() {
        let both = "Content-Type: multipart/alternative; boundary=b\r\n";
        let body = "--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYes, ü\r\n\r\n> quoted\r\n\
                    --b\r\nContent-Type: text/html\r\n\r\n<p>Yes</p>\r\n--b--\r\n";
        let received = parse(&email(both, body)).unwrap();
        assert_eq!((&*received.text, &*received.message_id), ("Yes, ü", "1@example.com"));
        assert_eq!(received.from.as_str(), "ada@example.com");
        let html = "Content-Type: text/html\r\n";
        let received = parse(&email(html, "<p>Yes &amp; no</p><div class=\"gmail_quote\">Hi</div>")).unwrap();
        assert_eq!(received.text, "Yes & no");
    }

    #[test]
    fn encoded_text_is_decoded() {
        let headers = "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n";
        assert_eq!(parse(&email(headers, "Gr=FC=DFe")).unwrap().text, "Grüße");
        let headers = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n";
        assert_eq!(parse(&email(headers, "R3LDvMOfZQ==")).unwrap().text, "Grüße");
    }

    #[test]
    fn auto_replies_and_reports_are_refused() {
        for header in [
            "Auto-Submitted: auto-replied",
            "Precedence: bulk",
            "Precedence: auto_reply",
            "X-Autoreply: yes",
            "Return-Path: <>",
            "List-Id: <news.example.com>",
        ] {
            assert_eq!(parse(&email(&format!("{header}\r\n"), "I am away")), Err(Refusal::Automatic), "{header}");
        }
        assert!(parse(&email("Auto-Submitted: no\r\nReturn-Path: <ada@example.com>\r\n", "Yes")).is_ok());
    }

    #[test]
    fn ambiguous_sender_is_refused() {
        for from in [
            "",
            "From: Ada <ada@example.com>, Eve <eve@example.com>\r\n",
            "From: ada@example.com\r\nFrom: eve@example.com\r\n",
            "From: nobody\r\n",
        ] {
            let text = format!("{from}Message-ID: <1@example.com>\r\n\r\nYes");
            assert_eq!(parse(&text), Err(Refusal::Unreadable), "{from}");
        }
        assert_eq!(parse("From: ada@example.com\r\n\r\nYes"), Err(Refusal::Unreadable), "no id");
    }

    #[test]
    fn reply_without_new_text_is_refused() {
        for body in ["", "   \r\n", "> only quoted\r\n", "-- \r\nAda\r\n"] {
            assert_eq!(parse(&email("", body)), Err(Refusal::Empty), "{body:?}");
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let received = parse(&email("Content-Type: text/plain; charset=utf-8\r\n", &"ü".repeat(MAX_BYTES))).unwrap();
        assert_eq!(received.text, "ü".repeat(MAX_BYTES / 2));
    }

    #[test]
    fn forged_sender_is_refused() {
        let (pass, fail, gray) = (Some(Verdict::Pass), Some(Verdict::Fail), Some(Verdict::Gray));
        let verdicts = |spf, dkim, dmarc| Verdicts { spf, dkim, dmarc, spam: pass, virus: pass };
        for accepted in [verdicts(pass, pass, pass), verdicts(fail, pass, gray), verdicts(pass, gray, gray)] {
            assert_eq!(accepted.require_authentic(), Ok(()), "{accepted:?}");
        }
        for refused in [verdicts(pass, pass, fail), verdicts(fail, fail, gray), verdicts(gray, None, pass)] {
            assert_eq!(refused.require_authentic(), Err(Refusal::Authentication), "{refused:?}");
        }
        let clean = verdicts(pass, pass, pass);
        assert_eq!(Verdicts { virus: fail, ..clean }.require_authentic(), Err(Refusal::Virus));
        assert_eq!(Verdicts { spam: fail, ..clean }.require_authentic(), Err(Refusal::Spam));
    }
}
