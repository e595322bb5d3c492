//! Tests of the audit log: each change has one entry, a failed change has none, and no entry contains a secret, a URL
//! or the text of a canned reply. Also tests the retention of the entries, and how the log is paged and filtered.

use crate::domain::accounts::audit::{
    AuditAction, AuditEntry, AuditFilter, AuditedChange, AuditedKind, AuditedRequest,
};
use crate::store::tests::*;

const ALL_TIMES: (Timestamp, Timestamp) = (Timestamp(0), Timestamp(u64::MAX));

impl Stores {
    /// Returns the directory for a request that Bob makes at this time.
    fn audited_at(&self, at: Timestamp) -> Directory {
        let (agent, source_address) = (Some(bob()), "192.0.2.7".to_owned());
        self.directory.audited(AuditedRequest { agent, source_address, at })
    }

    /// Returns all entries, newest first.
    async fn audit_entries(&self) -> Vec<AuditEntry> {
        let page = self.directory.audit_log("acc", &AuditFilter::default(), ALL_TIMES, None, 100, NOW).await.unwrap();
        assert_eq!(page.next, None);
        page.entries
    }

    /// Returns the action, kind, id and changed fields of each entry, oldest first.
    async fn audited_changes(&self) -> Vec<(AuditAction, AuditedKind, String, String)> {
        let mut entries = self.audit_entries().await;
        entries.reverse();
        entries
            .into_iter()
            .map(|it| (it.change.action, it.change.kind, it.change.id, it.change.fields.join(" ")))
            .collect()
    }
}

fn change(
    action: AuditAction,
    kind: AuditedKind,
    id: &str,
    fields: &str,
) -> (AuditAction, AuditedKind, String, String) {
    (action, kind, id.into(), fields.into())
}

#[tokio::test]
async fn every_kind_of_change_has_an_entry() {
    use AuditAction::{Changed, Created, Deleted, Rotated};
    use AuditedKind::{Agent as AgentKind, Bot as BotKind, CannedReply as ReplyKind, Channel as ChannelKind};
    use AuditedKind::{Department as DepartmentKind, Settings, Webhook as WebhookKind};

    let stores = account_with_four_agents().await;
    let mut second = 0;
    let mut next = || {
        second += 1;
        stores.audited_at(seconds_later(second))
    };
    let (before, admin) = (agent(2, "2@example.com"), Authority::Admin(1));
    let after = Agent { name: "Ann".into(), role: Role::Agent, ..before.clone() };
    next()
        .save_agent(&before, &after, Some(&NewPassword { text: "secret password".into(), must_change: false }), admin)
        .await
        .unwrap();
    next().start_agent_deletion(&after, admin).await.unwrap();
    next().delete_agent(&after).await.unwrap();
    next()
        .create_department("acc", Department { name: "Sales".into(), agent_ids: vec![3], ..Department::default() })
        .await
        .unwrap();
    next()
        .save_department(
            "acc",
            &Department { agent_ids: vec![3], ..sales() },
            &Department { agent_ids: vec![4], ..sales() },
        )
        .await
        .unwrap();
    next().delete_department("acc", &sales()).await.unwrap();
    let (created, _) = next().create_channel("acc", channel().settings, NOW).await.unwrap();
    let renamed = ChannelSettings { name: "New".into(), ..created.settings.clone() };
    next().save_channel_settings(&created, &renamed).await.unwrap();
    let mut rotated = created.clone();
    rotated.rotate([7; 32], NOW, seconds_later(1));
    next().save_channel_secrets(&created, &rotated).await.unwrap();
    stores.directory.create_provider(&provider()).await.unwrap();
    let bot = bot(&[&*created.channel_id]);
    next().create_bot(&bot).await.unwrap();
    next().save_bot(&bot, &Bot { name: "Robin".into(), ..bot.clone() }).await.unwrap();
    next().delete_bot(&bot).await.unwrap();
    next().delete_channel(&created).await.unwrap();
    let reply = CannedReply { id: "r".into(), shortcut: "hi".into(), text: "Hello".into(), ..CannedReply::default() };
    next().create_canned_reply("acc", &reply).await.unwrap();
    let edit = |reply| CannedReply { text: "Hi".into(), ..reply };
    next().edit_canned_reply("acc", "r", edit).await.unwrap();
    next().delete_canned_reply("acc", "r").await.unwrap();
    let limits = |settings: &mut AccountSettings| {
        (settings.idle_close, settings.retention_days) = (None, Some(7));
        Ok(())
    };
    next().edit_settings("acc", limits).await.unwrap();
    let add = |settings: &mut AccountSettings| {
        settings.webhooks.push(webhook("w"));
        Ok(())
    };
    next().edit_settings("acc", add).await.unwrap();
    let rotate = |settings: &mut AccountSettings| {
        settings.webhooks[0].secrets.rotate("whsec_new".into(), NOW, seconds_later(1));
        Ok(())
    };
    next().edit_settings("acc", rotate).await.unwrap();
    let remove = |settings: &mut AccountSettings| {
        settings.webhooks.clear();
        Ok(())
    };
    next().edit_settings("acc", remove).await.unwrap();
    next().save_widget_rules("acc", &serde_json::json!([])).await.unwrap();

    let (channel_id, bot_id) = (&*created.channel_id, &*bot.bot_id);
    let expected = [
        change(Changed, AgentKind, "2", "name role password"),
        change(Deleted, AgentKind, "2", ""),
        change(Created, DepartmentKind, "1", ""),
        change(Changed, DepartmentKind, "1", "agent_ids"),
        change(Deleted, DepartmentKind, "1", ""),
        change(Created, ChannelKind, channel_id, ""),
        change(Changed, ChannelKind, channel_id, "name"),
        change(Rotated, ChannelKind, channel_id, "endpoint"),
        change(Created, BotKind, bot_id, ""),
        change(Changed, BotKind, bot_id, "name"),
        change(Deleted, BotKind, bot_id, ""),
        change(Deleted, ChannelKind, channel_id, ""),
        change(Created, ReplyKind, "r", ""),
        change(Changed, ReplyKind, "r", "text"),
        change(Deleted, ReplyKind, "r", ""),
        change(Changed, Settings, "", "idle_close retention_days"),
        change(Created, WebhookKind, "w", ""),
        change(Rotated, WebhookKind, "w", "signing_secret"),
        change(Deleted, WebhookKind, "w", ""),
        change(Changed, Settings, "", "rules"),
    ];
    assert_eq!(stores.audited_changes().await, expected);

    let request = &stores.audit_entries().await[0].request;
    assert_eq!((&request.agent, &*request.source_address), (&Some(bob()), "192.0.2.7"));
    let items = stores.client.scan().table_name("directory").consistent_read(true).send().await.unwrap().items.unwrap();
    let entries: Vec<String> = items
        .iter()
        .filter(|item| item["pk"].as_s().unwrap().starts_with("AUDIT#"))
        .map(|item| format!("{item:?}"))
        .collect();
    assert_eq!(entries.len(), expected.len());
    for secret in ["secret token", "whsec", "crm.example", "Hello"] {
        assert!(entries.iter().all(|entry| !entry.contains(secret)), "{secret}");
    }
}

#[tokio::test]
async fn failed_or_empty_change_has_no_entry() {
    let stores = account_with_four_agents().await;
    let directory = stores.audited_at(NOW);
    let taken = Agent { email: "3@example.com".into(), ..agent(2, "2@example.com") };
    let refused = directory.save_agent(&agent(2, "2@example.com"), &taken, None, Authority::Admin(1)).await;
    assert!(matches!(refused, Err(Error::Conflict(_))));
    directory.save_department("acc", &sales(), &sales()).await.unwrap();
    let renamed = ChannelSettings { name: "New".into(), ..channel().settings };
    assert!(matches!(directory.save_channel_settings(&channel(), &renamed).await, Err(Error::NotFound)));
    directory.edit_settings("acc", |_| Ok(())).await.unwrap();
    directory.delete_department("acc", &sales()).await.unwrap();
    assert_eq!(stores.audit_entries().await, []);
}

#[tokio::test]
async fn changes_outside_an_audited_request_have_no_entry() {
    let stores = account_with_four_agents().await;
    stores.create_department("Sales", &[]).await;
    assert_eq!(stores.audit_entries().await, []);
}

#[tokio::test]
async fn entries_are_kept_for_400_days_whatever_the_retention_period_is() {
    let stores = account_with_four_agents().await;
    let shorten = |settings: &mut AccountSettings| {
        settings.retention_days = Some(1);
        Ok(())
    };
    stores.audited_at(NOW).edit_settings("acc", shorten).await.unwrap();
    let entries = async |day: u64| {
        let all = AuditFilter::default();
        stores.directory.audit_log("acc", &all, ALL_TIMES, None, 100, seconds_later(day * DAY)).await.unwrap().entries
    };
    assert_eq!(entries(399).await.len(), 1);
    assert_eq!(entries(400).await, []);
}

#[tokio::test]
async fn repeated_requests_have_one_entry_a_minute() {
    let stores = account_with_four_agents().await;
    let minute = NOW.0.div_ceil(60_000) * 60_000;
    let record = async |seconds: u64, id: &str| {
        let change = AuditedChange::unnamed(AuditAction::Exported, AuditedKind::Chats, id);
        let directory = stores.audited_at(Timestamp(minute + seconds * 1_000));
        directory.record_once_a_minute("acc", change).await.unwrap();
    };
    for (seconds, id) in [(1, ""), (59, ""), (59, "7"), (61, "")] {
        record(seconds, id).await;
    }
    let times: Vec<u64> =
        stores.audit_entries().await.iter().map(|entry| (entry.request.at.0 - minute) / 1_000).collect();
    assert_eq!(times, [60, 0, 0]);
}

#[tokio::test]
async fn log_is_paged_and_filtered() {
    let stores = account_with_four_agents().await;
    for minute in 0..7 {
        let directory = stores.audited_at(seconds_later(minute * MINUTE));
        let department = directory
            .create_department(
                "acc",
                Department { name: format!("D{minute}"), agent_ids: vec![], ..Department::default() },
            )
            .await
            .unwrap();
        if minute == 3 {
            directory.delete_department("acc", &department).await.unwrap();
        }
    }
    let read = async |filter: &AuditFilter, times, before, limit| {
        stores.directory.audit_log("acc", filter, times, before, limit, NOW).await.unwrap()
    };
    let all = AuditFilter::default();
    let (mut names, mut before) = (Vec::new(), None);
    loop {
        let page = read(&all, ALL_TIMES, before, 3).await;
        names.extend(page.entries.into_iter().map(|entry| entry.change.name.unwrap()));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    names.sort();
    assert_eq!(names, ["D0", "D1", "D2", "D3", "D3", "D4", "D5", "D6"], "each entry once");

    let newest = read(&all, ALL_TIMES, None, 1).await.next;
    let names = async |filter: AuditFilter, times| {
        let page = read(&filter, times, None, 100).await;
        page.entries.into_iter().map(|entry| entry.change.name.unwrap()).collect::<Vec<_>>()
    };
    let of = |id: &str| AuditFilter { resource_id: Some(id.into()), ..AuditFilter::default() };
    assert_eq!(names(of("4"), ALL_TIMES).await, ["D3", "D3"]);
    let between = (seconds_later(MINUTE), seconds_later(2 * MINUTE));
    assert_eq!(names(all.clone(), between).await, ["D2", "D1"]);
    assert_eq!(read(&all, between, newest, 100).await.entries.len(), 2, "the cursor is later than the times");
    assert!(names(AuditFilter { agent_id: Some(9), ..all.clone() }, ALL_TIMES).await.is_empty());
    assert!(names(AuditFilter { kind: Some(AuditedKind::Bot), ..all.clone() }, ALL_TIMES).await.is_empty());
    assert!(names(all, (seconds_later(DAY), Timestamp(u64::MAX))).await.is_empty());
}
