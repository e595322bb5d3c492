//! The telephony settings of an account, which its admins and the operator change.

use crate::domain::calls::telephony::{Telephony, TelephonyEditor, incoming_url};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::store::directory::telephony::LOCKED_TELEPHONY;
use crate::wire::admin::telephony_settings::{self, TelephonyChanges};

pub struct TelephonySettings<'a> {
    pub account_id: &'a str,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub guard: &'a SsrfGuard,
    pub editor: TelephonyEditor,
}

impl TelephonySettings<'_> {
    /// Returns the settings, the balance and the URL for incoming calls. `base_url` is the public base URL of the
    /// service.
    pub async fn show(
        &self,
        telephony: Option<&Telephony>,
        base_url: &str,
    ) -> Result<telephony_settings::Telephony, Error> {
        let balance = self.chats.call_balance(self.account_id).await?.minutes;
        Ok(telephony_settings::Telephony::new(telephony, balance, incoming_url(base_url, self.account_id)))
    }

    pub async fn current(&self) -> Result<Option<Telephony>, Error> {
        self.directory.telephony(self.account_id).await
    }

    pub async fn delete(&self) -> Result<(), Error> {
        self.directory.delete_telephony(self.account_id, self.editor).await
    }

    pub async fn patch(&self, changes: &TelephonyChanges) -> Result<Telephony, Error> {
        if let Some(channel_id) = changes.channel_id() {
            match self.directory.channel_of_account(self.account_id, channel_id).await {
                Err(Error::NotFound) => return Err(Error::field("channel_id", "must be a channel of the account")),
                found => found?,
            };
        }
        let edit = |before: Option<Telephony>| {
            let was_locked = before.as_ref().is_some_and(|before| before.is_locked);
            match self.editor {
                TelephonyEditor::Admin if was_locked => return Err(LOCKED_TELEPHONY),
                TelephonyEditor::Admin | TelephonyEditor::Operator => {}
            }
            let after = changes.applied_to(before, self.guard)?;
            match self.editor {
                TelephonyEditor::Admin if after.is_locked => {
                    Err(Error::field("locked", "can be changed by the operator only"))
                }
                TelephonyEditor::Admin | TelephonyEditor::Operator => Ok(after),
            }
        };
        self.directory.edit_telephony(self.account_id, edit).await
    }
}
