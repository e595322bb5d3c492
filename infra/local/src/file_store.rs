//! What outlives one run: the data folder and its private files.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Why the data folder or one of its files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be made.
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file in or beside the folder cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no random numbers to give.
    #[error("no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

/// Where a run keeps what it must remember.
#[derive(Debug)]
pub enum Home {
    /// Nowhere: the next run starts empty.
    Memory,
    /// In a folder.
    Folder(PathBuf),
}

impl Home {
    /// Makes the folder when it is missing.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        match private_folder(&path) {
            Ok(()) => Ok(Self::Folder(path)),
            Err(source) => Err(Error::Folder { path, source }),
        }
    }

    /// What an earlier run kept under this name.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn recall(&self, name: &str) -> Result<Option<String>, Error> {
        let Self::Folder(folder) = self else { return Ok(None) };
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    /// Keeps a text under this name for the next run, readable by this user alone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), Error> {
        match self {
            Self::Memory => Ok(()),
            Self::Folder(folder) => write_private(&folder.join(name), text),
        }
    }

    /// Takes what an earlier run kept under this name out of the way, as `{aside}.json`, or with a number when that name
    /// is taken. Returns the new name.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn set_aside(&self, name: &str, aside: &str) -> Result<String, Error> {
        let Self::Folder(folder) = self else { return Ok(name.to_owned()) };
        let numbered = (2..).map(|n| format!("{aside}-{n}.json"));
        let mut names = std::iter::once(format!("{aside}.json")).chain(numbered);
        let free = names.find(|name| !folder.join(name).exists()).unwrap_or_default();
        let path = folder.join(name);
        fs::rename(&path, folder.join(&free)).map_err(|source| Error::File { path, source })?;
        Ok(free)
    }

    /// The operator's key of this store, made at the first run.
    ///
    /// # Errors
    /// It can be neither read nor kept.
    pub fn operator_key(&self) -> Result<String, Error> {
        const FILE: &str = "operator.key";
        if let Some(key) = self.recall(FILE)? {
            return Ok(key.trim().to_owned());
        }
        let key = random_hex::<32>()?;
        self.keep(FILE, &key)?;
        Ok(key)
    }
}

/// `N` random bytes in hex.
///
/// # Errors
/// The system has no random numbers to give.
pub fn random_hex<const N: usize>() -> Result<String, Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// The digest of a key as template parameters hold it: SHA-256 in lower-case hex.
#[must_use]
pub fn sha256_hex(key: &str) -> String {
    hex(&Sha256::digest(key))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a folder for this user alone when it is missing: chats and secrets will lie in it. One that is there stays as
/// its owner made it.
///
/// # Errors
/// It cannot be made.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file for this user alone. It appears whole or not at all, so a reader that polls for it never
/// sees half of it.
///
/// # Errors
/// The file cannot be written.
pub fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let draft = PathBuf::from(draft);
    private_file(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, path))
        .map_err(|source| Error::File { path: path.to_owned(), source })
}

/// A new file. One that was left there would keep the owner and the mode it has.
fn private_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_operator_key_is_kept_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let key = Home::open(folder.path().to_owned()).unwrap().operator_key().unwrap();
        assert_eq!(key.len(), 64);
        assert_eq!(Home::open(folder.path().to_owned()).unwrap().operator_key().unwrap(), key);
        assert_eq!(mode(&folder.path().join("operator.key")), 0o600);
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_data_folder_is_made_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/data");
        Home::open(path.clone()).unwrap();
        assert_eq!(mode(&path), 0o700);
    }

    #[test]
    fn a_draft_that_was_left_lends_its_mode_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let draft = folder.path().join("note.draft");
        fs::write(&draft, "left").unwrap();
        fs::set_permissions(&draft, PermissionsExt::from_mode(0o666)).unwrap();
        Home::open(folder.path().to_owned()).unwrap().keep("note", "secret").unwrap();
        assert_eq!(mode(&folder.path().join("note")), 0o600);
    }

    #[test]
    fn what_is_set_aside_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path().to_owned()).unwrap();
        for (text, expected) in [("one", "old.json"), ("two", "old-2.json"), ("three", "old-3.json")] {
            home.keep("note", text).unwrap();
            assert_eq!(home.set_aside("note", "old").unwrap(), expected);
            assert_eq!(home.recall(expected).unwrap().unwrap(), text);
        }
        assert_eq!(home.recall("note").unwrap(), None);
    }

    #[test]
    fn in_memory_every_run_has_its_own_key() {
        assert_ne!(Home::Memory.operator_key().unwrap(), Home::Memory.operator_key().unwrap());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_one_clear_line() {
        let error = Home::open(PathBuf::from("/dev/null/data")).unwrap_err().to_string();
        assert!(error.starts_with("cannot use the data folder /dev/null/data: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn a_shorter_text_replaces_a_longer_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path().to_owned()).unwrap();
        home.keep("note", "a long first text").unwrap();
        home.keep("note", "short").unwrap();
        assert_eq!(home.recall("note").unwrap().unwrap(), "short");
    }

    #[test]
    fn a_digest_is_what_sha256sum_prints() {
        assert_eq!(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
