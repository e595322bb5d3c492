//! Tests of the transcripts that are sent after a chat was closed.

use serde_json::json;

use crate::emails::fixture::Fixture;
use crate::support::api_client::unique_email;
use crate::support::test_host::run_with_virtual_time;
use crate::support::wait::seconds;

#[test]
fn transcript_is_sent_after_the_visitor_could_rate() {
    run_with_virtual_time(async |host, time| {
        let team = unique_email("team");
        let email = json!({"sender_name": "Bücher", "transcript_to": [team], "transcript_to_visitor": true});
        let fixture = Fixture::create(host, time, email, json!({})).await;
        fixture.open_accepted_chat().await;
        fixture.agent.send_text(1, "It is <b>on its way</b>").await;
        fixture.agent.close(1).await;
        time.wait_until_idle().await;
        fixture.visitor.call("rating", json!({"chat_id": 1, "rate": "positive"})).await.expect(200);
        time.advance(seconds(121));
        let to_team = fixture.emails_to(time, &team).await;
        let [transcript] = to_team.as_slice() else { panic!("{to_team:?}") };
        let (text, html) = (transcript["text"].as_str().unwrap(), transcript["html"].as_str().unwrap());
        for part in ["Name: Ada", &fixture.address, "Rating: positive", "Where is my order?", "It is <b>on its way</b>"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(html.contains("It is &lt;b&gt;on its way&lt;/b&gt;"), "{html}");
        assert_eq!(transcript["reply_to"], json!([]));
        assert_eq!(transcript["from"], "=?UTF-8?B?QsO8Y2hlcg==?= <chat@mail.localhost>");
        let to_visitor = fixture.emails_to(time, &fixture.address).await;
        let [transcript] = to_visitor.as_slice() else { panic!("{to_visitor:?}") };
        assert_eq!(transcript["subject"], "Your chat with Bücher");
    });
}

#[test]
fn chat_without_an_agent_has_no_transcript() {
    run_with_virtual_time(async |host, time| {
        let team = unique_email("team");
        let email = json!({"sender_name": "Shop", "transcript_to": [team]});
        let fixture = Fixture::create(host, time, email, json!({})).await;
        fixture.account.admin.client.put("/admin/settings", &json!({"idle_close": 1})).await.expect(200);
        time.wait_until_idle().await;
        time.advance(seconds(11));
        fixture.visitor.say("Hello?").await;
        time.advance(seconds(3_700));
        host.local.run_schedule("schedule-close-idle-chats").await.unwrap();
        assert_eq!(fixture.agent.chat(1).await["state"], "closed");
        assert_eq!(fixture.emails_to(time, &team).await, Vec::<serde_json::Value>::new());
    });
}
