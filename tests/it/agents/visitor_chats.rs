//! Tests of `GET /agent/visitors/{number}/chats`.

use serde_json::{Value, json};

use crate::support::api_client::{TestAgent, chat_numbers};
use crate::support::test_host::{open_accepted_chat, run_on_shared_host};

#[test]
fn earlier_chats_of_a_visitor_are_listed() {
    run_on_shared_host(async |host| {
        let (account, other_account) = (host.create_account().await, host.create_account().await);
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        let channel = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ben.id]})).await;
        let path = "/agent/visitors/1/chats";
        for n in 1..=12 {
            channel.send_text("ada", &format!("Question {n}")).await;
            // Ann handles only the second and the last chat, and Ben handles all others.
            let agent = if [2, 12].contains(&n) { &ann } else { &ben };
            if agent.id == ann.id {
                ann.set_presence("online").await;
                account.admin.accept(n).await;
                let to = json!({"agent_id": ann.id});
                account.admin.client.post(&format!("/agent/chats/{n}/transfer"), &to).await.expect(200);
            } else {
                ben.accept(n).await;
            }
            agent.close(n).await;
        }
        let pages = async |agent: &TestAgent| {
            let first = agent.client.get(path).await.expect(200);
            let second = format!("{path}?cursor={}", first["next"].as_str().unwrap());
            let second = agent.client.get(&second).await.expect(200);
            assert_eq!(second["next"], Value::Null);
            [chat_numbers(&first), chat_numbers(&second)]
        };
        let first_page: Vec<u64> = (3..=12).rev().collect();
        for agent in [&account.admin, &ben] {
            assert_eq!(pages(agent).await, [first_page.clone(), vec![2, 1]]);
        }
        assert_eq!(pages(&ann).await, [vec![12], vec![2]]);
        let row = account.admin.client.get(path).await.expect(200)["chats"][0].clone();
        assert_eq!(row, account.admin.chats("closed").await[0], "the same row as in the list");
        other_account.admin.client.get(path).await.expect_error(404, "not_found");
        channel.send_text("ada", "For Ben only").await;
        ann.client.get(path).await.expect_error(403, "forbidden");
        let other = open_accepted_chat(&ben, &channel, "bob").await;
        let foreign_cursor = format!("{path}?cursor={other}");
        for path in
            [&foreign_cursor, &format!("{path}?cursor=x"), &format!("{path}?cursor=-1"), &format!("{path}?cursor=")]
        {
            let error = account.admin.client.get(path).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], "cursor", "{path}");
        }
    });
}
