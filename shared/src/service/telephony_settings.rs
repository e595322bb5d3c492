//! The endpoints with which an account's admins and the operator configure the account's telephony.

use serde_json::{Value, json};

use crate::domain::ssrf_guard::SsrfGuard;
use crate::domain::telephony::{Telephony, incoming_url};
use crate::error::Error;
use crate::runtime::http::{Request, Response};
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::telephony_settings::{apply_telephony_patch, named_channel, telephony_json};

pub struct TelephonySettingsService<'a> {
    pub account_id: &'a str,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub guard: &'a SsrfGuard,
}

impl TelephonySettingsService<'_> {
    /// Handles GET, PATCH and DELETE. GET costs two reads; PATCH costs two reads and one transaction, and one more read
    /// if it names a channel; DELETE costs one transaction.
    pub async fn handle(&self, request: &Request) -> Result<Response, Error> {
        let telephony = match request.method.as_str() {
            "DELETE" => {
                self.directory.delete_telephony(self.account_id).await?;
                return Ok(Response::ok(json!({ "deleted": true })));
            }
            "PATCH" => Some(self.patch(&request.json()?).await?),
            _ => self.directory.telephony(self.account_id).await?,
        };
        let balance = self.chats.call_balance(self.account_id).await?;
        let incoming_url = incoming_url(&request.base_url(), self.account_id);
        Ok(Response::ok(telephony_json(telephony.as_ref(), balance, &incoming_url)))
    }

    async fn patch(&self, body: &Value) -> Result<Telephony, Error> {
        if let Some(channel_id) = named_channel(body)? {
            match self.directory.channel_of_account(self.account_id, &channel_id).await {
                Err(Error::NotFound) => return Err(Error::field("channel_id", "must be a channel of the account")),
                found => found?,
            };
        }
        let edit = |before| apply_telephony_patch(body, before, self.guard);
        self.directory.edit_telephony(self.account_id, edit).await
    }
}
