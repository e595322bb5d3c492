//! The endpoints with which an account's admins and the operator configure the account's telephony.

use serde_json::{Value, json};

use crate::domain::ssrf_guard::SsrfGuard;
use crate::domain::telephony::{Telephony, TelephonyEditor, incoming_url};
use crate::error::Error;
use crate::runtime::http::{Request, Response};
use crate::runtime::public_base_url::PublicBaseUrl;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::store::directory::telephony::LOCKED_TELEPHONY;
use crate::wire::telephony_settings::{apply_telephony_patch, named_channel, telephony_json};

pub struct TelephonySettingsService<'a> {
    pub account_id: &'a str,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub guard: &'a SsrfGuard,
    pub public_url: &'a PublicBaseUrl,
    pub editor: TelephonyEditor,
}

impl TelephonySettingsService<'_> {
    /// Handles GET, PATCH and DELETE.
    pub async fn handle(&self, request: &Request) -> Result<Response, Error> {
        let telephony = match request.method.as_str() {
            "DELETE" => {
                self.directory.delete_telephony(self.account_id, self.editor).await?;
                return Ok(Response::ok(json!({ "deleted": true })));
            }
            "PATCH" => Some(self.patch(&request.json()?).await?),
            _ => self.directory.telephony(self.account_id).await?,
        };
        let balance = self.chats.call_balance(self.account_id).await?.minutes;
        let incoming_url = incoming_url(&self.public_url.of_request(request), self.account_id);
        Ok(Response::ok(telephony_json(telephony.as_ref(), balance, &incoming_url)))
    }

    async fn patch(&self, body: &Value) -> Result<Telephony, Error> {
        if let Some(channel_id) = named_channel(body)? {
            match self.directory.channel_of_account(self.account_id, &channel_id).await {
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
            let after = apply_telephony_patch(body, before, self.guard)?;
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
