//! Tests of the days, channels and permissions of reports.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::api_client::number;
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::test_host::run_on_shared_host;

#[test]
fn report_has_every_day_and_can_be_limited_to_a_channel() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let (admin, other) = (&fixture.agent, host.create_account().await);
        admin.client.put("/admin/settings", &json!({"time_zone": "Pacific/Kiritimati"})).await.expect(200);
        let plain = fixture.account.create_channel(&fixture.integrator.url()).await;
        plain.send_text("visitor", "Hello").await;
        let chat = chat_number(&fixture.send_visitor_text("visitor", "Hello").await);
        admin.accept(chat).await;
        admin.close(chat).await;

        let report = admin.client.get("/admin/reports").await.expect(200);
        let days = report["days"].as_array().unwrap();
        assert_eq!((days.len(), &report["time_zone"]), (30, &json!("Pacific/Kiritimati")));
        let opened: u64 = days.iter().map(|day| number(&day["totals"]["opened"])).sum();
        assert_eq!((opened, &report["total"]["opened"]), (2, &json!(2)));
        let channels = report["channels"].as_array().unwrap();
        let ids: BTreeSet<_> = channels.iter().map(|channel| channel["channel_id"].to_string()).collect();
        assert_eq!(ids.len(), 2);
        let of_bot = admin.client.get(&format!("/admin/reports?days=1&channel_id={}", fixture.channel.id)).await;
        let of_bot = of_bot.expect(200);
        assert_eq!((&of_bot["total"]["opened"], &of_bot["total"]["settled_by"]["agent"]), (&json!(1), &json!(1)));

        for query in ["days=0", "days=91", "days=x"] {
            let refused = admin.client.get(&format!("/admin/reports?{query}")).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "days", "{query}");
        }
        let agent = fixture.account.create_agent("Bob").await;
        agent.client.get("/admin/reports").await.expect_error(403, "forbidden");
        let unrelated = other.admin.client.get("/admin/reports?days=90").await.expect(200);
        assert_eq!((&unrelated["total"]["opened"], &unrelated["channels"]), (&json!(0), &json!([])));
    });
}
