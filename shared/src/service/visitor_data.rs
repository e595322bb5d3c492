//! Shows admins a visitor and how much an erasure of the visitor would delete.

use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::admin::visitor_data::VisitorData;
use crate::wire::agent;

pub async fn summary(directory: &Directory, chats: &Chats, visitor: Visitor) -> Result<VisitorData, Error> {
    let size = chats.visitor_data_size(&visitor).await?;
    let safe_urls = &directory.cached_settings(&visitor.account_id).await?.safe_urls;
    Ok(VisitorData {
        visitor: agent::Visitor::new(visitor, safe_urls),
        chats_count: size.chats,
        entries: size.entries,
        is_complete: size.is_complete,
    })
}
