//! Messages that contain a file or a place (specification, table A3).

use crate::domain::files::upload::UploadedFiles;
use crate::domain::named::named;

named! {
    /// The type of a message that contains a file or a place.
    pub enum MediaType {
        Video = "video",
        Audio = "audio",
        Voice = "voice",
        Photo = "photo",
        Sticker = "sticker",
        Document = "document",
        Location = "location",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct MediaMessage {
    pub media_type: MediaType,
    /// The caption.
    pub text: Option<String>,
    pub media: Media,
    /// The files in the bucket, if the sender has uploaded them. In a message that has just been parsed, they are those
    /// that the sender names. `None` if the file is at an address of the sender.
    pub uploaded: Option<UploadedFiles>,
}

/// A field of a [`Media`], by its format in the APIs.
pub enum MediaField<'a> {
    Url(&'a mut Option<String>),
    Text(&'a mut Option<String>),
    /// A whole number above zero.
    Count(&'a mut Option<u64>),
    Latitude(&'a mut Option<f64>),
    Longitude(&'a mut Option<f64>),
}

/// Declares [`Media`] and the list of its fields.
macro_rules! media {
    ($($name:ident: $format:ident($type:ty),)+) => {
        /// The file or place in a message. Sizes are in bytes, durations in seconds, dimensions in pixels and
        /// coordinates in degrees. Which fields are set depends on the message type; see the `wire` module.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Media { $(pub $name: Option<$type>,)+ }

        impl Media {
            /// Returns the fields with their names in the APIs and in stored items.
            pub fn fields_mut(&mut self) -> Vec<(&'static str, MediaField<'_>)> {
                vec![$((stringify!($name), MediaField::$format(&mut self.$name)),)+]
            }
        }
    };
}

media! {
    file: Url(String),
    thumb: Url(String),
    emoji: Text(String),
    file_size: Count(u64),
    file_name: Text(String),
    duration: Count(u64),
    width: Count(u64),
    height: Count(u64),
    performer: Text(String),
    title: Text(String),
    latitude: Latitude(f64),
    longitude: Longitude(f64),
}

impl Media {
    /// Returns the URL of the file, or the coordinates.
    pub fn to_plain_text(&self) -> Option<String> {
        let location =
            || self.latitude.zip(self.longitude).map(|(latitude, longitude)| format!("{latitude},{longitude}"));
        self.file.clone().or_else(location)
    }
}
