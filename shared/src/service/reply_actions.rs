//! Checks the actions of a canned reply before they are stored.

use crate::domain::accounts::canned_reply::{LastAction, ReplyActions};
use crate::domain::chats::transfer_request::TransferRequest;
use crate::error::Error;
use crate::store::directory::Directory;

/// Fails if a tag or the recipient of a transfer does not exist in the account. What exists now can be deleted later;
/// then the console leaves out the tag, and reports the transfer as failed.
pub async fn require_existing(directory: &Directory, account_id: &str, actions: &ReplyActions) -> Result<(), Error> {
    let settings = directory.fresh_settings(account_id).await?;
    let unknown_tag = actions.add_tags.iter().position(|tag_id| settings.inbox.tag(*tag_id).is_none());
    if let Some(index) = unknown_tag {
        return Err(Error::field(format!("actions.add_tags[{index}]"), "does not exist"));
    }
    let (field, exists) = match &actions.last {
        Some(LastAction::Transfer(TransferRequest::Agent(agent_id))) => {
            ("agent_id", directory.agent(account_id, *agent_id).await?.is_some())
        }
        Some(LastAction::Transfer(TransferRequest::Department(department_id))) => {
            ("department_id", directory.department(account_id, *department_id).await?.is_some())
        }
        Some(LastAction::Transfer(TransferRequest::Bot(bot_id))) => {
            ("bot_id", directory.bot(bot_id).await?.is_some_and(|bot| bot.account_id == account_id))
        }
        Some(LastAction::Close) | None => return Ok(()),
    };
    if exists { Ok(()) } else { Err(Error::field(format!("actions.transfer_to.{field}"), "does not exist")) }
}
