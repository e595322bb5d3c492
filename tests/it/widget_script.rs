//! Tests for the widget's files, requested the way a browser requests them. The widget itself is tested in
//! `functions/www/widget` and `tests/pages`.

use reqwest::Method;
use reqwest::header::HeaderMap;

use crate::support::api_client::send;
use crate::support::built_files::{BuiltFiles, header};
use crate::support::test_host::run_on_shared_host;

const WIDGET: BuiltFiles = BuiltFiles("widget");

fn assert_public_file(headers: &HeaderMap, cache_control: &str) {
    assert_eq!(header(headers, "access-control-allow-origin"), Some("*"));
    assert_eq!(header(headers, "cross-origin-resource-policy"), Some("cross-origin"));
    assert_eq!(header(headers, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(headers, "cache-control"), Some(cache_control));
}

#[test]
fn loader_and_all_its_assets_are_served() {
    run_on_shared_host(async |host| {
        let headers = WIDGET.fetch_and_compare(host, "/widget.js", "widget.js").await;
        assert_public_file(&headers, "public, max-age=300");
        assert_eq!(header(&headers, "content-type"), Some("text/javascript; charset=utf-8"));
        let loader = host.anonymous.get("/widget.js").await;
        let assets = WIDGET.assets();
        let imported = assets.iter().filter(|name| loader.text.contains(name.as_str())).count();
        assert_eq!(imported, 1, "the loader imports one of {assets:?}");
        for name in assets {
            let path = format!("/widget/assets/{name}");
            // This client also checks the response against the OpenAPI document.
            assert_eq!(host.anonymous.get(&path).await.status, 200, "{path}");
            let headers = WIDGET.fetch_and_compare(host, &path, &format!("assets/{name}")).await;
            assert_public_file(&headers, "public, max-age=31536000, immutable");
        }
    });
}

#[test]
fn unknown_widget_file_is_not_found() {
    run_on_shared_host(async |host| {
        for name in ["main.js", "..%2Fwidget.js", "%2e%2e%2ffiles.rs"] {
            host.anonymous.get(&format!("/widget/assets/{name}")).await.expect_error(404, "not_found");
        }
        let refused = send(host.anonymous.request(Method::POST, "/widget.js")).await;
        refused.expect_error(405, "method_not_allowed");
    });
}
