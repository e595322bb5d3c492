//! Creates the visitor of a widget's new token. The visitor and the visitor number exist before the first chat.

use std::time::Duration;

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::channels::channel::Channel;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::domain::visitors::widget_visitor::{Page, WidgetVisitor};
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::visitors::visitor_updates::{visitor_number_write, visitor_write};
use crate::store::chats::visitors::widget_visitors::visitor_id_of_token;
use crate::store::table::{WriteResult, key_taken};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// After this time, a visitor who has not opened a chat expires, unless the account's retention period is shorter.
const MAX_RETENTION_WITHOUT_CHAT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Creates the visitor of a new token. The visitor expires unless they open a chat.
pub async fn create_widget_visitor(
    chats: &Chats,
    channel: &Channel,
    token: &str,
    widget: WidgetVisitor,
    page: Option<Page>,
    settings: &AccountSettings,
    now: Timestamp,
) -> Result<Visitor, Error> {
    let number = chats.assign_visitor_number(&channel.account_id).await?;
    let retention = settings.retention_days.map_or(MAX_RETENTION_WITHOUT_CHAT, |days| DAY * days);
    let mut visitor = Visitor {
        widget: Some(Box::new(widget)),
        retain_until: Some(now.plus(retention.min(MAX_RETENTION_WITHOUT_CHAT))),
        ..Visitor::new(channel, &visitor_id_of_token(token), number)
    };
    if let Some(page) = page {
        visitor.set_page(page);
    }
    let writes = vec![visitor_write(&visitor, true, None)?, visitor_number_write(&visitor)?];
    chats.transact(writes).await.on_condition_failed(key_taken())?;
    Ok(visitor)
}
