//! Tests for the widget's files, requested the way a browser requests them. The widget itself is tested in
//! `functions/www/widget` and `tests/pages`.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::support::api_client::send;
use crate::support::built_files::{BuiltFiles, header};
use crate::support::test_host::{TestHost, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::seconds;

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

/// Returns the configuration in front of the loader.
async fn configuration(host: &TestHost, path: &str) -> Value {
    let reply = host.anonymous.get(path).await;
    assert_eq!(reply.status, 200, "{path}");
    assert_public_file(&reply.headers, "public, max-age=60");
    let (configuration, loader) =
        reply.text.strip_prefix("self.switchboardWidget=").and_then(|text| text.split_once(";(")).unwrap();
    assert!(host.anonymous.get("/widget.js").await.text.ends_with(loader), "{path}");
    serde_json::from_str(configuration).unwrap()
}

#[test]
fn loader_of_a_widget_says_what_the_page_must_know_first() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({"color": "#102030", "moved_from": "jivo"})).await;
        let (id, path) = (&widget.id, format!("/widget/{}", widget.id));
        let mut expected = json!({"id": id, "mode": "offline", "color": "#102030", "prefix": "jivo"});
        assert_eq!(configuration(host, &path).await, expected);
        account.admin.set_presence("online").await;
        time.advance(seconds(10));
        expected["mode"] = json!("online");
        for path in [path.clone(), format!("/script{path}"), format!("/script{path}%7D")] {
            // A process remembers for ten seconds who was online.
            assert_eq!(configuration(host, &path).await, expected);
        }
        let ann = account.create_agent_with("Ann", json!({})).await;
        let department = json!({"name": "Sales", "agent_ids": [ann.id]});
        let department = account.admin.client.post("/admin/departments", &department).await.expect(201);
        let of_department = json!({"department_ids": [department["department_id"]]});
        let widget = account.create_widget_with(json!({}), of_department).await;
        let found = configuration(host, &format!("/widget/{}", widget.id)).await;
        assert_eq!(found["mode"], "offline", "the admin is no member");
    });
}

#[test]
fn loader_of_an_unknown_or_disabled_widget_says_so() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let channel = account.create_channel("https://app.example/hook").await;
        let path = format!("/admin/channels/{}", widget.id);
        account.admin.client.patch(&path, &json!({"enabled": false})).await.expect(200);
        for id in ["none", &*widget.id, &*channel.id] {
            let found = configuration(host, &format!("/widget/{id}")).await;
            assert_eq!(found, json!({"id": id, "is_unknown": true}));
        }
        let hostile = configuration(host, "/widget/a%22;alert(1)").await;
        assert_eq!(hostile, json!({"id": "a", "is_unknown": true}));
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
