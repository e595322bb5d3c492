//! E-mails to agents and visitors, and the replies of visitors.
//!
//! # Layout
//! - [`email_settings`]: what an account sends
//! - [`mailbox`]: addresses that are safe in the headers of an e-mail
//! - [`outgoing`]: an e-mail before it is sent
//! - [`chat_emails`]: the transcript of a chat, and the answers of agents to a visitor who has left
//! - [`reply_address`]: the signed addresses to which visitors reply
//! - [`received`]: a received e-mail, and the reasons for which it is refused
//! - [`quoted_text`]: what a person has written in a reply, without what it quotes

pub mod chat_emails;
pub mod email_settings;
pub mod mailbox;
pub mod outgoing;
pub mod quoted_text;
pub mod received;
pub mod reply_address;
