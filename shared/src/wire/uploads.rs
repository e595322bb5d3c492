//! Uploads of files, and the links to them: bodies and operations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::{Failure, Operation, Security};
use crate::domain::files::file_name::FileName;
use crate::domain::files::file_settings::{FileSettings, MAX_FILE_BYTES};
use crate::domain::files::file_type::{FileFamily, FileType, MAX_THUMBNAIL_SIDE};
use crate::domain::files::upload::NewUpload;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Name, Text, UnixSeconds, Whole};
use crate::wire::widget::VisitorToken;

const MAX_NAME_CHARS: usize = 1_000;
/// A picture of 320 pixels is smaller, unless it is noise.
pub const MAX_THUMBNAIL_BYTES: u64 = 200 * 1024;
const HOW_TO_UPLOAD: &str = "Send the file to `url` as multipart/form-data: first all `fields`, then the file as the field \
                             `file`. Then send a message with `file_id` in place of `file`. The content must have the \
                             declared type and exactly the declared size. A file that is in no message is deleted after a \
                             day. Only images, audio and video are shown; other files are downloaded.";

pub(super) fn operations() -> Vec<Operation> {
    vec![
        with_upload(Operation::post(
            "/agent/chats/{chat_id}/uploads",
            "agentUpload",
            "Prepares the upload of an agent's file",
        ))
        .body::<UploadRequest>()
        .example("photo", "A picture", sample_request())
        .fails(&[Failure::TooManyRequests]),
        with_upload(Operation::post(
            "/widget/{widget_id}/upload",
            "widgetUpload",
            "Prepares the upload of a visitor's file",
        ))
        .body::<WidgetUploadRequest>()
        .example(
            "photo",
            "A picture",
            json!({ "token": "the visitor's token", "file_name": "map.png", "type": "image/png", "file_size": 18_204 }),
        ),
        with_upload(Operation::post(
            "/bot/webhooks/{provider_id}/{token}/chats/{chat_id}/uploads",
            "botUpload",
            "Prepares the upload of a bot's file",
        ))
        .body::<UploadRequest>()
        .example("photo", "A picture", sample_request())
        .fails(&[Failure::NotFound]),
        Operation::get("/files/{account_id}/{file_id}/{until}/{signature}", "file", "Opens a file of a message")
            .secured_by(Security::Public)
            .tagged("Files")
            .describe(
                "The links in messages lead here. They work for the number of days in the setting files.link_days, and \
                 need no sign-in. The file has another origin than the service.",
            )
            .answers_empty(302, "The file, for an hour.")
            .answer_header("location", json!({ "schema": { "type": "string", "format": "uri" } }))
            .fails(&[Failure::NotFound]),
    ]
}

fn with_upload(operation: Operation) -> Operation {
    let operation = operation.describe(HOW_TO_UPLOAD).answers::<Upload>(201, "The forms with which to send the files.");
    operation.answer_example("file", None, sample_upload())
}

fn sample_request() -> Value {
    json!({ "file_name": "map.png", "type": "image/png", "file_size": 18_204 })
}

fn sample_upload() -> Value {
    json!({
        "file": {
            "file_id": "6c5a2e9d1f40b873-23456789bcdfghjk23456789bcdfghjk", "file_name": "map.png",
            "url": "https://files.s3.eu-central-1.amazonaws.com/",
            "fields": { "key": "pending/...", "Content-Type": "image/png", "policy": "...", "x-amz-signature": "..." },
        },
        "expires_at": 1_790_332_134,
    })
}

/// A file that is going to be uploaded.
#[derive(Deserialize, JsonSchema)]
pub struct UploadRequest {
    /// Without a path. Characters that could hide the extension are removed.
    file_name: Text<MAX_NAME_CHARS>,
    r#type: Name<FileType>,
    /// Bytes.
    file_size: Whole<1, MAX_FILE_BYTES>,
    /// A preview that is uploaded beside the file, at most 320 pixels wide and high.
    thumb: Option<ThumbnailRequest>,
}

#[derive(Deserialize, JsonSchema)]
struct ThumbnailRequest {
    /// The type of an image.
    r#type: Name<FileType>,
    /// Bytes.
    file_size: Whole<1, MAX_THUMBNAIL_BYTES>,
}

/// An upload of a visitor. The body is read in two parts: with `flatten`, an error would not name the field.
#[derive(JsonSchema)]
pub struct WidgetUploadRequest {
    pub token: VisitorToken,
    #[serde(flatten)]
    pub upload: UploadRequest,
}

/// The part of a visitor's upload that says who the visitor is.
#[derive(Deserialize)]
pub struct UploadingVisitor {
    pub token: VisitorToken,
}

impl UploadRequest {
    /// Returns the file and its preview, if the account accepts them.
    pub fn checked(self, settings: &FileSettings) -> Result<(NewUpload, Option<NewUpload>), Error> {
        let Self { file_name: Text(name), r#type: Name(file_type), file_size: Whole(size), thumb } = self;
        if !settings.enabled {
            return Err(Error::Forbidden("the account does not accept files"));
        }
        if !settings.types.contains(&file_type) {
            let names: Vec<_> = settings.types.iter().map(|file_type| file_type.name()).collect();
            return Err(Error::field("type", format_args!("must be one of {}", names.join(", "))));
        }
        if size > settings.max_size_bytes {
            return Err(Error::field("file_size", format_args!("must be at most {}", settings.max_size_bytes)));
        }
        let name = FileName::new(&name);
        let thumb = thumb.map(|thumb| thumb.checked(&name)).transpose()?;
        Ok((NewUpload { name, file_type, size }, thumb))
    }
}

impl ThumbnailRequest {
    fn checked(self, name: &FileName) -> Result<NewUpload, Error> {
        let Self { r#type: Name(file_type), file_size: Whole(size) } = self;
        if file_type.family() != FileFamily::Image {
            let side = MAX_THUMBNAIL_SIDE;
            return Err(Error::field("thumb.type", format_args!("must be an image of at most {side} pixels")));
        }
        Ok(NewUpload { name: name.clone(), file_type, size })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Upload {
    pub file: UploadTarget,
    /// Where to send the preview. Present if the request has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thumb: Option<UploadTarget>,
    expires_at: UnixSeconds,
}

/// A form with which one file can be sent.
#[derive(Serialize, JsonSchema)]
pub struct UploadTarget {
    /// What a message names.
    pub file_id: String,
    /// The name that the message will show.
    pub file_name: String,
    pub url: WebUrl,
    /// The fields of the form before `file`.
    pub fields: BTreeMap<&'static str, String>,
}

impl Upload {
    pub fn new(file: UploadTarget, thumb: Option<UploadTarget>, expires_at: Timestamp) -> Self {
        Self { file, thumb, expires_at: expires_at.into() }
    }
}
