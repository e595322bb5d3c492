//! What agents know of visitors, and how they shut one up.

use serde_json::{Value, json};

use crate::client::{Account, Channel};
use crate::harness::{VISITOR, on_stage, visitor_text};

const ADA: &str = "/agent/visitors/1";

/// A visitor, number 1, has written.
async fn written(stage: &crate::harness::Stage) -> (Account, Channel) {
    let account = stage.account().await;
    let channel = account.channel("https://app.example/hook").await;
    channel.say(VISITOR, "Hello").await;
    (account, channel)
}

#[test]
fn what_an_agent_corrects_is_shown_with_its_source() {
    on_stage(async |stage| {
        let (account, _) = written(stage).await;
        let known = json!({"name": "Ada", "email": "a@b.c", "phone": "020", "description": "Likes numbers"});
        let answer = account.admin.call.patch(ADA, &known).await.expect(200);
        let shown = account.admin.chat(1).await["visitor"].clone();
        let agent = "agent";
        for visitor in [&answer, &shown] {
            for (field, value) in known.as_object().unwrap() {
                assert_eq!(&visitor[field], value, "{field}");
            }
            let sources = json!({"name": agent, "email": agent, "phone": agent, "description": agent});
            assert_eq!(visitor["sources"], sources);
        }
        assert_eq!(account.admin.chats("waiting").await[0]["visitor"]["name"], "Ada");
    });
}

#[test]
fn who_said_something_last_is_its_source() {
    on_stage(async |stage| {
        let (account, channel) = written(stage).await;
        account.admin.call.patch(ADA, &json!({"name": "Ada", "phone": "020"})).await.expect(200);
        let mut body = visitor_text(VISITOR, "Call me Augusta");
        body["sender"]["name"] = json!("Augusta");
        channel.post(&body).await.expect(200);
        let visitor = account.admin.chat(1).await["visitor"].clone();
        assert_eq!((&visitor["name"], &visitor["phone"]), (&json!("Augusta"), &json!("020")));
        assert_eq!(visitor["sources"], json!({"name": "integrator", "phone": "agent"}));
    });
}

#[test]
fn a_correction_stays_until_the_integrator_says_something_new() {
    on_stage(async |stage| {
        let (account, channel) = written(stage).await;
        let says = async |name: &str| {
            let mut body = visitor_text(VISITOR, "Hi");
            body["sender"]["name"] = json!(name);
            channel.post(&body).await.expect(200);
            account.admin.chat(1).await["visitor"]["name"].clone()
        };
        assert_eq!(says("Ada").await, "Ada");
        account.admin.call.patch(ADA, &json!({"name": "Ada Lovelace"})).await.expect(200);
        assert_eq!(says("Ada").await, "Ada Lovelace", "repeated, not new");
        assert_eq!(account.admin.chats("waiting").await[0]["visitor"]["name"], "Ada Lovelace");
        assert_eq!(says("Augusta").await, "Augusta");
    });
}

#[test]
fn a_blacklisted_visitor_is_answered_and_not_heard() {
    on_stage(async |stage| {
        let (account, channel) = written(stage).await;
        let answer = account.admin.call.patch(ADA, &json!({"blacklisted": true})).await.expect(200);
        assert_eq!(answer["blacklisted"], true);
        let before = (account.admin.chat(1).await, account.admin.messages(1).await);
        let mut renamed = visitor_text(VISITOR, "Buy now");
        renamed["sender"]["name"] = json!("Mallory");
        let typing = json!({"sender": {"id": VISITOR}, "message": {"type": "typein"}});
        for body in [visitor_text(VISITOR, "Buy"), renamed, typing] {
            assert_eq!(channel.post(&body).await.expect(200), json!({"result": "ok"}));
        }
        assert_eq!((account.admin.chat(1).await, account.admin.messages(1).await), before);
        channel.say("somebody else", "Hello").await;
        assert_eq!(account.admin.chats("waiting").await.len(), 2, "others are heard");
    });
}

#[test]
fn a_blacklisted_visitor_opens_no_chat() {
    on_stage(async |stage| {
        let (account, channel) = written(stage).await;
        account.admin.accept(1).await;
        account.admin.close(1).await;
        account.admin.call.patch(ADA, &json!({"blacklisted": true})).await.expect(200);
        channel.say(VISITOR, "Me again").await;
        assert!(account.admin.chats("open").await.is_empty());
    });
}

#[test]
fn a_visitor_who_is_forgiven_is_heard_again() {
    on_stage(async |stage| {
        let (account, channel) = written(stage).await;
        account.admin.call.patch(ADA, &json!({"blacklisted": true})).await.expect(200);
        channel.say(VISITOR, "lost").await;
        let answer = account.admin.call.patch(ADA, &json!({"blacklisted": false})).await.expect(200);
        assert_eq!(answer["blacklisted"], false);
        channel.say(VISITOR, "heard").await;
        let texts: Vec<Value> = account.admin.messages(1).await.iter().map(|entry| entry["text"].clone()).collect();
        assert_eq!(texts, ["Hello", "heard"]);
    });
}

#[test]
fn every_wrong_field_of_a_visitor_is_named_and_nothing_is_stored() {
    on_stage(async |stage| {
        let (account, _) = written(stage).await;
        let before = account.admin.chat(1).await;
        let no_text = [json!(5), json!(true), json!([]), json!({}), json!("x".repeat(20_000))];
        let fields = ["name", "email", "phone", "description"];
        let texts = fields.iter().flat_map(|field| no_text.iter().map(move |value| (*field, value.clone())));
        let flags = [json!("yes"), json!(1), json!([])].map(|value| ("blacklisted", value));
        for (field, value) in texts.chain(flags) {
            let body = json!({"name": "Stored?", field: value});
            let error = account.admin.call.patch(ADA, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{error}");
        }
        account.admin.call.patch(ADA, &json!([])).await.expect_error(400, "invalid_request");
        assert_eq!(account.admin.chat(1).await, before);
    });
}

#[test]
fn a_visitor_of_another_account_does_not_exist() {
    on_stage(async |stage| {
        let (account, _) = written(stage).await;
        let stranger = stage.account().await.admin.call;
        stranger.patch(ADA, &json!({"name": "Mine"})).await.expect_error(404, "not_found");
        for nobody in ["/agent/visitors/2", "/agent/visitors/0", "/agent/visitors/x"] {
            let reply = account.admin.call.patch(nobody, &json!({"name": "Ada"})).await;
            reply.expect_error(404, "not_found");
        }
        assert_eq!(account.admin.chat(1).await["visitor"]["name"], "Anonymous");
    });
}
