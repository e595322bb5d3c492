//! Uploads: the form with which somebody sends a file to the bucket, and the message that then takes the file over.
//!
//! What a form stores is *pending*. When a message names it, its content is checked, and it is copied to the files that
//! are in messages, with the type and the name under which it is served. A file is copied only once: a later use of the
//! same form changes nothing of a file that was sent.

use std::time::Duration;

use futures_util::future::join_all;

use crate::domain::chats::media::MediaMessage;
use crate::domain::chats::message_content::Content;
use crate::domain::files::file_name::FileName;
use crate::domain::files::file_settings::FileSettings;
use crate::domain::files::file_type::{FileMismatch, FileType, ImageSize, MAX_THUMBNAIL_SIDE, SNIFFED_BYTES};
use crate::domain::files::upload::{NewUpload, UploadedFiles, Uploader, pending_key, sent_key};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::file_bucket::{FileBeginning, FileBucket, ServedAs, UploadForm};
use crate::runtime::random_ids_and_secrets::random_identifier;
use crate::service::file_links::FileLinks;
use crate::wire::fields::urls::WebUrl;
use crate::wire::uploads::{Upload, UploadRequest, UploadTarget};

/// How long a form can be used. A slow upload may take longer; only its start counts.
const FORM_LIFETIME: Duration = Duration::from_secs(15 * 60);
const MISSING: &str = "must be a file that you have uploaded in the last day";

/// Returns the forms for a file and its preview.
pub fn create_upload(
    bucket: &FileBucket,
    uploader: &Uploader,
    (request, settings): (UploadRequest, &FileSettings),
    now: Timestamp,
) -> Result<Upload, Error> {
    let (file, thumb) = request.checked(settings)?;
    let (file, expires_at) = target(bucket, uploader, &file, now)?;
    let thumb = thumb.map(|thumb| target(bucket, uploader, &thumb, now)).transpose()?;
    Ok(Upload::new(file, thumb.map(|(target, _)| target), expires_at))
}

fn target(
    bucket: &FileBucket,
    uploader: &Uploader,
    new: &NewUpload,
    now: Timestamp,
) -> Result<(UploadTarget, Timestamp), Error> {
    let file_id = uploader.file_id(&(random_identifier()? + &random_identifier()?));
    let described = (new.file_type.name(), &*new.name.percent_encoded(), new.size);
    let key = pending_key(&uploader.account_id, &file_id);
    let UploadForm { url, fields, expires_at } = bucket.form(&key, described, (now, FORM_LIFETIME))?;
    let file_name = new.name.as_str().to_owned();
    Ok((UploadTarget { file_id, file_name, url: WebUrl(url), fields: fields.into_iter().collect() }, expires_at))
}

/// Takes over the files of messages.
pub struct FileReceiver<'a> {
    pub bucket: &'a FileBucket,
    pub links: FileLinks<'a>,
    /// The path of the message in the request, with a dot at its end, or nothing.
    pub path: &'static str,
}

/// The files that a message has taken over, until it is known whether the message was stored.
#[must_use]
#[derive(Default)]
pub struct TakenFiles {
    account_id: String,
    /// Those that this request has copied.
    file_ids: Vec<String>,
}

/// A file that is now one of the files in messages.
struct PlacedFile {
    file_type: FileType,
    name: FileName,
    size: u64,
    image: Option<ImageSize>,
}

impl FileReceiver<'_> {
    /// Checks the files that a message names, and completes the message. Does nothing if it names none.
    ///
    /// # Errors
    /// Fails with an error of the field if a file is missing, belongs to another uploader, or has another type than its
    /// sender has declared. Such a file is deleted.
    pub async fn take(&self, uploader: &Uploader, content: &mut Content) -> Result<TakenFiles, Error> {
        let Content::Media(message) = content else { return Ok(TakenFiles::default()) };
        let Some(uploaded) = message.uploaded.clone() else { return Ok(TakenFiles::default()) };
        let mut taken = TakenFiles { account_id: uploader.account_id.clone(), file_ids: Vec::new() };
        let placed = self.place_all(uploader, &uploaded, message, &mut taken).await;
        let completed = match placed {
            Ok(()) => self.links.set(&uploader.account_id, content).await,
            Err(error) => Err(error),
        };
        if let Err(error) = completed {
            taken.finish(self.bucket, MessageFate::Rejected).await;
            return Err(error);
        }
        Ok(taken)
    }

    async fn place_all(
        &self,
        uploader: &Uploader,
        uploaded: &UploadedFiles,
        message: &mut MediaMessage,
        taken: &mut TakenFiles,
    ) -> Result<(), Error> {
        let file = self.place(uploader, &uploaded.file_id, "file_id", taken).await?;
        if !file.file_type.fits(message.media_type) {
            let reason = format!("does not fit a file of the type {}", file.file_type.name());
            return Err(self.invalid("type", &reason));
        }
        if let Some(thumb_id) = &uploaded.thumb_id {
            let thumb = self.place(uploader, thumb_id, "thumb_id", taken).await?;
            let fits = |size: ImageSize| size.width.max(size.height) <= MAX_THUMBNAIL_SIDE;
            if !thumb.image.is_some_and(fits) {
                return Err(self.invalid("thumb_id", "must be an image of at most 320 pixels"));
            }
        }
        let media = &mut message.media;
        media.file_name = Some(file.name.as_str().to_owned());
        media.file_size = Some(file.size);
        if let Some(size) = file.image {
            media.width = media.width.or(Some(size.width));
            media.height = media.height.or(Some(size.height));
        }
        Ok(())
    }

    /// Checks a file and copies it, unless it is already among those that were sent, as in a repeated request.
    async fn place(
        &self,
        uploader: &Uploader,
        file_id: &str,
        field: &str,
        taken: &mut TakenFiles,
    ) -> Result<PlacedFile, Error> {
        if !uploader.owns(file_id) {
            return Err(self.invalid(field, MISSING));
        }
        let (pending, sent) = (pending_key(&uploader.account_id, file_id), sent_key(&uploader.account_id, file_id));
        if let Some(sent) = self.bucket.read_beginning(&sent, SNIFFED_BYTES).await? {
            return described(&sent).map_err(|mismatch| self.mismatch(field, mismatch));
        }
        let beginning = self.bucket.read_beginning(&pending, SNIFFED_BYTES).await?;
        let beginning = beginning.ok_or_else(|| self.invalid(field, MISSING))?;
        let placed = match described(&beginning) {
            Ok(placed) => placed,
            Err(mismatch) => {
                self.bucket.delete(&pending).await?;
                return Err(self.mismatch(field, mismatch));
            }
        };
        let served_as = ServedAs {
            content_type: placed.file_type.served_media_type(),
            content_disposition: &placed.name.content_disposition(placed.file_type),
            name: &beginning.name,
        };
        if !self.bucket.copy(&pending, &beginning.etag, &sent, &served_as).await? {
            return Err(self.invalid(field, MISSING));
        }
        taken.file_ids.push(file_id.to_owned());
        Ok(placed)
    }

    fn invalid(&self, field: &str, reason: &str) -> Error {
        Error::field(format!("{}{field}", self.path), reason)
    }

    fn mismatch(&self, field: &str, mismatch: FileMismatch) -> Error {
        self.invalid(
            field,
            match mismatch {
                FileMismatch::Type => "must have the type with which it was uploaded",
                FileMismatch::Dimensions => "must be an image that browsers can show",
            },
        )
    }
}

fn described(beginning: &FileBeginning) -> Result<PlacedFile, FileMismatch> {
    let file_type = FileType::parse(&beginning.content_type).ok_or(FileMismatch::Type)?;
    let name = percent_encoding::percent_decode_str(&beginning.name).decode_utf8_lossy();
    let image = file_type.check(&beginning.bytes)?;
    Ok(PlacedFile { file_type, name: FileName::new(&name), size: beginning.size, image })
}

/// What became of a message with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFate {
    Stored,
    /// The message was not stored.
    Rejected,
    /// The message may have been stored, by this request or by another one for the same message.
    Unknown,
}

impl MessageFate {
    pub fn of<T>(result: &Result<T, Error>) -> Self {
        match result {
            Ok(_) => Self::Stored,
            Err(Error::Unavailable(_) | Error::Internal(_)) => Self::Unknown,
            Err(_) => Self::Rejected,
        }
    }
}

impl TakenFiles {
    /// Deletes the pending files of a stored message, and the copies of a rejected one. A failure is only logged: the
    /// bucket deletes pending files itself, and a copy that remains is in no message.
    pub async fn finish(self, bucket: &FileBucket, fate: MessageFate) {
        let Self { account_id, file_ids } = self;
        let key = match fate {
            MessageFate::Stored => pending_key,
            MessageFate::Rejected => sent_key,
            MessageFate::Unknown => return,
        };
        let delete = |file_id: &String| {
            let key = key(&account_id, file_id);
            async move { bucket.delete(&key).await }
        };
        for error in join_all(file_ids.iter().map(delete)).await.into_iter().filter_map(Result::err) {
            tracing::warn!(context = error.context(), account_id, "uploaded file not deleted");
        }
    }
}
