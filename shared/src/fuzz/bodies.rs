//! Fuzzes the bodies of requests. A value that is stored must be unchanged when it is read. If the service returns a
//! value in the same form in which it accepts it, the returned value must also be accepted and remain unchanged.

use serde_json::{Value, json};

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::canned_reply;
use crate::domain::accounts::department::Department;
use crate::domain::accounts::inbox_settings::InboxSettings;
use crate::domain::bots::bot::Bot;
use crate::domain::bots::bot_settings::BotSettings;
use crate::domain::calls::telephony::Telephony;
use crate::domain::channels::channel::{Channel, ChannelSettings, EndpointSecret, KindSettings};
use crate::domain::channels::contacts_form::{ContactsForm, CustomField, CustomFieldKind};
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::channels::widget::WidgetSettings;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::outage::OutageStatus;
use crate::domain::deliveries::signing_key::SigningKey;
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::files::file_settings::FileSettings;
use crate::domain::visitors::visitor::{ProfileSource, Visitor, VisitorChanges, VisitorProfile};
use crate::fuzz::{CALL_ID, NOW, accepted, json, targets};
use crate::store::tests::stored_form::StoredForm;
use crate::wire::admin::canned_replies::{CannedReply, CannedReplyChanges, NewCannedReply};
use crate::wire::admin::delivery_log;
use crate::wire::admin::receiver_test::ChannelTestRequest;
use crate::wire::admin::settings;
use crate::wire::admin::settings::AccountSettingsChanges;
use crate::wire::admin::signing_secret::SecretRotation;
use crate::wire::admin::telephony_settings::{self, CallBalanceTopUp, TelephonyChanges};
use crate::wire::admin::webhook_settings;
use crate::wire::admin::webhook_settings::{NewWebhook, WebhookChanges};
use crate::wire::admin::{
    self, AgentChanges, AgentWithPassword, BotChanges, BotToken, ChannelChanges, DepartmentChanges, NewAccount,
    NewAgent, NewApiChannel, NewBot, NewChannel, NewDepartment, NewProvider, NewWidgetChannel, ProviderChanges,
};
use crate::wire::agent::{LoginRequest, NewAgentPresence};
use crate::wire::bots::bot;
use crate::wire::bots::bot::BotEventKind;
use crate::wire::bots::bot_error::BotApiError;
use crate::wire::bots::bot_sample::BotTest;
use crate::wire::calls::call_gateway;
use crate::wire::channels::message_content::{MessageFields, ParsedMessage};
use crate::wire::channels::visitor_message;
use crate::wire::channels::visitor_report::{RatingReport, ReceiptReport};
use crate::wire::fields::reader::read;
use crate::wire::uploads::UploadRequest;
use crate::wire::webhooks::webhook_sample::WebhookTestRequest;
use crate::wire::widget::{
    BrowserPage, CallbackRequest, HistoryRequest, OfflineMessageRequest, RatingRequest, SessionRequest,
    WidgetCallRequest, WidgetMessageRequest, WidgetTicketRequest, WidgetVisitorUpdate,
};
use crate::wire::{agent, sample_data};

targets!(
    visitor_message,
    bot_event,
    channel_rating,
    channel_receipt,
    widget_message,
    widget_session,
    widget_visitor,
    widget_offline_message,
    widget_history,
    widget_rating,
    widget_call,
    agent_login,
    agent_presence,
    agent_typing,
    agent_message,
    agent_note,
    agent_message_edit,
    agent_planned_message,
    agent_upload,
    agent_call,
    agent_transfer,
    agent_chat,
    agent_visitor,
    admin_agent,
    admin_bot,
    admin_channel,
    admin_widget,
    admin_department,
    admin_canned_reply,
    admin_settings,
    admin_webhook,
    admin_telephony,
    admin_replay,
    admin_rotation,
    admin_receiver_test,
    operator_account,
    operator_provider,
    operator_top_up,
    call_report,
    incoming_call,
);

fn guard() -> SsrfGuard {
    SsrfGuard::new(Vec::new(), true)
}

fn assert_stored<T: StoredForm + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(value.stored_and_read(), *value);
}

fn assert_content_stored(content: &Content) {
    let entry: TimelineEntry = sample_data::agent_message("m", NOW);
    assert_stored(&TimelineEntry { content: content.clone(), ..entry });
}

fn assert_profile_stored(profile: &VisitorProfile, source: ProfileSource) {
    let mut visitor = sample_data::visitor();
    visitor.merge_profile(profile, source);
    assert_visitor_stored(visitor);
}

fn assert_visitor_stored(visitor: Visitor) {
    assert_stored(&Visitor { changes: VisitorChanges::default(), ..visitor });
}

fn visitor_message(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let strict = accepted(&body, visitor_message::parse(&body, false));
    let lenient = accepted(&body, visitor_message::parse(&body, true));
    let Some(message) = lenient else { return assert!(strict.is_none(), "a lenient channel rejects it") };
    assert!(strict.is_none_or(|strict| strict == message), "the channel's validation changes the message");
    let visitor = Visitor { external_id: message.external_id.clone(), ..sample_data::visitor() };
    assert_visitor_stored(visitor);
    assert_profile_stored(&message.profile, ProfileSource::Integrator);
    let ParsedMessage::Content(content) = &message.message else { return };
    assert_content_stored(content);
    let sent = json!({ "sender": { "id": "v" }, "message": MessageFields::from(&**content) });
    assert_eq!(visitor_message::parse(&sent, true).unwrap().message, message.message);
}

fn bot_event(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let event = match bot::parse_event(&body) {
        Ok(event) => event,
        Err(BotApiError::Common(error)) => return assert!(accepted::<()>(&body, Err(error)).is_none()),
        Err(error) => return assert!(matches!(error, BotApiError::UnsupportedEvent(_)), "{error}"),
    };
    match event.kind {
        BotEventKind::Message(content) => assert_content_stored(&content),
        BotEventKind::ClientInfo(profile) => assert_profile_stored(&profile, ProfileSource::Bot),
        BotEventKind::InviteAgent(invitation) => {
            assert_content_stored(&Content::Handover(Box::new(invitation.details)));
        }
        BotEventKind::CloseChat { text } => {
            if let Some(text) = text {
                assert_content_stored(&Content::text(text));
            }
        }
        BotEventKind::Draft { text } => assert_content_stored(&Content::text(text)),
        BotEventKind::Typing(_) | BotEventKind::Growing { .. } => {}
    }
}

fn widget_message(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let content = read::<WidgetMessageRequest>(&body).and_then(|message| Ok((message.content()?, message)));
    let Some((content, message)) = accepted(&body, content) else { return };
    assert_content_stored(&content);
    let mut visitor = sample_data::visitor();
    message.page.and_then(BrowserPage::into_page).into_iter().for_each(|page| visitor.set_page(page));
    assert_visitor_stored(visitor);
}

fn widget_session(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<SessionRequest>(&body));
    accepted(&body, read::<WidgetTicketRequest>(&body));
    accepted(&body, read::<CallbackRequest>(&body));
}

fn widget_visitor(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(update) = accepted(&body, read::<WidgetVisitorUpdate>(&body)) else { return };
    let update = update.into_update();
    let mut visitor = sample_data::visitor();
    visitor.merge_profile(&update.contact_info, update.source);
    update.custom_data.into_iter().for_each(|data| visitor.set_custom_data(data));
    let form = contacts_form();
    update.answers.into_iter().for_each(|answers| visitor.set_answers(form.lines_of_answers(&answers)));
    update.user_token.into_iter().for_each(|token| visitor.set_user_token(token));
    update.page.into_iter().for_each(|page| visitor.set_page(page));
    update.utm.into_iter().for_each(|utm| visitor.set_utm(utm));
    update.analytics.into_iter().for_each(|analytics| visitor.set_analytics(analytics));
    assert_visitor_stored(visitor);
}

fn contacts_form() -> ContactsForm {
    let field = |key: &str, kind| CustomField { key: key.into(), label: key.into(), kind, is_required: false };
    let custom_fields = vec![
        field("order", CustomFieldKind::Text),
        field("terms", CustomFieldKind::Consent { link: Some("https://shop.example/terms".into()) }),
    ];
    ContactsForm { custom_fields, ..ContactsForm::default() }
}

fn widget_offline_message(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(message) = accepted(&body, read(&body).and_then(OfflineMessageRequest::checked)) else { return };
    assert_profile_stored(&message.contacts, ProfileSource::Visitor);
    assert_content_stored(&Content::text(message.text));
}

fn widget_history(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<HistoryRequest>(&body));
}

fn channel_rating(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<RatingReport>(&body));
}

fn channel_receipt(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<ReceiptReport>(&body));
}

fn widget_rating(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<RatingRequest>(&body));
}

fn widget_call(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<WidgetCallRequest>(&body));
}

fn agent_login(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(login) = accepted(&body, read::<LoginRequest>(&body)) else { return };
    let (email, password) = login.into_credentials();
    let again = json!({ "email": email, "password": password });
    assert!(email.is_empty() || read::<LoginRequest>(&again).is_ok(), "{again}");
}

fn agent_presence(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<NewAgentPresence>(&body));
}

fn agent_typing(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<agent::AgentTyping>(&body));
}

fn agent_message(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some((content, _)) = accepted(&body, agent::parse_agent_message(&body)) else { return };
    assert_content_stored(&content);
    assert_eq!(agent::parse_agent_message(&json!(MessageFields::from(&content))).unwrap().0, content);
}

fn agent_planned_message(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(planned) = accepted(&body, read::<agent::NewPlannedMessage>(&body)) else { return };
    let Some((text, _)) = accepted(&body, planned.checked(Some(NOW))) else { return };
    assert_content_stored(&Content::text(text));
}

fn agent_upload(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(request) = accepted(&body, read::<UploadRequest>(&body)) else { return };
    let Ok((file, _)) = request.checked(&FileSettings::default()) else { return };
    let disposition = file.name.content_disposition(file.file_type);
    assert!(disposition.is_ascii() && !disposition.contains(['"', '\r', '\n']), "{disposition}");
}

fn agent_note(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(note) = accepted(&body, read::<agent::NewNote>(&body)) else { return };
    let (text, mentions) = note.into_parts();
    assert_content_stored(&Content::Note { text, mentions });
}

fn agent_message_edit(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(edited) = accepted(&body, read::<agent::EditedMessage>(&body)) else { return };
    assert_content_stored(&Content::text(edited.into_text()));
}

fn agent_call(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<agent::AgentCallRequest>(&body));
}

fn agent_transfer(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<agent::ChatTransfer>(&body).and_then(|transfer| transfer.checked()));
}

fn agent_chat(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(update) = accepted(&body, read::<agent::ChatUpdate>(&body)) else { return };
    let Some(change) = accepted(&body, update.checked(NOW)) else { return };
    let chat = sample_data::chat(NOW);
    let Some(agent) = chat.state.agent() else { return };
    assert_stored(&change.applied_to(&chat, agent).unwrap());
}

fn agent_visitor(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(changes) = accepted(&body, read::<agent::VisitorChanges>(&body)) else { return };
    assert_profile_stored(&changes.into_profile(), ProfileSource::Agent);
}

fn assert_agent_stored(new: AgentWithPassword) {
    let agent = new.into_agent("acc".into(), 1, NOW);
    assert_stored(&agent);
    let again = read::<AgentChanges>(&json!(admin::Agent::new(&agent))).unwrap();
    assert_eq!(again.applied_to(&agent).unwrap().agent, agent);
}

fn admin_agent(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<NewAgent>(&body).and_then(NewAgent::checked)).into_iter().for_each(assert_agent_stored);
    let before = sample_data::agent(NOW);
    let changed = read::<AgentChanges>(&body).and_then(|changes| changes.applied_to(&before));
    let Some(change) = accepted(&body, changed) else { return };
    assert_stored(&change.agent);
}

fn admin_bot(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let mut bot = Bot {
        bot_id: "B".into(),
        account_id: "acc".into(),
        provider_id: "P".into(),
        token: "token".into(),
        name: "Bot".into(),
        channel_ids: Vec::new(),
        settings: BotSettings::default(),
        signing_secrets: SigningSecrets::new("whsec_x"),
        created_at: NOW,
    };
    if let Some(changes) = accepted(&body, read::<BotChanges>(&body)) {
        changes.applied_to(&bot).iter().for_each(assert_stored);
    }
    let Some(new) = accepted(&body, read::<NewBot>(&body)) else { return };
    let (channel_ids, settings) = (new.channel_ids(), new.settings().unwrap());
    let token = new.origin.token.map(|BotToken(token)| token).unwrap_or_default();
    bot = Bot { token, name: new.origin.name.0.unwrap_or_default(), channel_ids, settings, ..bot };
    assert_stored(&bot);
    let mut again = json!(admin::Bot::new(&bot));
    again.as_object_mut().unwrap().remove("provider_id");
    if !bot.name.is_empty() {
        assert_eq!(read::<BotChanges>(&again).unwrap().applied_to(&bot).unwrap(), bot);
    }
}

fn channel(settings: ChannelSettings) -> Channel {
    let (secrets, signing_secrets) = match settings.specific {
        KindSettings::Api(_) => {
            let secret = EndpointSecret { hash: [7; 32], valid_until: None };
            (vec![secret], SigningSecrets::new("whsec_x"))
        }
        KindSettings::Widget(_) => (Vec::new(), SigningSecrets::default()),
    };
    let (channel_id, account_id) = ("CH".to_owned(), "acc".to_owned());
    let (bot_id, created_at, outage_status) = (None, NOW, OutageStatus::default());
    Channel { channel_id, account_id, settings, bot_id, secrets, signing_secrets, created_at, outage_status }
}

fn assert_channel_stored(settings: ChannelSettings) {
    let channel = channel(settings);
    assert_stored(&channel);
    let again: ChannelChanges = read(&json!(admin::Channel::new(&channel, "https://api.example", NOW))).unwrap();
    assert_eq!(again.applied_to(&channel.settings, &guard()).unwrap(), channel.settings);
}

fn admin_channel(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, NewChannel::read(&body));
    let new = |body: &Value| read::<NewApiChannel>(body).and_then(|new| new.into_settings(&guard()));
    accepted(&body, new(&body)).into_iter().for_each(assert_channel_stored);
    let before = new(&json!({ "name": "App", "integrator_url": "https://app.example/{channel_id}" })).unwrap();
    let changed = read::<ChannelChanges>(&body).and_then(|changes| changes.applied_to(&before, &guard()));
    accepted(&body, changed).into_iter().for_each(assert_channel_stored);
}

fn admin_widget(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let title = || "Acme".to_owned();
    let new = read::<NewWidgetChannel>(&body).and_then(|new| new.into_settings(title()));
    accepted(&body, new).into_iter().for_each(assert_channel_stored);
    let widget = KindSettings::Widget(Box::new(WidgetSettings::with_title(title())));
    let (agent_ids, department_ids) = (vec![1], vec![2]);
    let before = ChannelSettings {
        name: "Shop".into(),
        enabled: true,
        agent_ids,
        department_ids,
        business_hours: None,
        specific: widget,
    };
    let changed = read::<ChannelChanges>(&body).and_then(|changes| changes.applied_to(&before, &guard()));
    accepted(&body, changed).into_iter().for_each(assert_channel_stored);
}

fn admin_department(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let before = Department { department_id: 1, name: "Sales".into(), ..Department::default() };
    accepted(&body, read::<NewDepartment>(&body));
    let changed = read::<DepartmentChanges>(&body).and_then(|changes| changes.applied_to(&before));
    let Some(department) = accepted(&body, changed) else { return };
    assert_stored(&department);
    let again = read::<DepartmentChanges>(&json!(admin::Department::new(&department, NOW))).unwrap();
    assert_eq!(again.applied_to(&before).unwrap(), department);
}

fn admin_canned_reply(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(new) = accepted(&body, read::<NewCannedReply>(&body)) else { return };
    let reply = new.into_reply("r".into());
    assert_stored(&reply);
    let changes: CannedReplyChanges = read(&json!(CannedReply::new(&reply))).unwrap();
    let before = canned_reply::CannedReply { id: "r".into(), ..canned_reply::CannedReply::default() };
    assert_eq!(changes.applied_to(before), reply);
}

fn admin_settings(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(changes) = accepted(&body, read::<AccountSettingsChanges>(&body)) else { return };
    accepted(&body, changes.webhook_url(&guard()));
    let rules = accepted(&body, changes.rules()).flatten().unwrap_or_default();
    let Some(inbox) = accepted(&body, changes.inbox(&InboxSettings::default())) else { return };
    let Some(changed) = accepted(&body, changes.applied_to(&AccountSettings::default())) else { return };
    let changed = AccountSettings { inbox, ..changed };
    assert_stored(&changed);
    let again = json!(settings::AccountSettings::new(
        "acc",
        &changed,
        rules.clone(),
        settings::StackParameters::default(),
        NOW
    ));
    let again: AccountSettingsChanges = read(&again).unwrap();
    let repeated = AccountSettings {
        inbox: again.inbox(&changed.inbox).unwrap(),
        ..again.applied_to(&AccountSettings::default()).unwrap()
    };
    assert_eq!(repeated, changed);
    assert!(rules.is_null() || again.rules().unwrap() == Some(rules));
}

fn admin_webhook(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let secrets = SigningSecrets::new("whsec_x");
    let before = Webhook::new("w".into(), String::new(), secrets);
    let key = SigningKey { seed: [1; 32], public_key: [2; 32] }.to_private_text();
    let new = read::<NewWebhook>(&body).and_then(|new| new.into_webhook(before, &key, &guard()));
    let Some(webhook) = accepted(&body, new) else { return };
    assert_stored(&AccountSettings { webhooks: vec![webhook.clone()], ..AccountSettings::default() });
    let again: WebhookChanges = read(&json!(webhook_settings::Webhook::new(&webhook))).unwrap();
    assert_eq!(again.applied_to(&webhook, &key, &guard()).unwrap(), webhook);
}

fn admin_telephony(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some(changes) = accepted(&body, read::<TelephonyChanges>(&body)) else { return };
    let Some(telephony) = accepted(&body, changes.applied_to(None, &guard())) else { return };
    assert_stored(&telephony);
    assert_telephony_returned(&telephony);
    accepted(&body, changes.applied_to(Some(telephony), &guard())).iter().for_each(assert_telephony_returned);
}

fn assert_telephony_returned(telephony: &Telephony) {
    let incoming_url = "https://api.example/calls/acc".to_owned();
    let response = json!(telephony_settings::Telephony::new(Some(telephony), 0, incoming_url));
    let again: TelephonyChanges = read(&response["telephony"]).unwrap();
    let again = again.applied_to(Some(telephony.clone()), &guard()).unwrap();
    // An empty list stands for the country of the account's number, which the response names.
    assert_eq!(Telephony { countries: telephony.countries.clone(), ..again }, *telephony);
}

fn admin_replay(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<delivery_log::ReplayRequest>(&body).and_then(|request| request.checked()));
}

fn admin_rotation(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<SecretRotation>(&body));
}

fn admin_receiver_test(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<WebhookTestRequest>(&body));
    accepted(&body, read::<BotTest>(&body));
    accepted(&body, read::<ChannelTestRequest>(&body));
}

fn operator_account(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let Some((_, admin)) = accepted(&body, read::<NewAccount>(&body).and_then(NewAccount::checked)) else { return };
    assert_agent_stored(admin);
}

fn operator_provider(input: &[u8]) {
    let Some(body) = json(input) else { return };
    let new = read::<NewProvider>(&body).and_then(|new| new.into_provider("P".into(), NOW, &guard()));
    let Some(provider) = accepted(&body, new) else { return };
    assert_stored(&provider);
    let again = read::<ProviderChanges>(&json!(admin::Provider::new(&provider))).unwrap();
    assert_eq!(again.applied_to(&provider, &guard()).unwrap(), provider);
}

fn operator_top_up(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, read::<CallBalanceTopUp>(&body));
}

fn call_report(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, call_gateway::parse_report(&body, CALL_ID));
}

fn incoming_call(input: &[u8]) {
    let Some(body) = json(input) else { return };
    accepted(&body, call_gateway::parse_incoming(&body));
}
