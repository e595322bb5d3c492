//! The part of the settings that says which files an account accepts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::files::file_settings::{self, MAX_FILE_BYTES, MAX_LINK_DAYS};
use crate::domain::files::file_type::FileType;
use crate::domain::named::Named;
use crate::wire::fields::values::{Change, List, Name, Whole};

const MAX_TYPES: usize = 40;

/// Which files agents, visitors and bots may upload. Absent fields stay unchanged; null resets a field to its default.
#[derive(Clone, Deserialize, JsonSchema)]
pub(super) struct FileSettingsChanges {
    #[serde(default)]
    enabled: Change<bool>,
    /// Bytes.
    #[serde(default)]
    max_size_bytes: Change<Whole<1, MAX_FILE_BYTES>>,
    /// Only images, audio and video are shown; files of the other types are downloaded.
    #[serde(default)]
    types: Change<List<Name<FileType>, MAX_TYPES>>,
    /// How long the links work that integrators, bots and webhooks get.
    #[serde(default)]
    link_days: Change<Whole<1, MAX_LINK_DAYS>>,
}

impl FileSettingsChanges {
    pub fn applied_to(self, before: &file_settings::FileSettings) -> file_settings::FileSettings {
        let Self { enabled, max_size_bytes, types, link_days } = self;
        let default = file_settings::FileSettings::default();
        let listed = |List(names): List<Name<FileType>, MAX_TYPES>| {
            FileType::ALL.iter().copied().filter(|file_type| names.contains(&Name(*file_type))).collect()
        };
        file_settings::FileSettings {
            enabled: enabled.applied_or_reset(before.enabled, default.enabled),
            max_size_bytes: max_size_bytes
                .map(|Whole(bytes)| bytes)
                .applied_or_reset(before.max_size_bytes, default.max_size_bytes),
            types: types.map(listed).applied_or_reset(before.types.clone(), default.types),
            link_days: link_days.map(Whole::to_u32).applied_or_reset(before.link_days, default.link_days),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FileSettings {
    enabled: bool,
    #[schemars(range(min = 1, max = MAX_FILE_BYTES))]
    max_size_bytes: u64,
    #[schemars(length(max = MAX_TYPES))]
    types: Vec<Name<FileType>>,
    #[schemars(range(min = 1, max = MAX_LINK_DAYS))]
    link_days: u32,
}

impl From<&file_settings::FileSettings> for FileSettings {
    fn from(settings: &file_settings::FileSettings) -> Self {
        let file_settings::FileSettings { enabled, max_size_bytes, types, link_days } = settings;
        Self {
            enabled: *enabled,
            max_size_bytes: *max_size_bytes,
            types: types.iter().copied().map(Name).collect(),
            link_days: *link_days,
        }
    }
}
