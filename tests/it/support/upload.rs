//! Uploads files as browsers do: with a request for a form, and the form itself, which goes to the bucket.

use reqwest::StatusCode;
use reqwest::redirect::Policy;
use serde_json::{Value, json};

use crate::support::api_client::TestAgent;
use crate::support::bot_fixture::TestBot;
use crate::support::test_host::TestHost;

const BOUNDARY: &str = "----------boundary";

/// A file that somebody uploads, with what the sender says about it.
#[derive(Clone, Debug)]
pub struct TestFile {
    pub name: String,
    pub media_type: &'static str,
    pub content: Vec<u8>,
}

/// A file as the bucket serves it.
pub struct ServedFile {
    pub status: StatusCode,
    pub media_type: String,
    pub disposition: String,
    pub content: Vec<u8>,
}

impl TestFile {
    pub fn new(name: &str, media_type: &'static str, content: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), media_type, content: content.into() }
    }

    /// A picture of 3 by 2 pixels.
    pub fn png() -> Self {
        Self::new("map.png", "image/png", png(3, 2))
    }

    /// Returns the body of the request for a form.
    pub fn request(&self) -> Value {
        json!({"file_name": self.name, "type": self.media_type, "file_size": self.content.len()})
    }
}

/// Returns a PNG file with these dimensions and no pixels.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let header = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes()].concat();
    [&header, [8, 2, 0, 0, 0, 0, 0, 0, 0].as_slice(), b"\0\0\0\0IEND\xaeB`\x82"].concat()
}

/// Sends a file with a form. Returns the status.
pub async fn send_form(target: &Value, content: &[u8]) -> StatusCode {
    send_form_with(target, content, |_| {}).await
}

/// Sends a file with a form whose fields the sender has changed.
pub async fn send_form_with(
    target: &Value,
    content: &[u8],
    change: impl FnOnce(&mut serde_json::Map<String, Value>),
) -> StatusCode {
    let mut fields = target["fields"].as_object().unwrap().clone();
    change(&mut fields);
    let mut body = Vec::new();
    for (name, value) in &fields {
        let value = value.as_str().unwrap();
        let part = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n");
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    let request = reqwest::Client::new().post(target["url"].as_str().unwrap());
    let request = request.header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    request.body(body).send().await.unwrap().status()
}

/// Opens a link as a browser does: first the service, then the bucket.
pub async fn open(link: &str) -> ServedFile {
    let client = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
    let response = client.get(link).send().await.unwrap();
    let response = match response.headers().get("location") {
        Some(location) => client.get(location.to_str().unwrap()).send().await.unwrap(),
        None => response,
    };
    let header = |name: &str| {
        let value = response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        value.unwrap_or_default()
    };
    let (status, media_type, disposition) = (response.status(), header("content-type"), header("content-disposition"));
    ServedFile { status, media_type, disposition, content: response.bytes().await.unwrap().to_vec() }
}

impl TestAgent {
    /// Uploads a file and returns its id.
    pub async fn upload(&self, chat: u64, file: &TestFile) -> String {
        let upload = self.client.post(&format!("/agent/chats/{chat}/uploads"), &file.request()).await.expect(201);
        complete(&upload, file).await
    }
}

impl TestBot {
    /// Uploads a file and returns its id.
    pub async fn upload(&self, chat: u64, file: &TestFile) -> String {
        let path = format!("{}/chats/{chat}/uploads", self.webhook_path());
        complete(&self.client.post(&path, &file.request()).await.expect(201), file).await
    }
}

async fn complete(upload: &Value, file: &TestFile) -> String {
    assert_eq!(send_form(&upload["file"], &file.content).await, StatusCode::NO_CONTENT, "{upload}");
    upload["file"]["file_id"].as_str().unwrap().to_owned()
}

impl TestHost {
    /// Returns the keys of the account's objects that begin with this prefix, `pending` or `files`.
    pub fn objects(&self, prefix: &str, account: &Value) -> Vec<String> {
        let prefix = format!("{prefix}/{}/", account.as_str().unwrap());
        let keys = self.local.objects().keys("Files", &prefix).unwrap();
        keys.into_iter().map(|(key, _)| key).collect()
    }
}
