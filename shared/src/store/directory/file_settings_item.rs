//! Which files an account accepts, as a part of the stored settings. It is absent while the account uses the defaults.

use serde::{Deserialize, Serialize};

use crate::domain::files::file_settings::FileSettings;
use crate::domain::files::file_type::FileType;

#[derive(Serialize, Deserialize)]
pub(super) struct FileSettingsItem {
    enabled: bool,
    max_size_bytes: u64,
    types: Vec<String>,
    link_days: u32,
}

impl FileSettingsItem {
    pub fn of(settings: &FileSettings) -> Option<Self> {
        let FileSettings { enabled, max_size_bytes, ref types, link_days } = *settings;
        let types = types.iter().map(|file_type| file_type.name().to_owned()).collect();
        (*settings != FileSettings::default()).then_some(Self { enabled, max_size_bytes, types, link_days })
    }
}

impl From<FileSettingsItem> for FileSettings {
    /// A type that the service no longer knows is left out, because an error would make all requests of the account
    /// fail.
    fn from(FileSettingsItem { enabled, max_size_bytes, types, link_days }: FileSettingsItem) -> Self {
        let types = types.iter().filter_map(|name| FileType::parse(name)).collect();
        Self { enabled, max_size_bytes, types, link_days }
    }
}
