//! Shows admins a visitor and how much an erasure of the visitor would delete. Both concern all visitors who are the same
//! person.

use futures_util::future::try_join_all;

use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::admin::visitor_data::VisitorData;
use crate::wire::agent;

pub async fn summary(
    directory: &Directory,
    chats: &Chats,
    visitor: Visitor,
    now: Timestamp,
) -> Result<VisitorData, Error> {
    let visitors = chats.with_merged_visitors(visitor.clone(), now).await?;
    let sizes = try_join_all(visitors.iter().map(|visitor| chats.visitor_data_size(visitor))).await?;
    let safe_urls = &directory.cached_settings(&visitor.account_id).await?.safe_urls;
    Ok(VisitorData {
        visitor: agent::Visitor::new(visitor, safe_urls),
        chats_count: sizes.iter().map(|size| size.chats).sum(),
        entries: sizes.iter().map(|size| size.entries).sum(),
        is_complete: sizes.iter().all(|size| size.is_complete),
    })
}
