//! Which files an account accepts.

use crate::domain::files::file_type::FileType;
use crate::domain::named::Named;

const MEBIBYTE: u64 = 1024 * 1024;
/// The highest limit that an admin can set. S3 copies a file of this size within seconds.
pub const MAX_FILE_BYTES: u64 = 100 * MEBIBYTE;
const DEFAULT_MAX_FILE_BYTES: u64 = 20 * MEBIBYTE;
/// Ten years, like the longest retention period.
pub const MAX_LINK_DAYS: u64 = 3_653;
const DEFAULT_LINK_DAYS: u32 = 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSettings {
    pub enabled: bool,
    pub max_size_bytes: u64,
    /// In the order of [`FileType`].
    pub types: Vec<FileType>,
    /// How long the links work that integrators, bots and webhooks get. The console and the widget renew theirs.
    pub link_days: u32,
}

impl Default for FileSettings {
    fn default() -> Self {
        let types = FileType::ALL.iter().copied().filter(|file_type| file_type.is_allowed_by_default()).collect();
        Self { enabled: true, max_size_bytes: DEFAULT_MAX_FILE_BYTES, types, link_days: DEFAULT_LINK_DAYS }
    }
}
