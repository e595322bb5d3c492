//! Visitors and their profiles. A profile is merged from several sources. Each value is kept until a source sends a
//! different value. A value that the integrator merely repeats does not undo a correction by another source.

use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat_side_panel::CustomData;
use crate::domain::named::named;
use crate::domain::text::link_detection::is_web_url;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::widget_visitor::{Analytics, BrowserSession, HiddenThrough, Page, Utm, WidgetVisitor};

/// The maximum number of chats that a visitor or a chat refers to. The limit keeps both items small, which matters
/// because every message writes the chat.
pub const MAX_RECENT_CHATS: usize = 10;

named! {
    pub enum ProfileSource as VisitorFieldSource {
        /// The visitor typed the value into a form of the widget.
        Visitor = "visitor",
        /// A script on the page set the value.
        Script = "script",
        Integrator = "integrator",
        Bot = "bot",
        Crm = "crm",
        Agent = "agent",
    }
}

/// Contact data of a visitor (specification, tables A1 and C1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VisitorProfile {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub photo: Option<String>,
    pub url: Option<String>,
    pub description: Option<String>,
}

/// Who set each profile value. `None` means that nobody has set it. The photo and the page have no recorded source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileSources {
    pub name: Option<ProfileSource>,
    pub phone: Option<ProfileSource>,
    pub email: Option<ProfileSource>,
    pub description: Option<ProfileSource>,
}

/// For each profile field whose value comes from another source, the last value that the integrator sent. A field is
/// `None` if the integrator has sent no value, or if the value in the profile comes from the integrator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverriddenIntegratorValues {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub description: Option<String>,
}

/// A part of a stored visitor that is written separately, so that concurrent changes to other parts are preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorField {
    Name,
    Phone,
    Email,
    Description,
    Photo,
    Url,
    Blacklisted,
    Session,
    Utm,
    PageTitle,
    Analytics,
    UserToken,
    CustomData,
    Answers,
    HiddenThrough,
}

/// The changes to a visitor that have not been stored yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitorChanges {
    pub fields: Vec<VisitorField>,
    /// Whether webhooks must be notified. True if the visitor's blacklist status, the user token, an answer to a custom
    /// field or a profile value with a source (see [`ProfileSources`]) has changed. False if only other values have
    /// changed, such as the page.
    pub must_notify_webhooks: bool,
}

impl VisitorChanges {
    fn add(&mut self, field: VisitorField) {
        if !self.fields.contains(&field) {
            self.fields.push(field);
        }
    }
}

impl VisitorProfile {
    /// Returns the URL of the page that was last reported for the visitor. Returns `None` if no page is known, or if
    /// the integrator sent a text instead of a URL.
    pub fn page(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| is_web_url(url))
    }

    /// Returns the text that the integrator sent instead of a page URL, such as the name of a screen. Returns `None` if
    /// there is no such text.
    pub fn url_text(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| !is_web_url(url))
    }

    pub fn display_name(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("Anonymous")
    }
}

/// A visitor of a channel. The same person on another channel counts as a different visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    pub account_id: String,
    pub channel_id: String,
    /// Identifies the visitor in the channel. In an API channel, it is the integrator's `sender.id` as text; in a
    /// widget, a hash of the visitor's token. An unknown caller has the phone number instead or, if there is no valid
    /// number, an id that contains the call's id.
    pub external_id: String,
    /// A sequential number within the account, starting at 1.
    pub number: u64,
    pub profile: VisitorProfile,
    pub sources: ProfileSources,
    pub integrator_values: OverriddenIntegratorValues,
    pub chats: u64,
    /// What the widget knows about the visitor. `None` if the visitor does not come from a widget, but from an API
    /// channel or a phone call.
    pub widget: Option<Box<WidgetVisitor>>,
    /// The numbers of the other visitors who are the same person (see [`merged_visitors`](super::merged_visitors)).
    pub merged_with: Vec<u64>,
    /// The service drops the messages of a blacklisted visitor.
    pub blacklisted: bool,
    pub open_chat: Option<u64>,
    /// The visitor's most recent chat, which can be open or closed.
    pub last_chat: Option<u64>,
    /// The ids of the visitor's last chats, newest first and at most ten.
    pub recent_chats: Vec<u64>,
    /// The time at which the visitor expires unless they open another chat. `None` means that the visitor never
    /// expires.
    pub retain_until: Option<Timestamp>,
    pub changes: VisitorChanges,
}

impl Visitor {
    /// Returns a visitor of the channel of whom nothing but the id and the number is known.
    pub fn new(channel: &Channel, external_id: &str, number: u64) -> Self {
        Self {
            account_id: channel.account_id.clone(),
            channel_id: channel.channel_id.clone(),
            external_id: external_id.to_owned(),
            number,
            profile: VisitorProfile::default(),
            sources: ProfileSources::default(),
            integrator_values: OverriddenIntegratorValues::default(),
            chats: 0,
            widget: None,
            merged_with: Vec::new(),
            blacklisted: false,
            open_chat: None,
            last_chat: None,
            recent_chats: Vec::new(),
            retain_until: None,
            changes: VisitorChanges::default(),
        }
    }

    /// Whether the visitor has no open chat and the retention period is over. Readers must check this, because the
    /// table deletes expired items with a delay.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.open_chat.is_none() && self.retain_until.is_some_and(|until| until <= now)
    }

    /// If the visitor has expired, clears the profile, the chat count and the list of recent chats. The number, the
    /// blacklist status and the merged visitors are kept.
    pub fn reset_if_expired(self, now: Timestamp) -> Self {
        if !self.is_expired(now) {
            return self;
        }
        use VisitorField::{Description, Email, Name, Phone, Photo, Url};
        let fields = vec![Name, Phone, Email, Description, Photo, Url];
        let changes = VisitorChanges { fields, must_notify_webhooks: false };
        let (profile, sources, integrator_values) =
            (VisitorProfile::default(), ProfileSources::default(), OverriddenIntegratorValues::default());
        Self { profile, sources, integrator_values, changes, chats: 0, recent_chats: Vec::new(), ..self }
    }

    /// Records a new chat as the visitor's most recent one. Returns the ids of the chats before it, newest first and at
    /// most ten. Each chat stores these ids, so that all chats of a visitor can be found by following the ids from chat
    /// to chat.
    pub fn start_chat(&mut self, chat_id: u64) -> Vec<u64> {
        let previous_chats = std::mem::take(&mut self.recent_chats);
        self.recent_chats =
            [chat_id].into_iter().chain(previous_chats.iter().copied()).take(MAX_RECENT_CHATS).collect();
        self.last_chat = Some(chat_id);
        previous_chats
    }

    /// Merges the values that a source sends into the profile. `None` leaves a value unchanged; an empty text clears
    /// it. Returns whether there are changes to store.
    pub fn merge_profile(&mut self, update: &VisitorProfile, source: ProfileSource) -> bool {
        let VisitorProfile { name, phone, email, photo, url, description } = update;
        let (profile, sources, integrator) = (&mut self.profile, &mut self.sources, &mut self.integrator_values);
        let fields_with_source = [
            (VisitorField::Name, name, &mut profile.name, &mut sources.name, &mut integrator.name),
            (VisitorField::Phone, phone, &mut profile.phone, &mut sources.phone, &mut integrator.phone),
            (VisitorField::Email, email, &mut profile.email, &mut sources.email, &mut integrator.email),
            (
                VisitorField::Description,
                description,
                &mut profile.description,
                &mut sources.description,
                &mut integrator.description,
            ),
        ];
        for (field, new_value, value, value_source, integrator_value) in fields_with_source {
            let Some(new_value) = new_value else { continue };
            match merge_value(new_value, source, value, value_source, integrator_value) {
                MergeResult::Unchanged => {}
                MergeResult::IntegratorValueChanged => self.changes.add(field),
                MergeResult::ValueChanged => {
                    self.changes.add(field);
                    self.changes.must_notify_webhooks = true;
                }
            }
        }
        let fields_without_source =
            [(VisitorField::Photo, photo, &mut self.profile.photo), (VisitorField::Url, url, &mut self.profile.url)];
        for (field, new_value, value) in fields_without_source {
            if new_value.is_some() && value != new_value {
                value.clone_from(new_value);
                self.changes.add(field);
            }
        }
        !self.changes.fields.is_empty()
    }

    pub fn set_page(&mut self, page: Page) {
        let Page { url, title } = page;
        if self.profile.url.as_ref() != Some(&url) {
            self.profile.url = Some(url);
            self.changes.add(VisitorField::Url);
        }
        self.set_widget_value(|widget| &mut widget.page_title, title, VisitorField::PageTitle);
    }

    pub fn set_session(&mut self, session: BrowserSession) {
        self.set_widget_value(|widget| &mut widget.session, session, VisitorField::Session);
    }

    pub fn set_utm(&mut self, utm: Utm) {
        self.set_widget_value(|widget| &mut widget.utm, utm, VisitorField::Utm);
    }

    pub fn set_analytics(&mut self, analytics: Analytics) {
        self.set_widget_value(|widget| &mut widget.analytics, Some(analytics), VisitorField::Analytics);
    }

    pub fn set_custom_data(&mut self, custom_data: Vec<CustomData>) {
        self.set_widget_value(|widget| &mut widget.custom_data, custom_data, VisitorField::CustomData);
    }

    pub fn set_answers(&mut self, answers: Vec<CustomData>) {
        let is_changed = self.set_widget_value(|widget| &mut widget.answers, answers, VisitorField::Answers);
        self.changes.must_notify_webhooks |= is_changed;
    }

    /// Returns whether a page names another user than the one this visitor belongs to, or none any more. The visitor's
    /// chats must then not be shown. `named` is `None` if the page names no user and has not ended the identity either.
    pub fn is_of_other_user(&self, named: Option<&Option<String>>) -> bool {
        let known = self.widget.as_deref().and_then(|widget| widget.user_token.as_ref());
        known.is_some() && named.is_some_and(|named| named.as_ref() != known)
    }

    pub fn set_user_token(&mut self, user_token: Option<String>) {
        let is_changed = self.set_widget_value(|widget| &mut widget.user_token, user_token, VisitorField::UserToken);
        self.changes.must_notify_webhooks |= is_changed;
    }

    pub fn set_hidden_through(&mut self, start: HiddenThrough) {
        self.set_widget_value(|widget| &mut widget.hidden_through, start, VisitorField::HiddenThrough);
    }

    /// Sets a value in the widget's data about the visitor, or does nothing if there is no such data. Returns whether
    /// the value has changed.
    fn set_widget_value<T: PartialEq>(
        &mut self,
        value: fn(&mut WidgetVisitor) -> &mut T,
        new_value: T,
        field: VisitorField,
    ) -> bool {
        let Some(value) = self.widget.as_mut().map(|widget| value(widget)).filter(|value| **value != new_value) else {
            return false;
        };
        *value = new_value;
        self.changes.add(field);
        true
    }

    pub fn set_blacklisted(&mut self, blacklisted: bool) {
        if self.blacklisted != blacklisted {
            self.blacklisted = blacklisted;
            self.changes.add(VisitorField::Blacklisted);
            self.changes.must_notify_webhooks = true;
        }
    }
}

enum MergeResult {
    Unchanged,
    /// The profile already contains the value; only the integrator's last value has changed.
    IntegratorValueChanged,
    ValueChanged,
}

/// Merges a value that `source` sends into one field of the profile. If the value does not change, it keeps its source.
fn merge_value(
    new_value: &str,
    source: ProfileSource,
    value: &mut Option<String>,
    value_source: &mut Option<ProfileSource>,
    integrator_value: &mut Option<String>,
) -> MergeResult {
    let is_from_integrator = source == ProfileSource::Integrator;
    let was_from_integrator = *value_source == Some(ProfileSource::Integrator);
    let last_from_integrator = if was_from_integrator { &*value } else { &*integrator_value };
    if is_from_integrator && last_from_integrator.as_deref() == Some(new_value) {
        return MergeResult::Unchanged;
    }
    if value.as_deref().unwrap_or_default() == new_value {
        if !is_from_integrator {
            return MergeResult::Unchanged;
        }
        *integrator_value = Some(new_value.to_owned());
        return MergeResult::IntegratorValueChanged;
    }
    let old_value = value.replace(new_value.to_owned());
    match (is_from_integrator, was_from_integrator) {
        (true, _) => *integrator_value = None,
        (false, true) => *integrator_value = old_value,
        (false, false) => {}
    }
    *value_source = Some(source);
    MergeResult::ValueChanged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor() -> Visitor {
        Visitor {
            account_id: "a".into(),
            channel_id: "c".into(),
            external_id: "v".into(),
            number: 1,
            profile: VisitorProfile::default(),
            sources: ProfileSources::default(),
            integrator_values: OverriddenIntegratorValues::default(),
            chats: 1,
            widget: None,
            merged_with: Vec::new(),
            blacklisted: false,
            open_chat: None,
            last_chat: None,
            recent_chats: Vec::new(),
            retain_until: None,
            changes: VisitorChanges::default(),
        }
    }

    fn named(name: &str) -> VisitorProfile {
        VisitorProfile { name: Some(name.into()), ..VisitorProfile::default() }
    }

    #[test]
    fn empty_value_clears_a_field_and_becomes_its_source() {
        use ProfileSource::{Script, Visitor as Form};
        let mut ada = visitor();
        assert_eq!(ada.merge_name("", Form), (None, false, false), "there is nothing to clear");
        assert_eq!(ada.merge_name("Ada", Script), (Some("Ada"), true, true));
        assert_eq!(ada.merge_name("", Form), (Some(""), true, true));
        assert_eq!((ada.sources.name, ada.profile.display_name()), (Some(Form), "Anonymous"));
        assert_eq!(ada.merge_name("", Script), (Some(""), false, false));
    }

    impl Visitor {
        /// Returns the name after the merge, whether there are changes to store, and whether webhooks must be notified.
        fn merge_name(&mut self, name: &str, source: ProfileSource) -> (Option<&str>, bool, bool) {
            self.changes = VisitorChanges::default();
            let is_changed = self.merge_profile(&named(name), source);
            (self.profile.name.as_deref(), is_changed, self.changes.must_notify_webhooks)
        }
    }

    #[test]
    fn correction_stays_until_integrator_sends_new_value() {
        let mut visitor = visitor();
        let table = [
            ("Ann", ProfileSource::Integrator, ("Ann", true, true)),
            ("Ann", ProfileSource::Integrator, ("Ann", false, false)),
            ("Anna", ProfileSource::Agent, ("Anna", true, true)),
            ("Ann", ProfileSource::Integrator, ("Anna", false, false)),
            ("Annie", ProfileSource::Crm, ("Annie", true, true)),
            ("Ann", ProfileSource::Integrator, ("Annie", false, false)),
            ("Annabel", ProfileSource::Integrator, ("Annabel", true, true)),
            ("Annabel", ProfileSource::Integrator, ("Annabel", false, false)),
            ("Ann", ProfileSource::Integrator, ("Ann", true, true)),
        ];
        for (step, (name, source, (merged_name, is_changed, is_notified))) in table.into_iter().enumerate() {
            assert_eq!(visitor.merge_name(name, source), (Some(merged_name), is_changed, is_notified), "step {step}");
        }
    }

    #[test]
    fn repeated_agent_value_is_stored_as_integrator_value() {
        let mut visitor = visitor();
        visitor.merge_name("Ann", ProfileSource::Integrator);
        visitor.merge_name("Anna", ProfileSource::Agent);
        assert_eq!(visitor.merge_name("Anna", ProfileSource::Integrator), (Some("Anna"), true, false));
        assert_eq!(visitor.sources.name, Some(ProfileSource::Agent), "the source of the first occurrence");
        visitor.merge_name("Annie", ProfileSource::Agent);
        assert_eq!(visitor.merge_name("Anna", ProfileSource::Integrator), (Some("Annie"), false, false));
    }

    #[test]
    fn page_and_photo_are_stored_without_notifying_webhooks() {
        let mut visitor = visitor();
        let page = |page: &str| VisitorProfile {
            url: Some(page.into()),
            photo: Some("p".into()),
            ..VisitorProfile::default()
        };
        assert!(visitor.merge_profile(&page("1"), ProfileSource::Integrator));
        assert_eq!(
            visitor.changes,
            VisitorChanges { fields: vec![VisitorField::Photo, VisitorField::Url], must_notify_webhooks: false }
        );
        visitor.changes = VisitorChanges::default();
        assert!(visitor.merge_profile(&page("2"), ProfileSource::Integrator));
        assert_eq!(visitor.changes, VisitorChanges { fields: vec![VisitorField::Url], must_notify_webhooks: false });
    }

    #[test]
    fn expired_visitor_is_reset_and_stored_as_a_whole() {
        let mut visitor = visitor();
        visitor.merge_profile(&named("Ann"), ProfileSource::Integrator);
        let mut returned = Visitor { retain_until: Some(Timestamp(1)), ..visitor }.reset_if_expired(Timestamp(2));
        assert_eq!((&returned.profile, returned.changes.fields.len()), (&VisitorProfile::default(), 6));
        assert!(returned.merge_profile(&named("Ann"), ProfileSource::Integrator), "the old values do not count");
        assert_eq!(returned.changes.fields.len(), 6, "each field once");
    }

    #[test]
    fn only_a_changed_value_takes_the_new_source() {
        let mut visitor = visitor();
        let ann = VisitorProfile { name: Some("Ann".into()), phone: Some("1".into()), ..VisitorProfile::default() };
        assert!(visitor.merge_profile(&ann, ProfileSource::Integrator));
        let crm = VisitorProfile { name: Some("Anna".into()), phone: Some("1".into()), ..VisitorProfile::default() };
        assert!(visitor.merge_profile(&crm, ProfileSource::Crm));
        visitor.changes = VisitorChanges::default();
        assert!(!visitor.merge_profile(&crm, ProfileSource::Agent), "nothing has changed");
        assert_eq!(visitor.profile, crm);
        assert_eq!(
            (visitor.sources.name, visitor.sources.phone),
            (Some(ProfileSource::Crm), Some(ProfileSource::Integrator))
        );
    }

    #[test]
    fn chat_refers_to_the_ten_chats_before_it() {
        let mut visitor = visitor();
        for chat_id in 1..=12 {
            let expected: Vec<u64> = (1..chat_id).rev().take(10).collect();
            assert_eq!(visitor.start_chat(chat_id), expected);
            assert_eq!((visitor.last_chat, visitor.recent_chats.len()), (Some(chat_id), chat_id.min(10) as usize));
        }
    }

    #[test]
    fn visitor_without_name_is_anonymous() {
        assert_eq!(VisitorProfile::default().display_name(), "Anonymous");
        assert_eq!(
            VisitorProfile { name: Some(String::new()), ..VisitorProfile::default() }.display_name(),
            "Anonymous"
        );
    }
}
