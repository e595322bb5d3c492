//! The e-mails that functions have sent, and the file that keeps them, one JSON value in each line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::file_store::make_private_file;
use crate::log::LogSink;

/// The number of e-mails that are kept in memory.
const MAX_EMAILS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SentEmail {
    pub id: String,
    /// Milliseconds since 1970, by the clock of the host.
    pub at_ms: u64,
    pub from: String,
    pub to: Vec<String>,
    pub reply_to: Vec<String>,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The further headers, as names and values.
    pub headers: Vec<(String, String)>,
}

/// Clones share the e-mails.
#[derive(Clone, Default)]
pub(crate) struct SentEmails(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    emails: Vec<SentEmail>,
    /// Without a file, nothing is written.
    file: Option<File>,
}

/// Opens the file, creating it if it is missing, and reads the e-mails in it. A line that a killed host has not completed
/// is ignored.
pub(crate) fn open(path: Option<&Path>) -> io::Result<SentEmails> {
    let Some(path) = path else { return Ok(SentEmails::default()) };
    make_private_file(path)?;
    let text = std::fs::read_to_string(path)?;
    let emails = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut file = OpenOptions::new().append(true).open(path)?;
    if !text.is_empty() && !text.ends_with('\n') {
        file.write_all(b"\n")?;
    }
    Ok(SentEmails(Arc::new(Mutex::new(Kept { emails, file: Some(file) }))))
}

impl SentEmails {
    /// Returns the e-mails, the last one first.
    pub fn newest_first(&self) -> Vec<SentEmail> {
        self.lock().emails.iter().rev().cloned().collect()
    }

    pub fn get(&self, id: &str) -> Option<SentEmail> {
        self.lock().emails.iter().find(|email| email.id == id).cloned()
    }

    pub fn add(&self, email: SentEmail) {
        let mut kept = self.lock();
        let line = serde_json::to_string(&email).map_err(io::Error::from);
        let written = match &mut kept.file {
            Some(file) => line.and_then(|line| file.write_all(format!("{line}\n").as_bytes())),
            None => Ok(()),
        };
        if let Err(error) = written {
            LogSink::Stderr.line("ses", &format!("a sent e-mail is not kept: {error}"));
        }
        kept.emails.push(email);
        if kept.emails.len() > MAX_EMAILS {
            kept.emails.remove(0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sent_emails_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ses.jsonl");
        let email = |id: &str| SentEmail {
            id: id.to_owned(),
            at_ms: 1,
            from: "chat@mail.localhost".to_owned(),
            to: vec!["ada@example.com".to_owned()],
            reply_to: Vec::new(),
            subject: "Hello".to_owned(),
            text: "Hi\n".to_owned(),
            html: String::new(),
            headers: Vec::new(),
        };
        let emails = open(Some(&path)).unwrap();
        emails.add(email("1"));
        emails.add(email("2"));
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\"").unwrap();
        let again = open(Some(&path)).unwrap();
        again.add(email("3"));
        let ids: Vec<_> = open(Some(&path)).unwrap().newest_first().into_iter().map(|email| email.id).collect();
        assert_eq!(ids, ["3", "2", "1"]);
        assert_eq!(again.get("2"), Some(email("2")));
    }
}
