//! Tests of the admin API for widgets. Also tests that the channel API does not serve widgets.

use serde_json::{Value, json};

use crate::support::test_host::{run_on_shared_host, visitor_text};

#[test]
fn widget_is_created_listed_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let created = admin.post("/admin/channels", &json!({"kind": "widget", "name": "Shop"})).await.expect(201);
        let id = created["widget_id"].as_str().unwrap();
        let snippet = format!(r#"<script async src="{}/widget.js" data-id="{id}"></script>"#, host.local.base_url());
        assert_eq!((&created["snippet"], &created["channel_id"]), (&json!(snippet), &json!(id)));
        let defaults = json!({
            "color": "#00464a", "color2": null, "position": "right", "title": "Acme", "greeting": null, "avatar": null,
            "language": "auto", "texts": {}, "allowed_sites": [], "rating": true, "sound": true,
            "contacts_form": {"when": "never", "fields": ["name", "email", "phone"], "required": []},
        });
        assert_eq!(created["widget"], defaults);

        let path = format!("/admin/channels/{id}");
        let changes = json!({"color": "#102030", "allowed_sites": ["Shop.example"], "texts": {"send": "Go"}});
        let changed = admin.patch(&path, &json!({"name": "Store", "widget": changes})).await.expect(200);
        assert_eq!((&changed["name"], &changed["widget"]["color"]), (&json!("Store"), &json!("#102030")));
        assert_eq!(changed["widget"]["allowed_sites"], json!(["shop.example"]));
        assert_eq!(changed["widget"]["title"], "Acme", "absent fields stay unchanged");
        let read = admin.get(&path).await.expect(200);
        assert_eq!(read["widget"], changed["widget"]);
        assert_eq!(admin.get("/admin/channels").await.expect(200)["channels"][0]["widget"], changed["widget"]);
        admin.post(&format!("{path}/rotate"), &json!({})).await.expect_error(409, "conflict");
        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
    });
}

#[test]
fn error_names_the_invalid_field_of_a_widget() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        for (field, body) in [
            ("name", json!({})),
            ("widget", json!({"name": "Shop", "widget": []})),
            ("widget.color", json!({"name": "Shop", "widget": {"color": "red"}})),
            ("widget.allowed_sites", json!({"name": "Shop", "widget": {"allowed_sites": ["https://shop.example/"]}})),
            ("widget.contacts_form.when", json!({"name": "Shop", "widget": {"contacts_form": {"when": "x"}}})),
            ("department_ids", json!({"name": "Shop", "department_ids": [7]})),
        ] {
            let mut body = body;
            body["kind"] = json!("widget");
            let reply = admin.post("/admin/channels", &body).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{body}");
        }
        assert_eq!(admin.get("/admin/channels").await.expect(200), json!({"channels": []}));
    });
}

#[test]
fn channel_api_does_not_serve_widgets() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        for secret in ["", "x", &widget.id] {
            let path = format!("/channel/{secret}/{}", widget.id);
            host.anonymous.post(&path, &visitor_text("v", "Hi")).await.expect_error(404, "not_found");
            host.anonymous.get(&format!("{path}/status")).await.expect_error(404, "not_found");
        }
        let channel = account.create_channel("https://app.example/hook").await;
        let as_widget = format!("/widget/{}/session", channel.id);
        host.anonymous.post(&as_widget, &json!({})).await.expect_error(404, "not_found");
        let path = format!("/admin/channels/{}", widget.id);
        account.admin.client.patch(&path, &json!({"enabled": false})).await.expect(200);
        let read: Value = account.admin.client.get(&path).await.expect(200);
        assert_eq!(read["enabled"], false);
    });
}
