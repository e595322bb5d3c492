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
        let snippet = format!(r#"<script async src="{}/widget/{id}"></script>"#, host.local.base_url());
        assert_eq!((&created["snippet"], &created["channel_id"]), (&json!(snippet), &json!(id)));
        let defaults = json!({
            "color": "#00464a", "color2": null, "theme": "system", "position": "right",
            "launcher": {"hidden": false, "offset_x": 20, "offset_y": 20, "z_index": 2_147_483_000},
            "title": "Acme", "greeting": null, "avatar": null, "language": "auto", "texts": {}, "allowed_sites": [],
            "contacts_form":
                {"when": "never", "fields": ["name", "email", "phone"], "required": [], "custom_fields": []},
            "rating": true, "sound": true, "typing_preview": true, "reply_time": null, "moved_from": null,
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
fn session_returns_the_settings_that_the_widget_needs() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let form = json!({
            "when": "before_first_message", "fields": ["email"], "required": ["email"],
            "custom_fields": [
                {"key": "topic", "label": "Topic", "type": "select", "options": ["Sales", "Returns"], "link": null,
                 "required": true},
                {"key": "terms", "label": "I agree", "type": "consent", "options": [],
                 "link": "https://shop.example/terms", "required": true},
            ],
        });
        let settings = json!({
            "color": "#102030", "color2": "#ffffff", "theme": "dark", "position": "left",
            "launcher": {"hidden": true, "offset_x": 0, "offset_y": 90, "z_index": 7}, "title": "Help",
            "greeting": "Hello", "avatar": null, "language": "uk", "texts": {"send": "Go"}, "contacts_form": form,
            "rating": false, "sound": false, "typing_preview": false, "reply_time": "hours",
        });
        let mut stored = settings.clone();
        stored["moved_from"] = json!("jivo");
        stored["allowed_sites"] = json!([]);
        let widget = account.create_widget(stored.clone()).await;
        let path = format!("/admin/channels/{}", widget.id);
        assert_eq!(account.admin.client.get(&path).await.expect(200)["widget"], stored);
        let session = host.anonymous.post(&format!("/widget/{}/session", widget.id), &json!({})).await.expect(200);
        assert_eq!(session["widget"], settings);
        let cleared = json!({"widget": {"reply_time": null, "moved_from": null, "launcher": {"hidden": false}}});
        let changed = account.admin.client.patch(&path, &cleared).await.expect(200)["widget"].clone();
        assert_eq!((&changed["reply_time"], &changed["moved_from"]), (&json!(null), &json!(null)));
        assert_eq!(changed["launcher"], json!({"hidden": false, "offset_x": 0, "offset_y": 90, "z_index": 7}));
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
            ("widget.theme", json!({"name": "Shop", "widget": {"theme": "blue"}})),
            ("widget.launcher.z_index", json!({"name": "Shop", "widget": {"launcher": {"z_index": 0}}})),
            ("widget.reply_time", json!({"name": "Shop", "widget": {"reply_time": "never"}})),
            ("widget.moved_from", json!({"name": "Shop", "widget": {"moved_from": "x"}})),
            (
                "widget.contacts_form.custom_fields[0].key",
                json!({"name": "Shop", "widget": {"contacts_form": {"custom_fields": [{"key": "A b"}]}}}),
            ),
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
