//! Tests for the agent console's files, requested the way a browser requests them. The console itself is tested in
//! `tests/pages`.

use std::collections::BTreeSet;

use reqwest::Method;
use reqwest::header::HeaderMap;

use crate::support::api_client::send;
use crate::support::built_files::{BuiltFiles, header};
use crate::support::test_host::run_on_shared_host;

const CONSOLE: BuiltFiles = BuiltFiles("console");

fn assert_security_headers(headers: &HeaderMap) {
    let policy = header(headers, "content-security-policy").unwrap();
    let directives: BTreeSet<_> = policy.split("; ").collect();
    let origins = directives.iter().find_map(|directive| directive.strip_prefix("connect-src 'self' "));
    let (sockets, files) =
        origins.and_then(|origins| origins.split_once(' ')).expect("the origins of sockets and files");
    for (origin, scheme) in [(sockets, "ws"), (files, "http")] {
        assert!(origin.starts_with(scheme) && origin.matches('/').count() == 2, "{origin}");
    }
    for directive in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
        assert!(directives.contains(directive), "{directive} is not in {policy}");
    }
    assert_eq!(header(headers, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(headers, "cross-origin-opener-policy"), Some("same-origin"));
    assert_eq!(header(headers, "referrer-policy"), Some("no-referrer"));
    assert!(header(headers, "permissions-policy").unwrap().contains("camera=()"));
}

#[test]
fn page_and_all_its_assets_are_served() {
    run_on_shared_host(async |host| {
        for path in ["/console", "/console/"] {
            let headers = CONSOLE.fetch_and_compare(host, path, "index.html").await;
            assert_security_headers(&headers);
            assert_eq!(header(&headers, "content-type"), Some("text/html; charset=utf-8"));
            assert_eq!(header(&headers, "cache-control"), Some("no-cache"));
        }
        let page = host.anonymous.get("/console/").await;
        let referenced: BTreeSet<_> =
            page.text.split('"').filter_map(|text| text.strip_prefix("/console/assets/")).map(str::to_owned).collect();
        let built = CONSOLE.assets();
        assert!(referenced.len() >= 4 && referenced.is_subset(&built), "{referenced:?} of {built:?}");
        for name in built {
            let path = format!("/console/assets/{name}");
            // This client also checks the response against the OpenAPI document.
            assert_eq!(host.anonymous.get(&path).await.status, 200, "{path}");
            let headers = CONSOLE.fetch_and_compare(host, &path, &format!("assets/{name}")).await;
            assert_security_headers(&headers);
            assert_eq!(header(&headers, "cache-control"), Some("public, max-age=31536000, immutable"));
            let kind = match name.rsplit('.').next().unwrap() {
                "js" => "text/javascript; charset=utf-8",
                "css" => "text/css; charset=utf-8",
                "svg" => "image/svg+xml",
                "txt" => "text/plain; charset=utf-8",
                "webmanifest" => "application/manifest+json",
                other => panic!("unexpected file type: {other}"),
            };
            assert_eq!(header(&headers, "content-type"), Some(kind), "{path}");
        }
    });
}

#[test]
fn unchanged_page_gets_304() {
    run_on_shared_host(async |host| {
        let get = |coding: &str, tag: &str| {
            let request = host.anonymous.request(Method::GET, "/console/").header("accept-encoding", coding.to_owned());
            send(request.header("if-none-match", tag.to_owned()))
        };
        let first = get("identity", "\"another\"").await;
        assert_eq!(first.status, 200);
        let tag = header(&first.headers, "etag").unwrap();
        for etags in [tag.to_owned(), format!("W/{tag}"), format!("\"another\", {tag}")] {
            let cached = get("identity", &etags).await;
            assert_eq!((cached.status, cached.text.as_str()), (304, ""), "{etags}");
            assert_eq!(header(&cached.headers, "etag"), Some(tag));
            assert_eq!(header(&cached.headers, "cache-control"), Some("no-cache"));
        }
        // Each content coding has its own ETag, so this one does not match the Brotli file.
        assert_eq!(get("br", tag).await.status, 200);
    });
}

#[test]
fn unknown_file_is_not_found() {
    run_on_shared_host(async |host| {
        for name in ["main.js", "index.html", "..%2Findex.html", "%2e%2e%2ffiles.rs"] {
            host.anonymous.get(&format!("/console/assets/{name}")).await.expect_error(404, "not_found");
        }
        for path in ["/console/index.html", "/console/files.rs", "/console/assets/", "/console/assets/a/b"] {
            host.anonymous.get(path).await.expect_error(404, "not_found");
        }
        let refused = send(host.anonymous.request(Method::POST, "/console/")).await;
        refused.expect_error(405, "method_not_allowed");
    });
}
