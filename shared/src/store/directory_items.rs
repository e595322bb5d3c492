//! The items of the Directory table.

use serde::{Deserialize, Serialize};

use crate::domain::account::{Agent, Role};
use crate::domain::channel::{AddressSecret, Channel, ChannelSettings, Validation};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

#[derive(Serialize, Deserialize)]
pub(super) struct ChannelItem {
    pub pk: String,
    pub sk: String,
    pub account_id: String,
    channel_id: String,
    name: String,
    integrator_url: String,
    chunked: bool,
    agent_ids: Vec<u64>,
    validation: String,
    hidden_error_codes: Vec<i64>,
    secrets: Vec<SecretItem>,
    signing_secret: String,
    created_at: u64,
}

#[derive(Serialize, Deserialize)]
struct SecretItem {
    hash: String,
    valid_until: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AgentItem {
    pub pk: String,
    pub sk: String,
    agent_id: u64,
    name: String,
    email: String,
    phone: Option<String>,
    photo: Option<String>,
    role: String,
    created_at: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct LoginItem {
    pub pk: String,
    pub sk: String,
    #[serde(rename = "account")]
    pub account_id: String,
    pub agent_id: u64,
    pub password_hash: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AccountItem {
    pub pk: String,
    pub sk: String,
    pub name: String,
    /// The last agent id given out.
    pub agents: u64,
    pub created_at: u64,
}

impl From<&Channel> for ChannelItem {
    fn from(channel: &Channel) -> Self {
        let Channel { channel_id, account_id, settings, secrets, signing_secret, created_at } = channel.clone();
        let ChannelSettings { name, integrator_url, chunked, agent_ids, validation, hidden_error_codes } = settings;
        let key = super::directory::channel_key(&channel_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            channel_id,
            name,
            integrator_url,
            chunked,
            agent_ids,
            validation: validation.name().to_owned(),
            hidden_error_codes,
            secrets: secrets.iter().map(SecretItem::from).collect(),
            signing_secret,
            created_at: created_at.0,
        }
    }
}

impl TryFrom<ChannelItem> for Channel {
    type Error = Error;

    fn try_from(item: ChannelItem) -> Result<Self, Error> {
        let validation = Validation::parse(&item.validation).ok_or_else(|| Error::internal("validation"))?;
        let secrets: Result<Vec<_>, _> = item.secrets.into_iter().map(AddressSecret::try_from).collect();
        Ok(Self {
            channel_id: item.channel_id,
            account_id: item.account_id,
            settings: ChannelSettings {
                name: item.name,
                integrator_url: item.integrator_url,
                chunked: item.chunked,
                agent_ids: item.agent_ids,
                validation,
                hidden_error_codes: item.hidden_error_codes,
            },
            secrets: secrets?,
            signing_secret: item.signing_secret,
            created_at: Timestamp(item.created_at),
        })
    }
}

impl From<&AddressSecret> for SecretItem {
    fn from(secret: &AddressSecret) -> Self {
        let hash = secret.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { hash, valid_until: secret.valid_until.map(|until| until.0) }
    }
}

impl TryFrom<SecretItem> for AddressSecret {
    type Error = Error;

    fn try_from(item: SecretItem) -> Result<Self, Error> {
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
        let Agent { account_id, agent_id, name, email, phone, photo, role, created_at } = agent.clone();
        let key = super::directory::agent_key(&account_id, agent_id);
        let role = role.name().to_owned();
        Self { pk: key.pk, sk: key.sk, agent_id, name, email, phone, photo, role, created_at: created_at.0 }
    }
}

impl AgentItem {
    pub(super) fn into_agent(self, account_id: &str) -> Result<Agent, Error> {
        let Self { pk: _, sk: _, agent_id, name, email, phone, photo, role, created_at } = self;
        let role = Role::parse(&role).ok_or_else(|| Error::internal("role"))?;
        let created_at = Timestamp(created_at);
        Ok(Agent { account_id: account_id.to_owned(), agent_id, name, email, phone, photo, role, created_at })
    }
}
