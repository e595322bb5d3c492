//! The types of files that the service knows, and whether the beginning of a file has the type that its sender
//! declares.
//!
//! The list is closed: a type that a browser would execute, such as HTML or SVG, is not in it. A file of another type
//! can be sent as [`FileType::Other`] if the account allows it; it is only ever downloaded.

use crate::domain::chats::media::MediaType;
use crate::domain::named::named;

/// How many bytes of a file are read to recognise its type, and the dimensions of an image. Cameras write up to four
/// blocks of metadata of 64 KB each before the dimensions.
pub const SNIFFED_BYTES: u64 = 256 * 1024;
/// The maximum number of pixels of an image, so that a small file cannot use up the memory of the browsers that show
/// it. It is the number of pixels of the largest cameras of telephones.
const MAX_IMAGE_PIXELS: u64 = 200_000_000;
/// The maximum width and height of a thumbnail in pixels.
pub const MAX_THUMBNAIL_SIDE: u64 = 320;

named! {
    /// The type of a file, with its media type.
    pub enum FileType as UploadType {
        Png = "image/png",
        Jpeg = "image/jpeg",
        Gif = "image/gif",
        Webp = "image/webp",
        Mp3 = "audio/mpeg",
        AudioMp4 = "audio/mp4",
        OggAudio = "audio/ogg",
        Wav = "audio/wav",
        WebmAudio = "audio/webm",
        Mp4 = "video/mp4",
        Webm = "video/webm",
        QuickTime = "video/quicktime",
        Pdf = "application/pdf",
        Text = "text/plain",
        Csv = "text/csv",
        Zip = "application/zip",
        Word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Excel = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        PowerPoint = "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        Other = "application/octet-stream",
    }
}

/// What a browser does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFamily {
    Image,
    Audio,
    Video,
    /// The file is downloaded and never shown.
    Download,
}

/// The dimensions of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    pub width: u64,
    pub height: u64,
}

/// Why a file is not what its sender says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMismatch {
    /// The content has another type.
    Type,
    /// The dimensions of the image cannot be read, or it has too many pixels.
    Dimensions,
}

impl FileType {
    pub fn family(self) -> FileFamily {
        match self {
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp => FileFamily::Image,
            Self::Mp3 | Self::AudioMp4 | Self::OggAudio | Self::Wav | Self::WebmAudio => FileFamily::Audio,
            Self::Mp4 | Self::Webm | Self::QuickTime => FileFamily::Video,
            Self::Pdf
            | Self::Text
            | Self::Csv
            | Self::Zip
            | Self::Word
            | Self::Excel
            | Self::PowerPoint
            | Self::Other => FileFamily::Download,
        }
    }

    /// Whether the type can be allowed without a further decision of the admin.
    pub fn is_allowed_by_default(self) -> bool {
        self != Self::Other
    }

    /// Returns the media type with which the file is served. A file that is downloaded has none that a browser could
    /// show.
    pub fn served_media_type(self) -> &'static str {
        if self.family() == FileFamily::Download { Self::Other.name() } else { self.name() }
    }

    /// Whether a message of this type can contain such a file.
    pub fn fits(self, media_type: MediaType) -> bool {
        match media_type {
            MediaType::Photo | MediaType::Sticker => self.family() == FileFamily::Image,
            MediaType::Video => self.family() == FileFamily::Video,
            MediaType::Audio | MediaType::Voice => self.family() == FileFamily::Audio,
            MediaType::Document => true,
            MediaType::Location => false,
        }
    }

    /// Checks the beginning of a file. Returns the dimensions of an image, and `None` for other files.
    pub fn check(self, beginning: &[u8]) -> Result<Option<ImageSize>, FileMismatch> {
        if !self.matches(beginning) {
            return Err(FileMismatch::Type);
        }
        if self.family() == FileFamily::Image { image_size(beginning).map(Some) } else { Ok(None) }
    }

    fn matches(self, beginning: &[u8]) -> bool {
        let sniffed = infer::get(beginning).map(|found| found.mime_type());
        match self {
            // Text has no signature, and its first letters can look like one.
            Self::Text | Self::Csv => is_text(beginning),
            Self::Other => true,
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp | Self::Mp3 | Self::Webm | Self::Pdf | Self::Zip => {
                sniffed == Some(self.name())
            }
            Self::Wav => sniffed == Some("audio/x-wav"),
            Self::OggAudio => matches!(sniffed, Some("audio/ogg" | "audio/opus")),
            Self::Mp4 => matches!(sniffed, Some("video/mp4" | "video/x-m4v")),
            Self::QuickTime => sniffed == Some(self.name()),
            // Containers do not tell whether they have pictures.
            Self::AudioMp4 => matches!(sniffed, Some("audio/m4a" | "video/mp4")),
            Self::WebmAudio => sniffed == Some(Self::Webm.name()),
            // The files inside an Office document can be in an order in which only the ZIP file is recognised.
            Self::Word | Self::Excel | Self::PowerPoint => {
                sniffed.is_some_and(|sniffed| sniffed == self.name() || sniffed == Self::Zip.name())
            }
        }
    }
}

/// Whether the bytes are UTF-8 without control characters. The last character may be cut.
fn is_text(beginning: &[u8]) -> bool {
    let text = match std::str::from_utf8(beginning) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            let valid = beginning.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty()
        && text.chars().all(|letter| !letter.is_control() || matches!(letter, '\t' | '\n' | '\r' | '\u{c}'))
}

fn image_size(beginning: &[u8]) -> Result<ImageSize, FileMismatch> {
    let size = imagesize::blob_size(beginning).map_err(|_| FileMismatch::Dimensions)?;
    let size = ImageSize { width: size.width as u64, height: size.height as u64 };
    let has_pixels = size.width > 0 && size.height > 0;
    let is_showable = has_pixels && size.width.saturating_mul(size.height) <= MAX_IMAGE_PIXELS;
    if is_showable { Ok(size) } else { Err(FileMismatch::Dimensions) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::named::Named;

    /// A PNG file that ends after its header.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let header =
            [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes()].concat();
        [header.as_slice(), &[8, 2, 0, 0, 0], &[0; 4]].concat()
    }

    #[test]
    fn image_has_its_declared_type_and_a_showable_size() {
        let size = ImageSize { width: 640, height: 480 };
        assert_eq!(FileType::Png.check(&png(640, 480)), Ok(Some(size)));
        assert_eq!(FileType::Jpeg.check(&png(640, 480)), Err(FileMismatch::Type));
        assert_eq!(FileType::Png.check(&png(60_000, 60_000)), Err(FileMismatch::Dimensions));
        assert_eq!(FileType::Png.check(&png(0, 7)), Err(FileMismatch::Dimensions));
        assert_eq!(FileType::Png.check(b"\x89PNG\r\n\x1a\n"), Err(FileMismatch::Dimensions));
    }

    #[test]
    fn text_has_no_control_characters() {
        assert_eq!(FileType::Text.check("BM is not a picture: ü\n".as_bytes()), Ok(None));
        assert_eq!(FileType::Csv.check("a;b\r\nü".as_bytes().split_at(6).0), Ok(None), "a cut character");
        for binary in [png(1, 1).as_slice(), b"a\0b", b"", b"\xff\xfea"] {
            assert_eq!(FileType::Text.check(binary), Err(FileMismatch::Type), "{binary:?}");
        }
    }

    #[test]
    fn documents_are_served_for_download_only() {
        for file_type in FileType::ALL {
            let is_shown = file_type.family() != FileFamily::Download;
            assert_eq!(file_type.served_media_type() == file_type.name(), is_shown || *file_type == FileType::Other);
        }
        assert!(FileType::Pdf.fits(MediaType::Document) && !FileType::Pdf.fits(MediaType::Photo));
        assert_eq!(FileType::parse("image/svg+xml"), None);
        assert_eq!(FileType::parse("text/html"), None);
    }

    #[test]
    fn svg_and_html_are_no_images() {
        for text in ["<svg xmlns='http://www.w3.org/2000/svg'/>", "<!doctype html><script>1</script>"] {
            for file_type in FileType::ALL.iter().filter(|it| it.family() != FileFamily::Download) {
                assert_eq!(file_type.check(text.as_bytes()), Err(FileMismatch::Type), "{text}");
            }
        }
    }
}
