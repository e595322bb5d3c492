//! A corpus of hostile files: active content, polyglots, bombs, false types, false sizes and hostile names. Each is
//! refused, or served in a way in which no browser executes it.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::test_host::{ActiveChat, run_on_shared_host};
use crate::support::upload::{TestFile, open, png, send_form};

const SCRIPT: &str = "<script>alert(document.domain)</script>";
const GIF: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0aPK\x05\x06\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0";

/// What becomes of a file.
#[derive(Debug, PartialEq)]
enum Fate {
    /// The form is refused.
    NoForm,
    /// The message is refused.
    NoMessage,
    /// It is a picture, a sound or a film of its declared type.
    Shown,
    Downloaded,
}

use Fate::{Downloaded, NoForm, NoMessage, Shown};

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut file = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x0b\x08".to_vec();
    file.extend_from_slice(&height.to_be_bytes());
    file.extend_from_slice(&width.to_be_bytes());
    file.extend_from_slice(b"\x01\x01\x11\0\xff\xd9");
    file
}

fn gif(width: u16, height: u16) -> Vec<u8> {
    let mut file = GIF.to_vec();
    file[6..8].copy_from_slice(&width.to_le_bytes());
    file[8..10].copy_from_slice(&height.to_le_bytes());
    file
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Active content with its true type, which is never accepted.
fn active_content() -> Vec<(TestFile, Fate)> {
    [
        ("a.svg", "image/svg+xml"),
        ("a.html", "text/html"),
        ("a.xhtml", "application/xhtml+xml"),
        ("a.xml", "text/xml"),
        ("a.xsl", "application/xml"),
        ("a.js", "text/javascript"),
        ("a.mjs", "application/javascript"),
        ("a.css", "text/css"),
        ("a.swf", "application/x-shockwave-flash"),
        ("a.mht", "multipart/related"),
        ("a.hta", "application/hta"),
        ("a.wasm", "application/wasm"),
        ("a.exe", "application/x-msdownload"),
        ("a.png", "image/png; charset=utf-7"),
        ("a.png", "IMAGE/PNG"),
        ("a.bin", "application/octet-stream"),
    ]
    .map(|(name, media_type)| (TestFile::new(name, media_type, SCRIPT), NoForm))
    .into()
}

/// Active content under a type that would be shown or downloaded.
fn false_types() -> Vec<(TestFile, Fate)> {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let html = format!("<!doctype html><html>{SCRIPT}</html>");
    let xhtml = format!("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>{SCRIPT}</html>");
    let with_bom = format!("\u{feff}{html}");
    let mut files = Vec::new();
    for media_type in ["image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "video/mp4", "video/webm"] {
        files.push((TestFile::new("a.svg", media_type, svg), NoMessage));
        files.push((TestFile::new("a.html", media_type, html.as_str()), NoMessage));
    }
    for (content, media_type) in [
        (html.as_bytes(), "application/pdf"),
        (xhtml.as_bytes(), "application/zip"),
        (with_bom.as_bytes(), "image/gif"),
        (b"MZ\x90\0\x03".as_slice(), "application/pdf"),
        (b"\x7fELF\x02\x01\x01", "application/zip"),
        (ZIP, "application/pdf"),
        (GIF, "image/png"),
        (GIF, "video/mp4"),
        (GIF, "text/plain"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "text/plain"),
        (b"\xff\xfe<\0s\0c\0r\0i\0p\0t\0>\0", "text/plain"),
        (b"+ADw-script+AD4-\0", "text/csv"),
    ] {
        files.push((TestFile::new("a", media_type, content), NoMessage));
    }
    files.push((TestFile::new("a.html", "text/plain", html.as_str()), Downloaded));
    files.push((TestFile::new("a.csv", "text/csv", "=cmd|' /C calc'!A0"), Downloaded));
    files
}

/// Files of two types at once. The declared type decides how they are served.
fn polyglots() -> Vec<(TestFile, Fate)> {
    vec![
        (TestFile::new("a.gif", "image/gif", joined(&[b"GIF89a=1;/*".as_slice(), &[1; 20], b"*/alert(1)"])), Shown),
        (TestFile::new("a.gif", "image/gif", joined(&[GIF, SCRIPT.as_bytes()])), Shown),
        (TestFile::new("a.png", "image/png", joined(&[&png(1, 1), SCRIPT.as_bytes()])), Shown),
        (TestFile::new("a.jpg", "image/jpeg", joined(&[&jpeg(1, 1), ZIP])), Shown),
        (TestFile::new("a.pdf", "application/pdf", joined(&[b"%PDF-1.7\n", SCRIPT.as_bytes()])), Downloaded),
        (TestFile::new("a.pdf", "application/pdf", joined(&[b"%PDF-1.7\n", ZIP])), Downloaded),
        (TestFile::new("a.zip", "application/zip", joined(&[ZIP, SCRIPT.as_bytes()])), Downloaded),
        (TestFile::new("a.png", "image/png", joined(&[SCRIPT.as_bytes(), &png(1, 1)])), NoMessage),
        (TestFile::new("a.gif", "image/gif", joined(&[b"<!--", GIF])), NoMessage),
    ]
}

/// Pictures that would use up the memory of a browser, or that are cut.
fn bombs() -> Vec<(TestFile, Fate)> {
    vec![
        (TestFile::new("a.png", "image/png", png(100_000, 100_000)), NoMessage),
        (TestFile::new("a.png", "image/png", png(u32::MAX, u32::MAX)), NoMessage),
        (TestFile::new("a.png", "image/png", png(0, 0)), NoMessage),
        (TestFile::new("a.png", "image/png", &png(9, 9)[..12]), NoMessage),
        (TestFile::new("a.jpg", "image/jpeg", jpeg(65_500, 65_500)), NoMessage),
        (TestFile::new("a.jpg", "image/jpeg", &jpeg(9, 9)[..12]), NoMessage),
        (TestFile::new("a.gif", "image/gif", gif(65_535, 65_535)), NoMessage),
        (TestFile::new("a.gif", "image/gif", "GIF89a"), NoMessage),
        (TestFile::new("a.zip", "application/zip", ZIP), Downloaded),
    ]
}

/// Harmless content with a name that would break a header, leave a folder or hide an extension.
fn hostile_names() -> Vec<(TestFile, Fate)> {
    [
        "../../../etc/passwd.png",
        "..\\..\\boot.png",
        "a\r\nContent-Type: text/html\r\n\r\n.png",
        "a\".png; filename=a.html",
        "photo\u{202e}gpj.exe.png",
        "a.html\0.png",
        "a%0d%0aSet-Cookie: x=1.png",
        "CON.png",
        ".htaccess",
        "\u{200b}\u{feff}",
        "ü€𝄞.png",
    ]
    .map(|name| (TestFile::new(name, "image/png", png(1, 1)), Shown))
    .into()
}

fn corpus() -> Vec<(TestFile, Fate)> {
    let groups = [active_content(), false_types(), polyglots(), bombs(), hostile_names()];
    let mut files: Vec<_> = groups.into_iter().flatten().collect();
    let long_name = TestFile::new(&format!("{}.png", "a".repeat(900)), "image/png", png(1, 1));
    files.push((long_name, Shown));
    files
}

fn message_type(file: &TestFile) -> &'static str {
    match file.media_type.split('/').next().unwrap() {
        "image" => "photo",
        "audio" => "audio",
        "video" => "video",
        _ => "document",
    }
}

/// Sends a file as an agent does, and checks how it is served.
async fn fate_of(chat: &ActiveChat, file: &TestFile) -> Fate {
    let response = chat.agent.client.post("/agent/chats/1/uploads", &file.request()).await;
    if response.status == 400 {
        return NoForm;
    }
    let target = response.expect(201)["file"].clone();
    assert_eq!(send_form(&target, &file.content).await, StatusCode::NO_CONTENT);
    let message = json!({"type": message_type(file), "file_id": target["file_id"]});
    let response = chat.agent.client.post("/agent/chats/1/messages", &message).await;
    if response.status == 400 {
        return NoMessage;
    }
    let seq = response.expect(201)["seq"].as_u64().unwrap();
    let entry = chat.agent.timeline_entry(1, seq).await;
    assert_harmless_name(&entry["file_name"]);
    let served = open(entry["file"].as_str().unwrap()).await;
    assert_eq!((served.status, &served.content), (StatusCode::OK, &file.content));
    match served.disposition.split(';').next().unwrap() {
        "attachment" => {
            assert_eq!(served.media_type, "application/octet-stream");
            Downloaded
        }
        "inline" => {
            assert_eq!(served.media_type, file.media_type);
            Shown
        }
        other => panic!("{other}"),
    }
}

fn assert_harmless_name(name: &Value) {
    let name = name.as_str().unwrap();
    let is_hostile = |letter: char| letter.is_control() || "/\\\"<>:|?*\u{202e}\u{200b}\u{feff}".contains(letter);
    assert!(!name.is_empty() && name.len() <= 200 && !name.starts_with('.') && !name.contains(is_hostile), "{name:?}");
}

#[test]
fn no_file_of_the_corpus_is_executed_or_kept_against_the_rules() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let corpus = corpus();
        assert!(corpus.len() >= 60, "{}", corpus.len());
        let mut sent = 0;
        for (file, expected) in &corpus {
            let fate = fate_of(&chat, file).await;
            assert_eq!(&fate, expected, "{} as {}", file.name, file.media_type);
            sent += usize::from(matches!(fate, Shown | Downloaded));
        }
        assert_eq!(host.objects("files", &chat.account.id).len(), sent);
        assert!(host.objects("pending", &chat.account.id).is_empty(), "refused files are deleted at once");
    });
}
