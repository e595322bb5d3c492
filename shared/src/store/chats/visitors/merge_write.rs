//! The reads and the write of merged visitors.

use futures_util::future::try_join_all;

use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::{Chats, visitor_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n};
use crate::store::to_attribute;

impl Chats {
    /// Reads the visitors with whom this one is merged. Those that have expired or were erased are omitted. Costs nothing
    /// for a visitor who is not merged.
    pub async fn merged_visitors(&self, visitor: &Visitor, now: Timestamp) -> Result<Vec<Visitor>, Error> {
        let others = visitor.merged_with.iter();
        let others = others.map(|number| self.visitor_by_number(&visitor.account_id, *number, now));
        let others = try_join_all(others).await?.into_iter().flatten();
        Ok(others.filter(|other| other.is_merged_with(visitor)).collect())
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
