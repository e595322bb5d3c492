//! Serde types for the items in the Directory table, and their conversions to and from domain types.

use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::{Agent, Role};
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::AssignmentRule;
use crate::domain::accounts::department::Department;
use crate::domain::bots::bot::{Bot, Provider};
use crate::domain::channels::channel::{
    ApiSettings, Channel, ChannelSettings, EndpointSecret, KindSettings, ValidationMode,
};
use crate::domain::channels::signing_secret::{SigningSecret, SigningSecrets};
use crate::domain::chats::message_content::RichSupport;
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::directory::assignment_items::{AnswerTimesItem, AssignmentRuleItem};
use crate::store::directory::bot_settings_item::BotSettingsAttributes;
use crate::store::directory::business_hours::BusinessHoursItem;
use crate::store::directory::keys::{agent_key, bot_key, channel_key, department_key, provider_key};
use crate::store::directory::widget_item::WidgetItem;

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct ChannelItem {
    pub pk: String,
    pub sk: String,
    pub account_id: String,
    channel_id: String,
    name: String,
    #[serde(default = "default_true")]
    enabled: bool,
    agent_ids: Vec<u64>,
    #[serde(default)]
    department_ids: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    business_hours: Option<BusinessHoursItem>,
    created_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outage_status: Option<String>,
    /// The settings of a widget. `None` stands for an API channel, which has the attributes in `api` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    widget: Option<WidgetItem>,
    #[serde(flatten)]
    api: Option<ApiChannelItem>,
}

#[derive(Serialize, Deserialize)]
struct ApiChannelItem {
    #[serde(default)]
    integrator_url: Option<String>,
    #[serde(default = "default_true")]
    append_channel_id: bool,
    chunked: bool,
    validation: String,
    hidden_error_codes: Vec<i64>,
    #[serde(default)]
    shows_markdown: bool,
    #[serde(default)]
    shows_buttons: bool,
    #[serde(default)]
    late_delivery: bool,
    #[serde(default)]
    strict_order: bool,
    #[serde(default)]
    rehearsal_percent: u8,
    secrets: Vec<EndpointSecretItem>,
    #[serde(flatten)]
    signing_secrets: SigningSecretAttributes,
}

fn default_true() -> bool {
    true
}

#[derive(Serialize, Deserialize)]
pub(super) struct SigningSecretItem {
    secret: String,
    valid_until: Option<u64>,
}

impl From<SigningSecret> for SigningSecretItem {
    fn from(SigningSecret { secret, valid_until }: SigningSecret) -> Self {
        Self { secret, valid_until: valid_until.map(|until| until.0) }
    }
}

impl From<SigningSecretItem> for SigningSecret {
    fn from(SigningSecretItem { secret, valid_until }: SigningSecretItem) -> Self {
        Self { secret, valid_until: valid_until.map(Timestamp) }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SigningSecretAttributes {
    pub signing_secret: String,
    /// The secrets that rotations have replaced, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub old_signing_secrets: Vec<SigningSecretItem>,
}

impl From<SigningSecrets> for SigningSecretAttributes {
    fn from(SigningSecrets(mut secrets): SigningSecrets) -> Self {
        let signing_secret = secrets.pop().map(|current| current.secret).unwrap_or_default();
        Self { signing_secret, old_signing_secrets: secrets.into_iter().map(SigningSecretItem::from).collect() }
    }
}

impl From<SigningSecretAttributes> for SigningSecrets {
    fn from(attributes: SigningSecretAttributes) -> Self {
        let SigningSecretAttributes { signing_secret, old_signing_secrets } = attributes;
        let current = SigningSecret { secret: signing_secret, valid_until: None };
        Self(old_signing_secrets.into_iter().map(SigningSecret::from).chain([current]).collect())
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct EndpointSecretItem {
    hash: String,
    valid_until: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AgentItem {
    pub pk: String,
    pub sk: String,
    agent_id: u64,
    name: String,
    email: String,
    phone: Option<String>,
    photo: Option<String>,
    role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capacity: Option<u32>,
    created_at: u64,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct DepartmentItem {
    pub pk: String,
    pub sk: String,
    department_id: u64,
    name: String,
    agent_ids: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    business_hours: Option<BusinessHoursItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignment: Option<AssignmentRuleItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_times: Option<AnswerTimesItem>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct LoginItem {
    pub pk: String,
    pub sk: String,
    #[serde(rename = "account")]
    pub account_id: String,
    pub agent_id: u64,
    pub password_hash: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must_change_password: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AccountItem {
    pub pk: String,
    pub sk: String,
    pub name: String,
    /// The last agent id that was assigned.
    pub agents: u64,
    /// The last department id that was assigned.
    #[serde(default)]
    pub departments: u64,
    pub created_at: u64,
    /// [`OPERATOR_ACCOUNT_ID`], by which the index `by_account` lists the accounts. `None` if an earlier version of the
    /// service stored the account; the index then contains it after its next suspension or deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Unix time in milliseconds, like the next field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleting_since: Option<u64>,
}

impl From<&Channel> for ChannelItem {
    fn from(channel: &Channel) -> Self {
        let Channel { channel_id, account_id, settings, bot_id, secrets, signing_secrets, created_at, outage_status } =
            channel.clone();
        let ChannelSettings { name, enabled, agent_ids, department_ids, business_hours, specific } = settings;
        let key = channel_key(&channel_id);
        let (widget, api) = match specific {
            KindSettings::Widget(widget) => (Some(WidgetItem::from(&*widget)), None),
            KindSettings::Api(api) => (None, Some(ApiChannelItem::new(api, &secrets, signing_secrets))),
        };
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            channel_id,
            name,
            enabled,
            agent_ids,
            department_ids,
            bot_id,
            business_hours: business_hours.as_ref().map(BusinessHoursItem::from),
            created_at: created_at.0,
            outage_status: outage_status_name(outage_status),
            widget,
            api,
        }
    }
}

impl ApiChannelItem {
    fn new(settings: ApiSettings, secrets: &[EndpointSecret], signing_secrets: SigningSecrets) -> Self {
        let ApiSettings {
            integrator_url,
            append_channel_id,
            chunked,
            validation,
            hidden_error_codes,
            rich_support,
            delivery: DeliveryOptions { late_delivery, strict_order },
            rehearsal_percent,
        } = settings;
        Self {
            integrator_url,
            append_channel_id,
            chunked,
            validation: validation.name().to_owned(),
            hidden_error_codes,
            shows_markdown: rich_support.markdown,
            shows_buttons: rich_support.buttons,
            late_delivery,
            strict_order,
            rehearsal_percent,
            secrets: secrets.iter().map(EndpointSecretItem::from).collect(),
            signing_secrets: signing_secrets.into(),
        }
    }
}

impl TryFrom<ChannelItem> for Channel {
    type Error = Error;

    fn try_from(item: ChannelItem) -> Result<Self, Error> {
        let (specific, secrets, signing_secrets) = match (item.widget, item.api) {
            (Some(widget), _) => {
                (KindSettings::Widget(Box::new(widget.try_into()?)), Vec::new(), SigningSecrets::default())
            }
            (None, Some(api)) => {
                let secrets = api.secrets.into_iter().map(EndpointSecret::try_from).collect::<Result<_, _>>()?;
                let settings = ApiSettings {
                    integrator_url: api.integrator_url,
                    append_channel_id: api.append_channel_id,
                    chunked: api.chunked,
                    validation: ValidationMode::parse(&api.validation).ok_or_else(|| Error::internal("validation"))?,
                    hidden_error_codes: api.hidden_error_codes,
                    rich_support: RichSupport { markdown: api.shows_markdown, buttons: api.shows_buttons },
                    delivery: DeliveryOptions { late_delivery: api.late_delivery, strict_order: api.strict_order },
                    rehearsal_percent: api.rehearsal_percent,
                };
                (KindSettings::Api(settings), secrets, api.signing_secrets.into())
            }
            (None, None) => return Err(Error::internal("attributes of an API channel")),
        };
        Ok(Self {
            channel_id: item.channel_id,
            account_id: item.account_id,
            settings: ChannelSettings {
                name: item.name,
                enabled: item.enabled,
                agent_ids: item.agent_ids,
                department_ids: item.department_ids,
                business_hours: item.business_hours.map(BusinessHoursItem::try_into).transpose()?,
                specific,
            },
            bot_id: item.bot_id,
            secrets,
            signing_secrets,
            created_at: Timestamp(item.created_at),
            outage_status: item.outage_status.as_deref().and_then(OutageStatus::parse).unwrap_or_default(),
        })
    }
}

/// Returns `None` if there is no outage, so that the attribute is absent.
pub(super) fn outage_status_name(status: OutageStatus) -> Option<String> {
    (status != OutageStatus::None).then(|| status.name().to_owned())
}

impl From<&EndpointSecret> for EndpointSecretItem {
    fn from(secret: &EndpointSecret) -> Self {
        let hash = secret.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { hash, valid_until: secret.valid_until.map(|until| until.0) }
    }
}

impl TryFrom<EndpointSecretItem> for EndpointSecret {
    type Error = Error;

    fn try_from(item: EndpointSecretItem) -> Result<Self, Error> {
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(item.hash.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(pair).map_err(Error::internal)?;
            *byte = u8::from_str_radix(digits, 16).map_err(Error::internal)?;
        }
        Ok(Self { hash, valid_until: item.valid_until.map(Timestamp) })
    }
}

impl From<&Agent> for AgentItem {
    fn from(agent: &Agent) -> Self {
        let Agent { account_id, agent_id, name, email, phone, photo, role, capacity, created_at } = agent.clone();
        let key = agent_key(&account_id, agent_id);
        let (role, created_at) = (role.name().to_owned(), created_at.0);
        Self { pk: key.pk, sk: key.sk, agent_id, name, email, phone, photo, role, capacity, created_at }
    }
}

impl AgentItem {
    pub(in crate::store) fn into_agent(self, account_id: &str) -> Result<Agent, Error> {
        let Self { pk: _, sk: _, agent_id, name, email, phone, photo, role, capacity, created_at } = self;
        let role = Role::parse(&role).ok_or_else(|| Error::internal("role"))?;
        let created_at = Timestamp(created_at);
        let account_id = account_id.to_owned();
        Ok(Agent { account_id, agent_id, name, email, phone, photo, role, capacity, created_at })
    }
}

impl DepartmentItem {
    pub(in crate::store) fn new(account_id: &str, department: &Department) -> Self {
        let Department { department_id, name, agent_ids, bot_id, business_hours, assignment, answer_times } =
            department;
        let key = department_key(account_id, *department_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            department_id: *department_id,
            name: name.clone(),
            agent_ids: agent_ids.clone(),
            bot_id: bot_id.clone(),
            business_hours: business_hours.as_ref().map(BusinessHoursItem::from),
            assignment: assignment.map(AssignmentRuleItem::from),
            answer_times: answer_times.map(AnswerTimesItem::from),
        }
    }
}

impl TryFrom<DepartmentItem> for Department {
    type Error = Error;

    fn try_from(item: DepartmentItem) -> Result<Self, Error> {
        let DepartmentItem {
            pk: _,
            sk: _,
            department_id,
            name,
            agent_ids,
            bot_id,
            business_hours,
            assignment,
            answer_times,
        } = item;
        let business_hours = business_hours.map(BusinessHoursItem::try_into).transpose()?;
        let assignment = assignment.map(AssignmentRule::from);
        let answer_times = answer_times.map(AnswerTimes::from);
        Ok(Self { department_id, name, agent_ids, bot_id, business_hours, assignment, answer_times })
    }
}

/// The account id under which the index `by_account` lists the providers, which belong to the operator. No account has
/// this id, because account ids are longer.
pub(super) const OPERATOR_ACCOUNT_ID: &str = "OPERATOR";

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct ProviderItem {
    pub pk: String,
    pub sk: String,
    /// [`OPERATOR_ACCOUNT_ID`], or empty if the provider was stored by an earlier version of the service. The index
    /// does not list such providers.
    #[serde(default)]
    account_id: String,
    provider_id: String,
    name: String,
    endpoint: String,
    authorization_hash: Option<String>,
    created_at: u64,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct BotItem {
    pub pk: String,
    pub sk: String,
    account_id: String,
    bot_id: String,
    provider_id: String,
    token: String,
    name: String,
    channel_ids: Vec<String>,
    #[serde(flatten)]
    settings: BotSettingsAttributes,
    #[serde(flatten)]
    signing_secrets: SigningSecretAttributes,
    created_at: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct BotTokenItem {
    pub pk: String,
    pub sk: String,
    pub bot_id: String,
}

impl From<&Provider> for ProviderItem {
    fn from(provider: &Provider) -> Self {
        let Provider { provider_id, name, endpoint, authorization_hash, created_at } = provider.clone();
        let (key, account_id) = (provider_key(&provider_id), OPERATOR_ACCOUNT_ID.to_owned());
        let created_at = created_at.0;
        Self { pk: key.pk, sk: key.sk, account_id, provider_id, name, endpoint, authorization_hash, created_at }
    }
}

impl From<ProviderItem> for Provider {
    fn from(item: ProviderItem) -> Self {
        let ProviderItem { pk: _, sk: _, account_id: _, provider_id, name, endpoint, authorization_hash, created_at } =
            item;
        Self { provider_id, name, endpoint, authorization_hash, created_at: Timestamp(created_at) }
    }
}

impl From<&Bot> for BotItem {
    fn from(bot: &Bot) -> Self {
        let Bot { bot_id, account_id, provider_id, token, name, channel_ids, settings, signing_secrets, created_at } =
            bot.clone();
        let key = bot_key(&bot_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            bot_id,
            provider_id,
            token,
            name,
            channel_ids,
            settings: (&settings).into(),
            signing_secrets: signing_secrets.into(),
            created_at: created_at.0,
        }
    }
}

impl From<BotItem> for Bot {
    fn from(item: BotItem) -> Self {
        let BotItem {
            pk: _,
            sk: _,
            account_id,
            bot_id,
            provider_id,
            token,
            name,
            channel_ids,
            settings,
            signing_secrets,
            created_at,
        } = item;
        Self {
            bot_id,
            account_id,
            provider_id,
            token,
            name,
            channel_ids,
            settings: settings.into(),
            signing_secrets: signing_secrets.into(),
            created_at: Timestamp(created_at),
        }
    }
}
