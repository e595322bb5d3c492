//! An upload: a file that a browser or a bot is going to send to the bucket, and that a message then names.

use crate::domain::files::file_name::FileName;
use crate::domain::files::file_type::FileType;
use crate::domain::sha256;

/// Where the bucket keeps what has been uploaded but is in no message. A rule of the bucket deletes it after a day.
pub const PENDING_PREFIX: &str = "pending";
/// Where the bucket keeps the files of messages.
pub const SENT_PREFIX: &str = "files";
/// In letters of the hash of the uploader.
const UPLOADER_CHARS: usize = 16;
/// In letters and digits of the random part of an id, after the hash of the uploader and a hyphen.
const RANDOM_CHARS: usize = 32;

/// A file that somebody is going to upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUpload {
    pub name: FileName,
    pub file_type: FileType,
    pub size: u64,
}

/// Who uploads a file, and for whom. Only the same uploader can send the file in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploader {
    pub account_id: String,
    hash: String,
}

impl Uploader {
    pub fn agent(account_id: &str, agent_id: u64, chat_id: u64) -> Self {
        Self::new(account_id, &format!("agent#{agent_id}#{chat_id}"))
    }

    pub fn bot(account_id: &str, bot_id: &str, chat_id: u64) -> Self {
        Self::new(account_id, &format!("bot#{bot_id}#{chat_id}"))
    }

    /// `external_id` is the hash of the visitor's token.
    pub fn visitor(account_id: &str, channel_id: &str, external_id: &str) -> Self {
        Self::new(account_id, &format!("visitor#{channel_id}#{external_id}"))
    }

    fn new(account_id: &str, name: &str) -> Self {
        let hash: String = sha256::hex_digest(format!("{account_id}#{name}")).chars().take(UPLOADER_CHARS).collect();
        Self { account_id: account_id.to_owned(), hash }
    }

    /// Returns the id of a new file. `random` has 32 letters and digits.
    pub fn file_id(&self, random: &str) -> String {
        format!("{}-{random}", self.hash)
    }

    /// Whether the id is one that this uploader got.
    pub fn owns(&self, file_id: &str) -> bool {
        let random = file_id.strip_prefix(&self.hash).and_then(|rest| rest.strip_prefix('-'));
        random.is_some_and(|random| random.len() == RANDOM_CHARS && random.bytes().all(|it| it.is_ascii_alphanumeric()))
    }
}

/// The files of a message in the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFiles {
    pub file_id: String,
    pub thumb_id: Option<String>,
}

pub fn pending_key(account_id: &str, file_id: &str) -> String {
    format!("{PENDING_PREFIX}/{account_id}/{file_id}")
}

/// Returns the key of a file that is in a message.
pub fn sent_key(account_id: &str, file_id: &str) -> String {
    format!("{SENT_PREFIX}/{account_id}/{file_id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploader_owns_only_its_own_files() {
        let uploader = Uploader::agent("acc", 7, 12);
        let file_id = uploader.file_id(&"2".repeat(RANDOM_CHARS));
        assert!(uploader.owns(&file_id));
        for other in [
            Uploader::agent("acc", 7, 13),
            Uploader::agent("acc", 8, 12),
            Uploader::agent("bcc", 7, 12),
            Uploader::bot("acc", "7", 12),
            Uploader::visitor("acc", "w", "7"),
        ] {
            assert!(!other.owns(&file_id), "{other:?}");
        }
        for broken in ["", "../x", &file_id[..20], &format!("{file_id}/..")] {
            assert!(!uploader.owns(broken), "{broken}");
        }
    }
}
