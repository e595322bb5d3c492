//! The S3 bucket of uploaded files. Browsers send files to it with a form that `form` signs, and open them
//! with a URL that `download_url` signs, so no byte of a file passes through a function.
//!
//! Keys consist of letters, digits, hyphens and slashes, so they are never escaped.

use std::time::Duration;

use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignatureLocation, SigningSettings,
    UriPathNormalizationMode,
};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use futures_util::future::BoxFuture;

use crate::domain::files::upload::sent_key;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::aws_http_client::AwsHttpClient;
use crate::runtime::aws_signer::{AwsSigner, UnsignedRequest};
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::file_forms::{FormRules, signed_fields};
use crate::runtime::{aws_config, config};

/// How long a browser may open the URL of a file. A page follows the redirect at once; a player requests further parts
/// of the file while it plays.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How often a request is made if S3 does not respond, or responds that it is busy.
const MAX_ATTEMPTS: u32 = 3;
pub(crate) const NAME_FIELD: &str = "x-amz-meta-name";

/// A form with which one file can be sent to the bucket.
pub struct UploadForm {
    pub url: String,
    pub fields: Vec<(&'static str, String)>,
    pub expires_at: Timestamp,
}

/// The beginning of a file, with what the bucket knows about it.
pub(crate) struct FileBeginning {
    pub bytes: Vec<u8>,
    pub size: u64,
    pub content_type: String,
    /// Percent-encoded.
    pub name: String,
    /// Identifies the content.
    pub etag: String,
}

/// The headers with which a file is served.
pub(crate) struct ServedAs<'a> {
    pub content_type: &'a str,
    pub content_disposition: &'a str,
    pub name: &'a str,
}

#[derive(Clone)]
pub struct FileBucket {
    bucket: String,
    /// Without a trailing slash.
    url: String,
    signer: AwsSigner,
    client: AwsHttpClient,
    /// Of a call, with its repetitions.
    timeout: Duration,
}

impl Dependency for FileBucket {
    fn open(startup: &mut StartupContext) -> Self {
        let bucket = startup.environment.required("FILES_BUCKET");
        let url = bucket_url(&bucket, &startup.environment.required("FILES_BUCKET_URL"));
        let region = config::aws_region();
        let client = aws_config::http_client(&region);
        let timeout = config::aws_call_timeout();
        Self { bucket, url, signer: AwsSigner::new("s3", region), client, timeout }
    }
}

/// Returns the URL of the bucket, which is its own origin.
fn bucket_url(bucket: &str, url: &str) -> String {
    config::aws_endpoint_url("S3").map_or_else(|| url.to_owned(), |endpoint| format!("{endpoint}/{bucket}"))
}

impl FileBucket {
    /// Returns a form that accepts a file of exactly this type and size.
    pub(crate) fn form(
        &self,
        key: &str,
        (content_type, name, size): (&str, &str, u64),
        (now, lifetime): (Timestamp, Duration),
    ) -> Result<UploadForm, Error> {
        let expires_at = now.plus(lifetime);
        let fields = vec![("Content-Type", content_type.to_owned()), (NAME_FIELD, name.to_owned())];
        let rules = FormRules { bucket: &self.bucket, key, size, fields, expires_at };
        let fields = signed_fields(&rules, self.signer.credentials()?, self.signer.region(), now);
        Ok(UploadForm { url: self.url.clone() + "/", fields, expires_at })
    }

    /// Returns a URL at which a browser can open a file for a short time.
    pub(crate) fn download_url(&self, key: &str) -> Result<String, Error> {
        let url = self.object_url(key);
        let mut settings = s3_settings();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.payload_checksum_kind = PayloadChecksumKind::NoHeader;
        settings.expires_in = Some(DOWNLOAD_TIMEOUT);
        let request = UnsignedRequest { method: "GET", url: &url, headers: &[] };
        let instructions = self.signer.sign(request, SignableBody::UnsignedPayload, settings)?;
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(instructions.params()).finish();
        Ok(format!("{url}?{query}"))
    }

    /// Reads at most `max_bytes` bytes. Returns `None` if there is no such file.
    pub(crate) async fn read_beginning(&self, key: &str, max_bytes: u64) -> Result<Option<FileBeginning>, Error> {
        let range = format!("bytes=0-{}", max_bytes.saturating_sub(1));
        let Some(response) = self.request("GET", key, &[("range", &range)], self.short_attempt()).await? else {
            return Ok(None);
        };
        let header = |name: &str| response.headers().get(name).unwrap_or_default().to_owned();
        let size = header("content-range").rsplit('/').next().and_then(|size| size.parse().ok());
        let (content_type, name, etag) = (header("content-type"), header(NAME_FIELD), header("etag"));
        let size = size.ok_or_else(|| Error::internal("the bucket did not say how large a file is"))?;
        let bytes = ByteStream::new(response.into_body()).collect().await.map_err(Error::internal)?.to_vec();
        Ok(Some(FileBeginning { bytes, size, content_type, name, etag }))
    }

    /// Copies a file if its content is still that of the `etag`. Returns false if it is not. A large file takes S3
    /// longer than other requests, so an attempt may take as long as the whole call.
    pub(crate) async fn copy(&self, from: &str, etag: &str, to: &str, served_as: &ServedAs<'_>) -> Result<bool, Error> {
        let source = format!("/{}/{from}", self.bucket);
        let headers = [
            ("content-type", served_as.content_type),
            ("content-disposition", served_as.content_disposition),
            ("x-amz-copy-source", &source),
            ("x-amz-copy-source-if-match", etag),
            ("x-amz-metadata-directive", "REPLACE"),
            (NAME_FIELD, served_as.name),
        ];
        let Some(response) = self.request("PUT", to, &headers, self.timeout).await? else { return Ok(false) };
        // S3 can report an error after the status.
        let body = ByteStream::new(response.into_body()).collect().await.map_err(Error::unavailable)?.to_vec();
        let is_copied = String::from_utf8_lossy(&body).contains("<CopyObjectResult");
        if is_copied { Ok(true) } else { Err(Error::unavailable("S3 could not copy a file")) }
    }

    /// Deletes a file. Succeeds if there is none.
    pub(crate) async fn delete(&self, key: &str) -> Result<(), Error> {
        self.request("DELETE", key, &[], self.short_attempt()).await.map(|_| ())
    }

    /// Deletes a file of a message.
    pub fn delete_sent<'a>(&'a self, account_id: &'a str, file_id: String) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move { self.delete(&sent_key(account_id, &file_id)).await })
    }

    fn object_url(&self, key: &str) -> String {
        format!("{}/{key}", self.url)
    }

    /// The timeout of an attempt after which there is time for another one.
    fn short_attempt(&self) -> Duration {
        self.timeout / MAX_ATTEMPTS
    }

    /// Sends a request. Returns `None` if there is no such file, or if a condition of the request is not met. The
    /// future is boxed so that it is compiled only once.
    fn request<'a>(
        &'a self,
        method: &'static str,
        key: &'a str,
        headers: &'a [(&'static str, &'a str)],
        attempt_timeout: Duration,
    ) -> BoxFuture<'a, Result<Option<HttpResponse>, Error>> {
        let attempts = async move {
            let mut last = Error::unavailable("no attempt was made");
            for _ in 0..MAX_ATTEMPTS {
                let attempt = tokio::time::timeout(attempt_timeout, self.attempt(method, key, headers));
                match attempt.await.map_err(Error::unavailable).flatten() {
                    Err(Error::Unavailable(reason)) => last = Error::Unavailable(reason),
                    result => return result,
                }
            }
            Err(last)
        };
        Box::pin(
            async move { tokio::time::timeout(self.timeout, attempts).await.map_err(Error::unavailable).flatten() },
        )
    }

    async fn attempt(
        &self,
        method: &'static str,
        key: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Option<HttpResponse>, Error> {
        let request = UnsignedRequest { method, url: &self.object_url(key), headers };
        let body = (SdkBody::empty(), SignableBody::UnsignedPayload);
        let request = self.signer.signed_request(request, body, s3_settings())?;
        let response = self.client.call(request).await.map_err(Error::unavailable)?;
        match response.status().as_u16() {
            200..=299 => Ok(Some(response)),
            404 | 412 => Ok(None),
            status @ (429 | 500..=599) => Err(Error::unavailable(format!("S3 responded with {status}"))),
            status => Err(Error::internal(format!("S3 responded to {method} with {status}"))),
        }
    }
}

/// S3 signs the path as it is.
fn s3_settings() -> SigningSettings {
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    settings
}

/// The origin of the bucket, for the content security policy of the pages that show files.
#[derive(Clone)]
pub struct FileOrigin(String);

impl Dependency for FileOrigin {
    fn open(startup: &mut StartupContext) -> Self {
        let url = bucket_url("", &startup.environment.required("FILES_BUCKET_URL"));
        Self(url.trim_end_matches('/').to_owned())
    }
}

impl FileOrigin {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
