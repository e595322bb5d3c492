//! Values that several tests use: times, an account `acc` with channel `CH`, bot `B`, agents, a department and
//! webhooks, and the parameters of a visitor's message.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;

use crate::chats::agent::transfer_chat::Transfer;
use crate::chats::notifications::NotificationContext;
use crate::domain::bots::bot_settings::BotSettings;
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::store::tests::*;

pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// A minute in seconds.
pub(crate) const MINUTE: u64 = 60;
/// A day in seconds.
pub(crate) const DAY: u64 = 24 * 60 * MINUTE;

pub(crate) const OPEN_STATES: &[&str] = &ChatState::OPEN_NAMES;

pub(crate) fn seconds_later(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

pub(crate) fn channel() -> Channel {
    let api = ApiSettings {
        chunked: true,
        validation: ValidationMode::Lenient,
        hidden_error_codes: vec![-1, 9],
        rich_support: RichSupport { markdown: true, buttons: false },
        delivery: DeliveryOptions { late_delivery: true, strict_order: true },
        ..default_api_settings()
    };
    let settings = api_channel_settings(&[2], &[3], api);
    Channel {
        channel_id: "CH".into(),
        account_id: "acc".into(),
        settings,
        bot_id: None,
        secrets: vec![EndpointSecret { hash: crate::domain::sha256::digest("random"), valid_until: None }],
        signing_secrets: SigningSecrets::new("whsec_x"),
        created_at: NOW,
        outage_status: OutageStatus::Reported,
    }
}

pub(crate) fn widget_settings() -> ChannelSettings {
    let widget = KindSettings::Widget(Box::new(WidgetSettings::with_title("Acme".into())));
    ChannelSettings { specific: widget, ..channel().settings }
}

pub(crate) fn agent(agent_id: u64, email: &str) -> Agent {
    Agent {
        account_id: "acc".into(),
        agent_id,
        name: "Bob".into(),
        email: email.into(),
        phone: None,
        photo: Some("https://x.example/b.png".into()),
        role: Role::Admin,
        capacity: None,
        created_at: NOW,
    }
}

pub(crate) fn bob() -> AgentSnapshot {
    AgentSnapshot { agent_id: 1, name: "Bob".into(), photo: None }
}

/// A transfer without a note in an account without a capacity.
pub(crate) fn transfer_to(to: &TransferTarget) -> Transfer<'_> {
    Transfer { to, note: None, claim: None }
}

pub(crate) fn agent_snapshot(agent_id: u64) -> AgentSnapshot {
    AgentSnapshot { agent_id, name: format!("Agent {agent_id}"), photo: None }
}

pub(crate) fn agent_session(agent_id: u64, role: Role) -> Session {
    Session {
        id: "hash".into(),
        account_id: "acc".into(),
        agent: agent_snapshot(agent_id),
        role,
        access: SessionAccess::Full,
        ends_at: seconds_later(30 * DAY),
    }
}

pub(crate) fn bot(channel_ids: &[&str]) -> Bot {
    Bot {
        bot_id: "B".into(),
        account_id: "acc".into(),
        provider_id: "P".into(),
        token: "secret token".into(),
        name: "Robo".into(),
        channel_ids: channel_ids.iter().map(|id| (*id).to_owned()).collect(),
        settings: BotSettings { answer_within: Some(Duration::from_secs(60)), ..BotSettings::default() },
        signing_secrets: SigningSecrets::new("whsec_y"),
        created_at: NOW,
    }
}

pub(crate) fn bot_with_agent_wait(wait: Duration, bot: Bot) -> Bot {
    Bot { settings: BotSettings { agent_wait: Some(wait), ..bot.settings.clone() }, ..bot }
}

/// The provider of [`bot`].
pub(crate) fn provider() -> Provider {
    Provider {
        provider_id: "P".into(),
        name: "Bots".into(),
        endpoint: "https://bots.example/".into(),
        authorization_hash: None,
        created_at: NOW,
    }
}

pub(crate) fn sales() -> Department {
    Department { department_id: 1, name: "Sales".into(), agent_ids: vec![2, 3], ..Department::default() }
}

/// Creates a webhook that subscribes to all events.
pub(crate) fn webhook(webhook_id: &str) -> Webhook {
    Webhook::new(webhook_id.into(), "https://crm.example".into(), SigningSecrets::new("whsec_x"))
}

/// The context of a transition in an account without webhooks.
pub(crate) fn without_webhooks(now: Timestamp) -> NotificationContext<'static> {
    notifying(&[], now)
}

pub(crate) fn notifying(webhooks: &[Webhook], now: Timestamp) -> NotificationContext<'_> {
    NotificationContext { webhooks, agent_id: None, now }
}

pub(crate) fn settings_with_idle_close(minutes: u64) -> AccountSettings {
    AccountSettings {
        idle_close: Some(Duration::from_secs(minutes * MINUTE)),
        webhooks: vec![webhook("w")],
        ..AccountSettings::default()
    }
}

/// Creates a time budget that is used up after `max_checks` checks.
pub(crate) fn budget_of_checks(max_checks: usize) -> impl Fn() -> bool + Sync {
    let checks = AtomicUsize::new(0);
    move || checks.fetch_add(1, Ordering::Relaxed) < max_checks
}

pub(crate) fn profile_named(name: &str) -> VisitorProfile {
    VisitorProfile { name: Some(name.into()), ..VisitorProfile::default() }
}

/// Visitor `v` of the channel.
pub(crate) fn from_visitor<'a>(stores: &'a Stores, channel: &'a Channel, now: Timestamp) -> FromVisitor<'a> {
    let settings = &stores.settings;
    FromVisitor {
        channel,
        department: None,
        bot_id: channel.bot_id.as_deref(),
        external_id: "v",
        network: None,
        settings,
        key: None,
        now,
    }
}

pub(crate) fn visitor_text<'a>(
    stores: &'a Stores,
    channel: &'a Channel,
    content: &'a Content,
    profile: &'a VisitorProfile,
    now: Timestamp,
) -> VisitorText<'a> {
    let from = from_visitor(stores, channel, now);
    let source = ProfileSource::Integrator;
    VisitorText { from, content, has_numeric_id: false, invite: None, profile, source, page: None }
}

pub(crate) async fn account_with_four_agents() -> Stores {
    let stores = stores().await;
    stores.directory.create_account("Acme", &agent(1, "1@example.com"), &test_password_hash()).await.unwrap();
    for agent_id in 2..=4 {
        assert_eq!(stores.directory.next_agent_id("acc").await.unwrap(), agent_id);
        let agent = agent(agent_id, &format!("{agent_id}@example.com"));
        stores.directory.create_agent(&agent, &test_password_hash(), Authority::Operator).await.unwrap();
    }
    stores
}

pub(crate) fn test_password_hash() -> PasswordHash {
    PasswordHash { text: "hash".to_owned(), must_change: false }
}

/// For erasures of chats without files.
pub(crate) fn no_files<'a>(file_id: String) -> BoxFuture<'a, Result<(), Error>> {
    Box::pin(async move { panic!("unexpected file {file_id}") })
}
