//! The /admin/channels endpoints: bodies and operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::{Failure, Operation};
use crate::domain::channels::channel::{
    self, ApiSettings, CHANNEL_ID_PLACEHOLDER, ChannelKind, KindSettings, RefusalCount, ValidationMode,
};
use crate::domain::channels::secret_rotation::MAX_OLD_SECRETS;
use crate::domain::channels::widget;
use crate::domain::chats::message_content::RichSupport;
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::business_hours::{BusinessHours, BusinessHoursChange, checked_change};
use crate::wire::admin::outages::changed_delivery_options;
use crate::wire::admin::receiver_test::{ChannelTestRequest, ReceiverTest};
use crate::wire::admin::signing_secret::{RotatedSigningSecret, SecretRotation, SigningSecret};
use crate::wire::admin::widget_settings::{WidgetSettings, WidgetSettingsChanges};
use crate::wire::admin::{Ids, MAX_LIST_ITEMS, MAX_NAME_CHARS};
use crate::wire::fields::reader::read;
use crate::wire::fields::urls::{HTTP_PATTERN, MAX_URL_CHARS, ReceiverUrl, WebUrl};
use crate::wire::fields::values::{
    AnyText, Change, List, Name, NotNull, SequentialNumber, Text, True, UnixSeconds, Whole,
};

/// The maximum number of reasons that are listed: 100 for each of two days.
const MAX_REFUSALS: usize = 200;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/channels", "channels", "Lists the channels of the account")
            .describe("Addresses and secrets are not included: they are shown only when they are created.")
            .answers::<Channels>(
                200,
                "The channels. They are read from an index, so a change may take some seconds to appear.",
            ),
        Operation::post("/admin/channels", "createChannel", "Creates an API channel or a widget")
            .describe(
                "`kind` decides: an API channel gets an `endpoint` and a `signing_secret`, which are shown only in \
                 this response; a widget gets a `snippet` for web pages.",
            )
            .body::<NewChannel>()
            .answers::<CreatedChannel>(
                201,
                "The channel. For an API channel, the response includes the endpoint address and the signing secret, \
                 which are shown only once.",
            ),
        Operation::get("/admin/channels/{channel_id}", "channel", "Reads a channel")
            .describe(
                "With the messages that were rejected today and yesterday by reason (`refused`) and, for an API \
                 channel, the old addresses that are still valid (`old_endpoints`).",
            )
            .answers::<ChannelDetails>(200, "The channel."),
        Operation::patch("/admin/channels/{channel_id}", "changeChannel", "Changes a channel's settings")
            .describe("A change may take up to ten seconds to apply, because functions cache the channel.")
            .body::<ChannelChanges>()
            .answers::<Channel>(200, "The channel."),
        Operation::delete("/admin/channels/{channel_id}", "deleteChannel", "Deletes a channel but keeps its chats")
            .describe(
                "Its address stops working. Open chats stay open, but answers to the visitors of an API channel can no \
                 longer be delivered.",
            )
            .answers::<DeletedChannel>(200, "Deleted.")
            .fails(&[Failure::Conflict]),
        Operation::post(
            "/admin/channels/{channel_id}/rotate",
            "rotateChannel",
            "Creates a new endpoint address for an API channel",
        )
        .describe(
            "The old address stays valid for `keep_old_seconds`, so that senders can change it without an \
             interruption. 0 ends all old addresses. The new address is shown only in this response.",
        )
        .optional_body::<SecretRotation>()
        .answers::<RotatedEndpoint>(
            200,
            "The new endpoint address, which is shown only once, and the time until which the previous one is valid. \
             Up to four old addresses stay valid, each until its own expiry time; if keep_old_seconds is 0, all of \
             them expire at once.",
        )
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/admin/channels/{channel_id}/signing-secret/rotate",
            "rotateChannelSigningSecret",
            "Creates a new signing secret for an API channel. Up to four old secrets stay valid for a limited time",
        )
        .describe(
            "Each old secret signs requests until it expires. If keep_old_seconds is 0, all old secrets expire at \
             once. 409 for a widget, which has no signing secret, and for one of two concurrent rotations.",
        )
        .optional_body::<SecretRotation>()
        .answers::<RotatedSigningSecret>(200, RotatedSigningSecret::DESCRIPTION)
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/admin/channels/{channel_id}/test",
            "testChannel",
            "Sends one signed sample message to the integrator and returns the request and the response",
        )
        .describe(
            "The message is for a visitor who does not exist; nothing is stored. `clause` chooses what is tested: a \
             wrong signature, for example, which the server must refuse. `kept` is the result. 409 for a widget, \
             which has no integrator.",
        )
        .optional_body::<ChannelTestRequest>()
        .answers::<ReceiverTest>(200, "The request and its result.")
        .fails(&[Failure::Conflict, Failure::TooManyRequests]),
    ]
}

/// The field kind determines how the rest of the body is read. A channel without it is an API channel.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum NewChannel {
    Api(NewApiChannel),
    Widget(NewWidgetChannel),
}

#[derive(Deserialize)]
struct NewChannelKind {
    kind: Option<Name<ChannelKind>>,
}

impl NewChannel {
    pub fn read(body: &Value) -> Result<Self, Error> {
        let NewChannelKind { kind } = read(body)?;
        match kind.map(|Name(kind)| kind).unwrap_or_default() {
            ChannelKind::Api => read(body).map(Self::Api),
            ChannelKind::Widget => read(body).map(Self::Widget),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct NewApiChannel {
    #[serde(rename = "kind")]
    _kind: Option<ApiKind>,
    name: Text<MAX_NAME_CHARS>,
    /// Whether the channel accepts messages from visitors. If false, open chats stay open and agents' replies are
    /// still delivered.
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
    /// The agents who receive the channel's chats. If no agents or departments are listed, every agent receives them.
    agent_ids: Option<Ids>,
    /// The departments whose members receive the channel's chats.
    department_ids: Option<Ids>,
    business_hours: Option<BusinessHoursChange>,
    /// Required unless `pull` is true.
    integrator_url: Option<IntegratorUrl>,
    /// Whether the integrator fetches the messages (`GET {channel_url}/events`). Nothing is sent then.
    #[schemars(extend("default" = false))]
    pull: Option<bool>,
    /// When true, messages are sent to `<integrator_url>/<channel_id>`, otherwise to `integrator_url`. If
    /// `integrator_url` contains {channel_id}, every occurrence is replaced and nothing is appended.
    #[schemars(extend("default" = true))]
    append_channel_id: Option<bool>,
    /// Whether requests to the integrator use chunked transfer encoding.
    #[schemars(extend("default" = false))]
    chunked: Option<bool>,
    #[schemars(extend("default" = "strict"))]
    validation: Option<Name<ValidationMode>>,
    hidden_error_codes: Option<HiddenErrorCodes>,
    #[schemars(extend("default" = false))]
    shows_markdown: Option<bool>,
    #[schemars(extend("default" = false))]
    shows_buttons: Option<bool>,
    /// Whether messages that could not be delivered are attempted again for three days.
    #[schemars(extend("default" = false))]
    late_delivery: Option<bool>,
    /// Whether a chat's messages wait for an earlier one that is not delivered. Requires `late_delivery`.
    #[schemars(extend("default" = false))]
    strict_order: Option<bool>,
    /// How many percent of the messages are first attempted with a fault that the integrator's server has to bear.
    #[schemars(extend("default" = 0))]
    rehearsal_percent: Option<Percent>,
}

/// A whole number from 0 to 100.
type Percent = Whole<0, 100>;

fn changed_percent(before: u8, percent: Option<Percent>) -> u8 {
    percent.and_then(|Whole(percent)| u8::try_from(percent).ok()).unwrap_or(before)
}

impl NewApiChannel {
    pub fn into_settings(self, guard: &SsrfGuard) -> Result<channel::ChannelSettings, Error> {
        let api = ApiSettings {
            integrator_url: changed_integrator_url(
                None,
                self.integrator_url.as_ref(),
                self.pull.or(Some(false)),
                guard,
            )?,
            append_channel_id: self.append_channel_id.unwrap_or(true),
            chunked: self.chunked.unwrap_or(false),
            validation: self.validation.map_or(ValidationMode::Strict, |Name(validation)| validation),
            hidden_error_codes: self.hidden_error_codes.map(HiddenErrorCodes::into_list).unwrap_or_default(),
            rich_support: RichSupport {
                markdown: self.shows_markdown.unwrap_or(false),
                buttons: self.shows_buttons.unwrap_or(false),
            },
            delivery: changed_delivery_options(DeliveryOptions::default(), self.late_delivery, self.strict_order)?,
            rehearsal_percent: changed_percent(0, self.rehearsal_percent),
        };
        Ok(channel::ChannelSettings {
            name: self.name.0,
            enabled: self.enabled.unwrap_or(true),
            agent_ids: self.agent_ids.map(Ids::into_unique).unwrap_or_default(),
            department_ids: self.department_ids.map(Ids::into_unique).unwrap_or_default(),
            business_hours: self.business_hours.map(|hours| hours.checked()).transpose()?,
            specific: KindSettings::Api(api),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct NewWidgetChannel {
    #[serde(rename = "kind")]
    _kind: WidgetKind,
    name: Text<MAX_NAME_CHARS>,
    /// Whether the channel accepts messages from visitors.
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
    /// The agents who receive the channel's chats. If no agents or departments are listed, every agent receives them.
    agent_ids: Option<Ids>,
    /// The departments whose members receive the channel's chats.
    department_ids: Option<Ids>,
    business_hours: Option<BusinessHoursChange>,
    widget: Option<WidgetSettingsChanges>,
}

impl NewWidgetChannel {
    /// `default_title` is used if the body contains no title.
    pub fn into_settings(self, default_title: String) -> Result<channel::ChannelSettings, Error> {
        let widget = widget::WidgetSettings::with_title(default_title);
        let widget = match self.widget {
            Some(changes) => changes.applied_to(widget)?,
            None => widget,
        };
        Ok(channel::ChannelSettings {
            name: self.name.0,
            enabled: self.enabled.unwrap_or(true),
            agent_ids: self.agent_ids.map(Ids::into_unique).unwrap_or_default(),
            department_ids: self.department_ids.map(Ids::into_unique).unwrap_or_default(),
            business_hours: self.business_hours.map(|hours| hours.checked()).transpose()?,
            specific: KindSettings::Widget(Box::new(widget)),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum ApiKind {
    Api,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum WidgetKind {
    Widget,
}

/// Absent fields stay unchanged. The fields from `integrator_url` to `rehearsal_percent` apply to an API channel, and the
/// field widget applies to a widget. Fields that apply to the other kind have no effect.
#[derive(Deserialize, JsonSchema)]
pub struct ChannelChanges {
    #[serde(default)]
    name: NotNull<Text<MAX_NAME_CHARS>>,
    /// Whether the channel accepts messages from visitors. If false, open chats stay open and agents' replies are
    /// still delivered.
    enabled: Option<bool>,
    /// The agents who receive the channel's chats. If no agents or departments are listed, every agent receives them.
    agent_ids: Option<Ids>,
    /// The departments whose members receive the channel's chats.
    department_ids: Option<Ids>,
    #[serde(default)]
    business_hours: Change<BusinessHoursChange>,
    #[serde(default)]
    integrator_url: NotNull<IntegratorUrl>,
    /// Whether the integrator fetches the messages (`GET {channel_url}/events`). True removes `integrator_url`, and
    /// a new `integrator_url` makes it false.
    pull: Option<bool>,
    /// When true, messages are sent to `<integrator_url>/<channel_id>`, otherwise to `integrator_url`. If
    /// `integrator_url` contains {channel_id}, every occurrence is replaced and nothing is appended.
    append_channel_id: Option<bool>,
    /// Whether requests to the integrator use chunked transfer encoding.
    chunked: Option<bool>,
    validation: Option<Name<ValidationMode>>,
    hidden_error_codes: Option<HiddenErrorCodes>,
    shows_markdown: Option<bool>,
    shows_buttons: Option<bool>,
    /// Whether messages that could not be delivered are attempted again for three days.
    late_delivery: Option<bool>,
    /// Whether a chat's messages wait for an earlier one that is not delivered. Requires `late_delivery`.
    strict_order: Option<bool>,
    /// How many percent of the messages are first attempted with a fault that the integrator's server has to bear.
    rehearsal_percent: Option<Percent>,
    widget: Option<WidgetSettingsChanges>,
}

impl ChannelChanges {
    /// Returns the changed settings.
    pub fn applied_to(
        self,
        settings: &channel::ChannelSettings,
        guard: &SsrfGuard,
    ) -> Result<channel::ChannelSettings, Error> {
        let mut changed = settings.clone();
        changed.specific = match changed.specific {
            KindSettings::Api(api) => KindSettings::Api(self.applied_to_api(api, guard)?),
            KindSettings::Widget(widget) => match self.widget {
                Some(changes) => KindSettings::Widget(Box::new(changes.applied_to(*widget)?)),
                None => KindSettings::Widget(widget),
            },
        };
        changed.name = self.name.0.map_or(changed.name, |Text(name)| name);
        changed.enabled = self.enabled.unwrap_or(changed.enabled);
        changed.agent_ids = self.agent_ids.map_or(changed.agent_ids, Ids::into_unique);
        changed.business_hours = checked_change(self.business_hours)?.applied_to(changed.business_hours);
        changed.department_ids = self.department_ids.map_or(changed.department_ids, Ids::into_unique);
        Ok(changed)
    }

    fn applied_to_api(&self, before: ApiSettings, guard: &SsrfGuard) -> Result<ApiSettings, Error> {
        let hidden_error_codes = self.hidden_error_codes.clone().map(HiddenErrorCodes::into_list);
        Ok(ApiSettings {
            integrator_url: changed_integrator_url(
                before.integrator_url,
                self.integrator_url.0.as_ref(),
                self.pull,
                guard,
            )?,
            append_channel_id: self.append_channel_id.unwrap_or(before.append_channel_id),
            chunked: self.chunked.unwrap_or(before.chunked),
            validation: self.validation.map_or(before.validation, |Name(validation)| validation),
            hidden_error_codes: hidden_error_codes.unwrap_or(before.hidden_error_codes),
            rich_support: RichSupport {
                markdown: self.shows_markdown.unwrap_or(before.rich_support.markdown),
                buttons: self.shows_buttons.unwrap_or(before.rich_support.buttons),
            },
            delivery: changed_delivery_options(before.delivery, self.late_delivery, self.strict_order)?,
            rehearsal_percent: changed_percent(before.rehearsal_percent, self.rehearsal_percent),
        })
    }
}

/// Returns the address of the integrator after a change. It has none if `pull` is true.
fn changed_integrator_url(
    before: Option<String>,
    url: Option<&IntegratorUrl>,
    pull: Option<bool>,
    guard: &SsrfGuard,
) -> Result<Option<String>, Error> {
    match (url, pull) {
        (Some(_), Some(true)) => Err(Error::field("pull", "cannot be true together with integrator_url")),
        (Some(url), _) => url.checked(guard).map(Some),
        (None, Some(true)) => Ok(None),
        (None, Some(false)) if before.is_none() => {
            Err(Error::field("integrator_url", "is required unless pull is true"))
        }
        (None, _) => Ok(before),
    }
}

/// The integrator's error codes whose messages are hidden from agents.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct HiddenErrorCodes(List<i64, MAX_LIST_ITEMS>);

impl HiddenErrorCodes {
    fn into_list(self) -> Vec<i64> {
        self.0.0
    }
}

/// Like ReceiverUrl, but it may contain {channel_id}.
// Before each request to the integrator, the URL is checked again with the channel id in place of the placeholder.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "AnyText<MAX_URL_CHARS>")]
#[schemars(with = "AnyText<MAX_URL_CHARS>", inline, extend("pattern" = HTTP_PATTERN))]
struct IntegratorUrl(ReceiverUrl);

impl IntegratorUrl {
    fn checked(&self, guard: &SsrfGuard) -> Result<String, Error> {
        self.0.checked("integrator_url", guard)
    }
}

impl TryFrom<AnyText<MAX_URL_CHARS>> for IntegratorUrl {
    type Error = String;

    fn try_from(text: AnyText<MAX_URL_CHARS>) -> Result<Self, String> {
        if text.0.contains(CHANNEL_ID_PLACEHOLDER) {
            return ReceiverUrl::with_placeholder(&text.0, CHANNEL_ID_PLACEHOLDER).map(Self);
        }
        ReceiverUrl::try_from(WebUrl::try_from(text)?).map(Self)
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Channels {
    channels: Vec<Channel>,
}

impl Channels {
    pub fn new(channels: &[channel::Channel], base_url: &str, now: Timestamp) -> Self {
        Self { channels: channels.iter().map(|channel| Channel::new(channel, base_url, now)).collect() }
    }
}

/// A channel without its addresses and secrets.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Channel {
    Api(ApiChannel),
    Widget(WidgetChannel),
}

impl Channel {
    /// `base_url` is the URL of the service; a widget's snippet contains it.
    pub fn new(channel: &channel::Channel, base_url: &str, now: Timestamp) -> Self {
        let common = ChannelFields::new(channel, now);
        match &channel.settings.specific {
            KindSettings::Api(api) => Self::Api(ApiChannel::new(common, channel.outage_status, api)),
            KindSettings::Widget(settings) => Self::Widget(WidgetChannel::new(common, settings, base_url)),
        }
    }
}

/// A channel with the messages that it rejected.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ChannelDetails {
    Api(ApiChannelDetails),
    Widget(WidgetChannelDetails),
}

impl ChannelDetails {
    pub fn new(channel: &channel::Channel, base_url: &str, refused: &[RefusalCount], now: Timestamp) -> Self {
        let refused = Refused { refused: refused.iter().map(ChannelRefusal::from).collect() };
        match Channel::new(channel, base_url, now) {
            Channel::Api(api) => {
                Self::Api(ApiChannelDetails { api, refused, old_endpoints: old_endpoints(channel, now) })
            }
            Channel::Widget(widget) => Self::Widget(WidgetChannelDetails { widget, refused }),
        }
    }
}

fn old_endpoints(channel: &channel::Channel, now: Timestamp) -> Vec<OldEndpoint> {
    let ends = channel.secrets.iter().filter_map(|secret| secret.valid_until.filter(|until| now < *until));
    ends.map(|until| OldEndpoint { valid_until: until.into() }).collect()
}

/// A new channel. No later response contains the endpoint address and the signing secret of an API channel.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CreatedChannel {
    Api(CreatedApiChannel),
    Widget(WidgetChannel),
}

impl CreatedChannel {
    /// `endpoint` is the address of an API channel.
    pub fn new(channel: &channel::Channel, base_url: &str, endpoint: Option<String>, now: Timestamp) -> Self {
        match Channel::new(channel, base_url, now) {
            Channel::Api(api) => {
                let signing_secret = SigningSecret::new(channel.signing_secrets.current().unwrap_or_default());
                Self::Api(CreatedApiChannel { api, endpoint: WebUrl(endpoint.unwrap_or_default()), signing_secret })
            }
            Channel::Widget(widget) => Self::Widget(widget),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct ChannelFields {
    /// The public id of the channel (CHANNEL_PUBLIC_ID).
    channel_id: String,
    name: String,
    enabled: bool,
    agent_ids: Vec<SequentialNumber>,
    department_ids: Vec<SequentialNumber>,
    /// Null: those of the department or the account.
    business_hours: Option<BusinessHours>,
    /// The bot that answers first on this channel.
    bot_id: Option<String>,
    created_at: UnixSeconds,
}

impl ChannelFields {
    fn new(channel: &channel::Channel, now: Timestamp) -> Self {
        let settings = &channel.settings;
        let ids = |ids: &[u64]| ids.iter().copied().map(SequentialNumber).collect();
        Self {
            channel_id: channel.channel_id.clone(),
            name: settings.name.clone(),
            enabled: settings.enabled,
            agent_ids: ids(&settings.agent_ids),
            department_ids: ids(&settings.department_ids),
            business_hours: settings.business_hours.as_ref().map(|hours| BusinessHours::new(hours, now)),
            bot_id: channel.bot_id.clone(),
            created_at: channel.created_at.into(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ApiChannel {
    #[serde(flatten)]
    common: ChannelFields,
    /// Null if `pull` is true.
    #[schemars(length(max = MAX_URL_CHARS), regex(pattern = HTTP_PATTERN))]
    integrator_url: Option<String>,
    pull: bool,
    append_channel_id: bool,
    chunked: bool,
    validation: Name<ValidationMode>,
    hidden_error_codes: Vec<i64>,
    shows_markdown: bool,
    shows_buttons: bool,
    late_delivery: bool,
    strict_order: bool,
    rehearsal_percent: u8,
    outage: Name<OutageStatus>,
}

impl ApiChannel {
    fn new(common: ChannelFields, outage: OutageStatus, api: &ApiSettings) -> Self {
        let ApiSettings {
            integrator_url,
            append_channel_id,
            chunked,
            validation,
            hidden_error_codes,
            rich_support,
            delivery: DeliveryOptions { late_delivery, strict_order },
            rehearsal_percent,
        } = api.clone();
        Self {
            common,
            pull: integrator_url.is_none(),
            integrator_url,
            append_channel_id,
            chunked,
            validation: Name(validation),
            hidden_error_codes,
            shows_markdown: rich_support.markdown,
            shows_buttons: rich_support.buttons,
            late_delivery,
            strict_order,
            rehearsal_percent,
            outage: Name(outage),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetChannel {
    #[serde(flatten)]
    common: ChannelFields,
    /// The same as `channel_id`: the last part of the URL in the snippet.
    widget_id: String,
    widget: Box<WidgetSettings>,
    /// The HTML element that embeds the widget in a page.
    snippet: String,
}

impl WidgetChannel {
    fn new(common: ChannelFields, settings: &widget::WidgetSettings, base_url: &str) -> Self {
        let widget_id = common.channel_id.clone();
        let snippet = format!("<script async src=\"{base_url}/widget/{widget_id}\"></script>");
        Self { common, widget_id, widget: Box::new(settings.into()), snippet }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ApiChannelDetails {
    #[serde(flatten)]
    api: ApiChannel,
    #[serde(flatten)]
    refused: Refused,
    /// The old endpoint addresses that are still valid, oldest first.
    #[schemars(length(max = MAX_OLD_SECRETS))]
    old_endpoints: Vec<OldEndpoint>,
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetChannelDetails {
    #[serde(flatten)]
    widget: WidgetChannel,
    #[serde(flatten)]
    refused: Refused,
}

#[derive(Serialize, JsonSchema)]
struct Refused {
    /// The number of messages rejected today and yesterday (UTC), by reason.
    #[schemars(length(max = MAX_REFUSALS))]
    refused: Vec<ChannelRefusal>,
}

#[derive(Serialize, JsonSchema)]
struct ChannelRefusal {
    day: UnixSeconds,
    /// For example: message.file_size is required.
    reason: String,
    #[schemars(range(min = 1))]
    count: u64,
    last_at: UnixSeconds,
}

impl From<&RefusalCount> for ChannelRefusal {
    fn from(refusals: &RefusalCount) -> Self {
        let RefusalCount { day, reason, count, last_at } = refusals;
        Self { day: (*day).into(), reason: reason.clone(), count: *count, last_at: (*last_at).into() }
    }
}

#[derive(Serialize, JsonSchema)]
struct OldEndpoint {
    valid_until: UnixSeconds,
}

#[derive(Serialize, JsonSchema)]
pub struct CreatedApiChannel {
    #[serde(flatten)]
    api: ApiChannel,
    endpoint: WebUrl,
    signing_secret: SigningSecret,
}

#[derive(Serialize, JsonSchema)]
pub struct RotatedEndpoint {
    pub endpoint: WebUrl,
    pub old_endpoint_valid_until: UnixSeconds,
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedChannel {
    pub channel_id: String,
    pub deleted: True,
}
