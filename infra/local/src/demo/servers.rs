//! The HTTP servers of the demo account. The host serves all of them on its own port.

use axum::Router;

use super::account::DemoAccount;
use super::bot::DemoBot;
use super::gateway::DemoGateway;
use super::journal::Journal;
use super::sign_in::SignInLinks;
use super::site::DemoSite;
use super::{integrator, webhook};
use crate::api_client::{self, ApiClient};
use crate::random_and_digest::RandomError;

/// The host needs the servers' routes before the demo account exists, so the account is connected later. Clones share
/// all data.
#[derive(Clone)]
pub struct DemoServers {
    journal: Journal,
    bot: DemoBot,
    gateway: DemoGateway,
    sign_in_links: SignInLinks,
    site: DemoSite,
}

impl Default for DemoServers {
    fn default() -> Self {
        let (journal, sign_in_links) = (Journal::default(), SignInLinks::default());
        Self {
            bot: DemoBot::new(journal.clone()),
            gateway: DemoGateway::new(journal.clone()),
            site: DemoSite::new(sign_in_links.clone()),
            journal,
            sign_in_links,
        }
    }
}

impl DemoServers {
    pub fn router(&self) -> Router {
        integrator::router(self.journal.clone())
            .merge(webhook::router(self.journal.clone()))
            .merge(self.journal.clone().router())
            .merge(self.bot.clone().router())
            .merge(self.gateway.clone().router())
            .merge(self.sign_in_links.clone().router())
            .merge(self.site.clone().router())
    }

    /// Only the first call has an effect.
    pub fn connect(&self, base_url: &str, demo: &DemoAccount) -> Result<(), api_client::Error> {
        self.bot.connect(ApiClient::new(base_url)?, &demo.provider_id);
        if let Some(signing_secret) = &demo.gateway_secret {
            self.gateway.connect(ApiClient::new(base_url)?, &demo.account_id, signing_secret);
        }
        self.sign_in_links.connect(ApiClient::new(base_url)?, demo);
        self.site.connect(ApiClient::new(base_url)?, demo);
        Ok(())
    }

    /// Creates a single-use link that signs in the demo agent. It is printed at startup.
    pub fn create_sign_in_link(&self, base_url: &str) -> Result<String, RandomError> {
        self.sign_in_links.create(base_url)
    }
}
