//! Small private files that persist between runs, such as the operator key and the demo account. Only the current user
//! can read them.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::random_and_digest::{self, RandomError};

const OPERATOR_KEY_FILE: &str = "operator.key";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Random(#[from] RandomError),
}

#[derive(Debug)]
pub enum FileStore {
    /// Nothing is stored, so the next run starts without files.
    Memory,
    Folder(PathBuf),
}

impl FileStore {
    /// Opens a folder, creating it if it is missing.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        match create_private_folder(&path) {
            Ok(()) => Ok(Self::Folder(path)),
            Err(source) => Err(Error::Folder { path, source }),
        }
    }

    /// Returns a file's contents, or `None` if the file does not exist.
    pub fn read(&self, name: &str) -> Result<Option<String>, Error> {
        let Self::Folder(folder) = self else { return Ok(None) };
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    /// Writes a file, and replaces an existing file of this name. Without a folder, nothing is written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        match self {
            Self::Memory => Ok(()),
            Self::Folder(folder) => write_private_file(&folder.join(name), text),
        }
    }

    /// Renames a file to `{new_stem}.json`. If that name is in use, tries `{new_stem}-2.json` and so on. Returns the
    /// new name. Without a folder, there is nothing to rename, so `name` is returned.
    pub fn rename_to_unused(&self, name: &str, new_stem: &str) -> Result<String, Error> {
        let Self::Folder(folder) = self else { return Ok(name.to_owned()) };
        let numbered = (2..).map(|number| format!("{new_stem}-{number}.json"));
        let mut candidates = std::iter::once(format!("{new_stem}.json")).chain(numbered);
        let unused = candidates.find(|candidate| !folder.join(candidate).exists()).unwrap_or_default();
        let path = folder.join(name);
        fs::rename(&path, folder.join(&unused)).map_err(|source| Error::File { path, source })?;
        Ok(unused)
    }

    /// Returns the operator key. The first run generates it, and later runs read it. Without a folder, every call
    /// generates a new key.
    pub fn operator_key(&self) -> Result<String, Error> {
        if let Some(key) = self.read(OPERATOR_KEY_FILE)? {
            return Ok(key.trim().to_owned());
        }
        let key = random_and_digest::random_hex::<32>()?;
        self.write(OPERATOR_KEY_FILE, &key)?;
        Ok(key)
    }
}

/// Makes sure that a folder exists and that only the current user can access it, because it will contain chats and
/// secrets. A folder that many users share, such as `/tmp`, keeps its mode; its files are private anyway.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    const STICKY: u32 = 0o1000;
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & STICKY != 0 || mode & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Makes sure that a file exists and that only the current user can access it. Its content is not changed.
pub(crate) fn make_private_file(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))
}

/// Writes a file that only the current user can access. The file appears only when it is complete, so a process that
/// waits for the file never reads it half-written.
pub fn write_private_file(path: &Path, text: &str) -> Result<(), Error> {
    let mut temporary_path = path.as_os_str().to_owned();
    temporary_path.push(".tmp");
    let temporary_path = PathBuf::from(temporary_path);
    create_private_file(&temporary_path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary_path, path))
        .map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Creates a file that only the current user can access. Removes an existing file first, because writing to it would
/// keep its owner and mode.
fn create_private_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn operator_key_persists_with_private_mode() {
        let folder = tempfile::tempdir().unwrap();
        let key = FileStore::open(folder.path().to_owned()).unwrap().operator_key().unwrap();
        assert_eq!(key.len(), 64);
        assert_eq!(FileStore::open(folder.path().to_owned()).unwrap().operator_key().unwrap(), key);
        assert_eq!(mode(&folder.path().join("operator.key")), 0o600);
    }

    #[test]
    fn new_folder_has_private_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/data");
        FileStore::open(path.clone()).unwrap();
        assert_eq!(mode(&path), 0o700);
    }

    #[test]
    fn existing_folder_becomes_private_unless_users_share_it() {
        let folder = tempfile::tempdir().unwrap();
        for (before, after) in [(0o755, 0o700), (0o1777, 0o777), (0o500, 0o500)] {
            fs::set_permissions(folder.path(), PermissionsExt::from_mode(before)).unwrap();
            FileStore::open(folder.path().to_owned()).unwrap();
            assert_eq!(mode(folder.path()), after);
        }
    }

    #[test]
    fn leftover_temporary_file_does_not_pass_on_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let leftover = folder.path().join("note.tmp");
        fs::write(&leftover, "leftover").unwrap();
        fs::set_permissions(&leftover, PermissionsExt::from_mode(0o666)).unwrap();
        FileStore::open(folder.path().to_owned()).unwrap().write("note", "secret").unwrap();
        assert_eq!(mode(&folder.path().join("note")), 0o600);
    }

    #[test]
    fn renaming_never_overwrites_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path().to_owned()).unwrap();
        for (text, expected) in [("one", "old.json"), ("two", "old-2.json"), ("three", "old-3.json")] {
            store.write("note", text).unwrap();
            assert_eq!(store.rename_to_unused("note", "old").unwrap(), expected);
            assert_eq!(store.read(expected).unwrap().unwrap(), text);
        }
        assert_eq!(store.read("note").unwrap(), None);
    }

    #[test]
    fn memory_store_has_a_new_key_in_every_run() {
        assert_ne!(FileStore::Memory.operator_key().unwrap(), FileStore::Memory.operator_key().unwrap());
    }

    #[test]
    fn folder_error_is_one_line() {
        let error = FileStore::open(PathBuf::from("/dev/null/data")).unwrap_err().to_string();
        assert!(error.starts_with("cannot use the data folder /dev/null/data: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn shorter_text_replaces_a_longer_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path().to_owned()).unwrap();
        store.write("note", "a long first text").unwrap();
        store.write("note", "short").unwrap();
        assert_eq!(store.read("note").unwrap().unwrap(), "short");
    }
}
