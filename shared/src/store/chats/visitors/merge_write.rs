//! The reads and the write of merged visitors.

use futures_util::future::try_join_all;

use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::{Chats, visitor_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n};
use crate::store::to_attribute;

impl Chats {
    /// Reads the visitors with these numbers. Those that have expired or were erased are omitted.
    pub(crate) async fn visitors_by_number(
        &self,
        account_id: &str,
        numbers: impl IntoIterator<Item = &u64>,
        now: Timestamp,
    ) -> Result<Vec<Visitor>, Error> {
        let visitors = numbers.into_iter().map(|number| self.visitor_by_number(account_id, *number, now));
        Ok(try_join_all(visitors).await?.into_iter().flatten().collect())
    }

    /// Returns the visitor, followed by those with whom it is merged. Costs nothing for a visitor who is not merged.
    pub async fn with_merged_visitors(&self, visitor: Visitor, now: Timestamp) -> Result<Vec<Visitor>, Error> {
        let others = self.visitors_by_number(&visitor.account_id, &visitor.merged_with, now).await?;
        Ok([visitor].into_iter().chain(others).collect())
    }

    /// Stores which visitors are merged: for each visitor as it was read, the numbers of the others. Fails if one of
    /// them was merged or separated since then.
    pub(crate) async fn write_merged_visitors(&self, changes: &[(&Visitor, Vec<u64>)]) -> Result<(), WriteError> {
        let writes = changes.iter().map(|(visitor, merged_with)| {
            Ok(Write::Update(ItemUpdate {
                key: visitor_key(&visitor.channel_id, &visitor.external_id),
                update: "SET #merged_with = :merged_with",
                condition: "#number = :number AND (attribute_not_exists(#merged_with) OR #merged_with = :read)",
                values: vec![
                    (":number", n(visitor.number)),
                    (":merged_with", to_attribute(merged_with)?),
                    (":read", to_attribute(&visitor.merged_with)?),
                ],
            }))
        });
        self.table.transact(writes.collect::<Result<_, Error>>()?).await
    }
}
