//! The domain from which the stack sends e-mails and at which it receives replies.

use crate::runtime::config;
use crate::runtime::dependencies::{Dependency, StartupContext};

#[derive(Clone)]
pub struct MailDomain(Option<String>);

impl Dependency for MailDomain {
    fn open(_: &mut StartupContext) -> Self {
        Self(config::mail_domain())
    }
}

impl MailDomain {
    /// Returns `None` if the stack sends no e-mails.
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}
