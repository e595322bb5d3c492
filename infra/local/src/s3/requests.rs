//! The requests of S3, with the bucket as the first segment of the path.

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use percent_encoding::percent_decode_str;
use time::OffsetDateTime;
use time::macros::format_description;

use super::error::S3Error;
use super::form::Form;
use super::objects::{Object, Objects};
use super::permission;
use super::signature::verify_request;
use crate::aws::access_keys::AccessKeys;
use crate::aws::iam::Roles;
use crate::http::request_text::query_pairs;

const NAME_HEADER: &str = "x-amz-meta-name";

#[derive(Clone)]
pub(crate) struct S3Api {
    pub objects: Objects,
    pub access_keys: AccessKeys,
    pub roles: Roles,
}

impl S3Api {
    pub fn router(self) -> Router {
        Router::new()
            .route("/{bucket}", any(handle))
            .route("/{bucket}/", any(handle))
            .route("/{bucket}/{*key}", any(handle))
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn(allow_other_origins))
            .with_state(self)
    }

    fn now(&self) -> OffsetDateTime {
        self.objects.clock().now_utc()
    }

    /// Verifies the signature, and that the function which has made it may do this.
    fn authorize(&self, request: &Parts, action: &str, bucket: &str, key: &str) -> Result<(), S3Error> {
        let signed = (&request.method, &request.uri, &request.headers);
        let access_key_id = verify_request(signed, self.access_keys.secret(), self.now())?;
        self.authorize_key(&access_key_id, action, bucket, key)
    }

    fn authorize_key(&self, access_key_id: &str, action: &str, bucket: &str, key: &str) -> Result<(), S3Error> {
        if access_key_id == self.access_keys.of_tools() {
            return Ok(());
        }
        let function = self.access_keys.function(access_key_id);
        let function = function.ok_or_else(|| S3Error::AccessDenied("The access key does not exist.".to_owned()))?;
        Ok(self.roles.authorize(function, &[permission(action, bucket, key)])?)
    }

    fn object(&self, bucket: &str, key: &str) -> Result<Object, S3Error> {
        self.objects.get(bucket, key)?.ok_or(S3Error::NoSuchKey)
    }
}

/// The bucket's CORS rule. Pages of all sites may send forms, because the widget runs on all sites.
async fn allow_other_origins(request: Request, next: Next) -> Response {
    let is_preflight = request.method() == Method::OPTIONS;
    let mut response = if is_preflight { StatusCode::OK.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    response
}

async fn handle(State(api): State<S3Api>, path: Path<Vec<(String, String)>>, request: Request) -> Response {
    let segment = |name: &str| path.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone());
    let (bucket, key) = (segment("bucket").unwrap_or_default(), segment("key").unwrap_or_default());
    if !api.objects.has_bucket(&bucket) {
        return S3Error::NoSuchBucket.into_response();
    }
    let handled =
        if key.is_empty() { on_bucket(&api, &bucket, request).await } else { on_key(&api, &bucket, &key, request) };
    handled.unwrap_or_else(IntoResponse::into_response)
}

async fn on_bucket(api: &S3Api, bucket: &str, request: Request) -> Result<Response, S3Error> {
    match *request.method() {
        Method::POST => receive_form(api, bucket, request).await,
        Method::GET => list(api, bucket, &request.into_parts().0),
        _ => Err(S3Error::MethodNotAllowed),
    }
}

async fn receive_form(api: &S3Api, bucket: &str, request: Request) -> Result<Response, S3Error> {
    let parts = Multipart::from_request(request, &()).await;
    let parts = parts.map_err(|_| S3Error::MalformedPost("The body is not a form."))?;
    let (form, credential, body) = Form::read(parts, bucket, api.access_keys.secret(), api.now()).await?;
    let text = |name: &str| form.field(name).map(str::to_owned);
    let key = text("key").ok_or(S3Error::MalformedPost("The form has no key."))?;
    api.authorize_key(&credential.access_key_id, "PutObject", bucket, &key)?;
    let object = Object {
        content_type: text("content-type").unwrap_or_else(|| "binary/octet-stream".to_owned()),
        content_disposition: text("content-disposition"),
        name: text(NAME_HEADER),
        body,
        ..Object::default()
    };
    let stored = api.objects.put(bucket, &key, object)?;
    Ok((StatusCode::NO_CONTENT, [(header::ETAG, stored.etag)]).into_response())
}

fn on_key(api: &S3Api, bucket: &str, key: &str, request: Request) -> Result<Response, S3Error> {
    let parts = request.into_parts().0;
    match parts.method {
        Method::GET | Method::HEAD => {
            api.authorize(&parts, "GetObject", bucket, key)?;
            match api.object(bucket, key) {
                // S3 reveals that there is no object only to a caller who may list the bucket.
                Err(S3Error::NoSuchKey) => {
                    api.authorize(&parts, "ListBucket", bucket, "")?;
                    Err(S3Error::NoSuchKey)
                }
                object => read(&object?, &parts.headers),
            }
        }
        Method::PUT => {
            api.authorize(&parts, "PutObject", bucket, key)?;
            copy(api, bucket, key, &parts.headers)
        }
        Method::DELETE => {
            api.authorize(&parts, "DeleteObject", bucket, key)?;
            api.objects.delete(bucket, key)?;
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        _ => Err(S3Error::MethodNotAllowed),
    }
}

/// Axum leaves out the body of the response to HEAD.
fn read(object: &Object, headers: &HeaderMap) -> Result<Response, S3Error> {
    let total = object.body.len();
    let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    let (status, body) = match range.and_then(parse_range) {
        Some((first, last)) => {
            let end = last.map_or(total, |last| total.min(last.saturating_add(1)));
            let part = object.body.get(first..end).filter(|part| !part.is_empty());
            (StatusCode::PARTIAL_CONTENT, part.ok_or(S3Error::InvalidRange)?)
        }
        None => (StatusCode::OK, object.body.as_slice()),
    };
    let mut response = (status, Body::from(body.to_vec())).into_response();
    if let Some((first, _)) = range.and_then(parse_range) {
        let last = first + body.len() - 1;
        insert(&mut response, header::CONTENT_RANGE, &format!("bytes {first}-{last}/{total}"));
    }
    insert(&mut response, header::ACCEPT_RANGES, "bytes");
    insert(&mut response, header::CONTENT_TYPE, &object.content_type);
    insert(&mut response, header::ETAG, &object.etag);
    insert(&mut response, header::LAST_MODIFIED, &http_date(object.modified_ms));
    if let Some(disposition) = &object.content_disposition {
        insert(&mut response, header::CONTENT_DISPOSITION, disposition);
    }
    if let Some(name) = &object.name {
        insert(&mut response, HeaderName::from_static(NAME_HEADER), name);
    }
    Ok(response)
}

fn insert(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Returns the first and the last byte of a range. Other forms of ranges are ignored, as S3 may do.
fn parse_range(range: &str) -> Option<(usize, Option<usize>)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last = if last.is_empty() { None } else { Some(last.parse().ok()?) };
    Some((first.parse().ok()?, last))
}

fn http_date(ms: u64) -> String {
    let format =
        format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
    let at = OffsetDateTime::UNIX_EPOCH + std::time::Duration::from_millis(ms);
    at.format(format).unwrap_or_default()
}

/// Copies an object (CopyObject). Other PUT requests are not supported, because browsers send files with forms.
fn copy(api: &S3Api, bucket: &str, key: &str, headers: &HeaderMap) -> Result<Response, S3Error> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let source = text("x-amz-copy-source").ok_or(S3Error::MethodNotAllowed)?;
    let source = percent_decode_str(source).decode_utf8_lossy().into_owned();
    let source_key = source.trim_start_matches('/').strip_prefix(bucket).and_then(|key| key.strip_prefix('/'));
    let source_key = source_key.ok_or(S3Error::NoSuchBucket)?;
    let source = api.object(bucket, source_key)?;
    if text("x-amz-copy-source-if-match").is_some_and(|etag| etag != source.etag) {
        return Err(S3Error::PreconditionFailed);
    }
    let object = if text("x-amz-metadata-directive") == Some("REPLACE") {
        Object {
            content_type: text("content-type").unwrap_or("binary/octet-stream").to_owned(),
            content_disposition: text("content-disposition").map(str::to_owned),
            name: text(NAME_HEADER).map(str::to_owned),
            ..source
        }
    } else {
        source
    };
    let etag = api.objects.put(bucket, key, object)?.etag;
    Ok(xml(&format!("<CopyObjectResult><ETag>{}</ETag></CopyObjectResult>", etag.replace('"', "&quot;"))))
}

/// ListObjectsV2 in one page.
fn list(api: &S3Api, bucket: &str, request: &Parts) -> Result<Response, S3Error> {
    api.authorize(request, "ListBucket", bucket, "")?;
    let query = query_pairs(request.uri.query().unwrap_or_default());
    let prefix = query.into_iter().find_map(|(name, value)| (name == "prefix").then_some(value)).unwrap_or_default();
    let keys = api.objects.keys(bucket, &prefix)?;
    let contents: String =
        keys.iter().map(|(key, size)| format!("<Contents><Key>{key}</Key><Size>{size}</Size></Contents>")).collect();
    Ok(xml(&format!(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>{bucket}</Name>\
         <KeyCount>{}</KeyCount><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>",
        keys.len()
    )))
}

fn xml(document: &str) -> Response {
    ([(header::CONTENT_TYPE, "application/xml")], format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{document}"))
        .into_response()
}
