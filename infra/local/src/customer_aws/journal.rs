//! The file with the roles of customers and with what has arrived, one JSON value in each line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TrustPolicy;
use crate::file_store::make_private_file;
use crate::log::LogSink;

/// Without a file, nothing is written.
#[derive(Default)]
pub(super) struct Journal(Option<File>);

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Role(TrustPolicy),
    Received {
        /// Milliseconds since 1970, by the clock of the host.
        at_ms: u64,
        received: Value,
    },
}

impl Journal {
    /// Opens the file, creating it if it is missing. Also returns what it contains. A line that a killed host has not
    /// completed is ignored.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<Line>)> {
        make_private_file(path)?;
        let text = std::fs::read_to_string(path)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut file = OpenOptions::new().append(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok((Self(Some(file)), lines))
    }

    pub fn append(&mut self, line: &Line) {
        let Some(file) = &mut self.0 else { return };
        let written = serde_json::to_string(line).map_err(io::Error::from);
        // A single write, so that a host that is killed rarely leaves an incomplete line, which `open` ignores.
        let written = written.and_then(|text| file.write_all(format!("{text}\n").as_bytes()));
        if let Err(error) = written {
            LogSink::Stderr.line("customer-aws", &format!("what a customer has received is not kept: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn roles_and_messages_survive_a_killed_host() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines.len(), 0);
        let (role_arn, external_id) = ("role".to_owned(), "id".to_owned());
        journal.append(&Line::Role(TrustPolicy { role_arn, external_id, is_silent: false }));
        journal.append(&Line::Received { at_ms: 7, received: json!({"body": "one"}) });
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"received\": {").unwrap();

        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.append(&Line::Received { at_ms: 8, received: json!("two") });
        let (_, lines) = Journal::open(&path).unwrap();
        let [Line::Role(policy), Line::Received { at_ms, received }, Line::Received { at_ms: 8, .. }] =
            lines.as_slice()
        else {
            panic!("{} lines", lines.len())
        };
        assert_eq!((policy.role_arn.as_str(), policy.external_id.as_str()), ("role", "id"));
        assert_eq!((*at_ms, received), (7, &json!({"body": "one"})));
    }
}
