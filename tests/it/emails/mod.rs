//! E-mails: transcripts of chats, answers to visitors who have left, and their replies. The local host shows e-mails
//! instead of sending them.

mod answers_and_replies;
mod fixture;
mod settings;
mod transcripts;
