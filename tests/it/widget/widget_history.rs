//! Tests of the endpoint that returns the earlier messages of a widget's visitor.

use serde_json::{Value, json};

use crate::support::api_client::number;
use crate::support::test_host::run_on_shared_host;
use crate::support::widget_client::TestVisitor;

/// Returns the chats and texts of the messages before an entry, and whether there are earlier ones.
async fn history(visitor: &TestVisitor, chat_id: u64, seq: u64) -> (Vec<(u64, String)>, bool) {
    let before = json!({"before": {"chat_id": chat_id, "seq": seq}});
    let page = visitor.call("history", before).await.expect(200);
    let message = |one: &Value| (number(&one["chat_id"]), one["text"].as_str().unwrap().to_owned());
    let messages = page["messages"].as_array().unwrap().iter().map(message).collect();
    (messages, page["has_earlier"].as_bool().unwrap())
}

fn messages(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
    expected.iter().map(|(chat_id, text)| (*chat_id, (*text).to_owned())).collect()
}

#[test]
fn history_continues_with_earlier_chats() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let visitor = widget.visitor().await;
        visitor.say("Hello").await;
        assert_eq!(visitor.session().await["has_earlier"], false, "there is only one chat");
        account.admin.accept(1).await;
        account.admin.send_text(1, "Hi").await;
        account.admin.client.post("/agent/chats/1/notes", &json!({"text": "a regular"})).await.expect(201);
        account.admin.close(1).await;
        visitor.say("Me again").await;
        let session = visitor.session().await;
        let shown = session["messages"].as_array().unwrap();
        assert_eq!((shown.len(), &session["has_earlier"]), (1, &json!(true)));
        let (chat_id, seq) = (number(&shown[0]["chat_id"]), number(&shown[0]["seq"]));
        let earlier = (messages(&[(1, "Hello"), (1, "Hi")]), false);
        assert_eq!(history(&visitor, chat_id, seq).await, earlier);
        assert_eq!(history(&visitor, chat_id, seq + 1).await.0.len(), 3);
        let after = visitor.call("session", json!({"after": seq})).await.expect(200);
        assert_eq!(after["has_earlier"], false, "nothing is missing after the known message");

        let stranger = widget.visitor().await;
        // The service counts every tenth request of a network.
        for _ in 0..10 {
            assert_eq!(history(&stranger, chat_id, seq).await, (vec![], false));
        }
        visitor.call("visitor", json!({"clear_history": true})).await.expect(200);
        assert_eq!(history(&visitor, chat_id, seq + 1).await, (vec![], false));
        assert_eq!(visitor.session().await["has_earlier"], false);
    });
}

#[test]
fn error_names_the_invalid_field_of_a_history_request() {
    run_on_shared_host(async |host| {
        let visitor = host.create_account().await.create_widget(json!({})).await.visitor().await;
        for (field, body) in [
            ("before", json!({})),
            ("before", json!({"before": 7})),
            ("before.chat_id", json!({"before": {"seq": 1}})),
            ("before.seq", json!({"before": {"chat_id": 1, "seq": -1}})),
        ] {
            let reply = visitor.call("history", body.clone()).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{body}");
        }
    });
}
