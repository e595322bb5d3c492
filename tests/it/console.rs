//! The agents' console as a browser fetches it. `functions/www` has the tests of the page itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use local::builder::workspace;
use reqwest::Method;
use reqwest::header::HeaderMap;

use crate::client::send;
use crate::harness::{Stage, on_stage};

/// An `Accept-Encoding`, the coding of its answer, and the extension of the file in that coding.
const CODINGS: [(&str, Option<&str>, &str); 4] = [
    ("identity", None, ""),
    ("gzip", Some("gzip"), ".gz"),
    ("gzip, deflate, br", Some("br"), ".br"),
    ("br;q=0, gzip;q=0.5", Some("gzip"), ".gz"),
];

fn dist(path: &str) -> PathBuf {
    workspace().join("functions/www/dist/console").join(path)
}

/// The names of the assets that were built.
fn assets() -> BTreeSet<String> {
    let entries = std::fs::read_dir(dist("assets")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.ends_with(".br") && !name.ends_with(".gz")).collect()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

/// Fetches a path in every coding, compares it with the file that was built, and returns the last answer's headers.
async fn fetch(stage: &Stage, path: &str, built: &str) -> HeaderMap {
    let mut last = HeaderMap::new();
    for (accepted, coding, extension) in CODINGS {
        let request = stage.anyone.request(Method::GET, path).header("accept-encoding", accepted);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        last = response.headers().clone();
        assert_eq!(header(&last, "content-encoding"), coding, "{path}, {accepted}");
        assert_eq!(header(&last, "vary"), Some("accept-encoding"), "{path}");
        let expected = std::fs::read(dist(&format!("{built}{extension}"))).unwrap();
        assert!(response.bytes().await.unwrap() == expected, "{path} is not {built}{extension}");
    }
    last
}

/// The headers that keep a page and its files to themselves.
fn assert_guarded(headers: &HeaderMap) {
    let policy = header(headers, "content-security-policy").unwrap();
    let directives: BTreeSet<_> = policy.split("; ").collect();
    for directive in ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"] {
        assert!(directives.contains(directive), "{directive} is not in {policy}");
    }
    assert_eq!(header(headers, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(headers, "referrer-policy"), Some("no-referrer"));
    assert!(header(headers, "permissions-policy").unwrap().contains("camera=()"));
}

#[test]
fn console_is_served_with_every_asset_that_it_names() {
    on_stage(async |stage| {
        for path in ["/console", "/console/"] {
            let headers = fetch(stage, path, "index.html").await;
            assert_guarded(&headers);
            assert_eq!(header(&headers, "content-type"), Some("text/html; charset=utf-8"));
            assert_eq!(header(&headers, "cache-control"), Some("no-cache"));
        }
        let page = stage.anyone.get("/console/").await;
        let named: BTreeSet<_> =
            page.text.split('"').filter_map(|text| text.strip_prefix("/console/assets/")).map(str::to_owned).collect();
        let built = assets();
        assert!(named.len() >= 4 && named.is_subset(&built), "{named:?} of {built:?}");
        for name in built {
            let path = format!("/console/assets/{name}");
            // Held against the document.
            assert_eq!(stage.anyone.get(&path).await.status, 200, "{path}");
            let headers = fetch(stage, &path, &format!("assets/{name}")).await;
            assert_guarded(&headers);
            assert_eq!(header(&headers, "cache-control"), Some("public, max-age=31536000, immutable"));
            let kind = match name.rsplit('.').next().unwrap() {
                "js" => "text/javascript; charset=utf-8",
                "css" => "text/css; charset=utf-8",
                "svg" => "image/svg+xml",
                "txt" => "text/plain; charset=utf-8",
                other => panic!("a file of a new kind: {other}"),
            };
            assert_eq!(header(&headers, "content-type"), Some(kind), "{path}");
        }
    });
}

#[test]
fn current_copy_of_the_console_is_answered_with_304() {
    on_stage(async |stage| {
        let get = |coding: &str, tag: &str| {
            let request = stage.anyone.request(Method::GET, "/console/").header("accept-encoding", coding.to_owned());
            send(request.header("if-none-match", tag.to_owned()))
        };
        let first = get("identity", "\"another\"").await;
        assert_eq!(first.status, 200);
        let tag = header(&first.headers, "etag").unwrap();
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"another\", {tag}")] {
            let again = get("identity", &known).await;
            assert_eq!((again.status, again.text.as_str()), (304, ""), "{known}");
            assert_eq!(header(&again.headers, "etag"), Some(tag));
            assert_eq!(header(&again.headers, "cache-control"), Some("no-cache"));
        }
        // Another coding is another copy.
        assert_eq!(get("br", tag).await.status, 200);
    });
}

#[test]
fn unknown_file_of_the_console_is_not_found() {
    on_stage(async |stage| {
        for name in ["main.js", "index.html", "..%2Findex.html", "%2e%2e%2ffiles.rs"] {
            stage.anyone.get(&format!("/console/assets/{name}")).await.expect_error(404, "not_found");
        }
        for path in ["/console/index.html", "/console/files.rs", "/console/assets/", "/console/assets/a/b"] {
            stage.anyone.get(path).await.expect_error(404, "not_found");
        }
        let refused = send(stage.anyone.request(Method::POST, "/console/")).await;
        refused.expect_error(405, "method_not_allowed");
    });
}
