//! An agent merges visitors who are the same person, or separates one of them again. See
//! [`merged_visitors`](crate::domain::visitors::merged_visitors).

use std::collections::BTreeSet;

use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::merged_visitors::{MAX_MERGED_VISITORS, person_numbers};
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

/// Merges two visitors and all who are already merged with one of them. Returns them, `visitor` first. If they are
/// merged already, nothing is stored.
///
/// Fails with `Conflict` if these are more than [`MAX_MERGED_VISITORS`].
pub async fn merge_visitors(
    chats: &Chats,
    visitor: &Visitor,
    other: &Visitor,
    now: Timestamp,
) -> Result<Vec<Visitor>, Error> {
    let mut races = WriteRaces::new("merge of visitors");
    let mut numbers = person_numbers([visitor, other]);
    loop {
        if numbers.len() > MAX_MERGED_VISITORS {
            return Err(Error::Conflict("a person can have at most ten visitors"));
        }
        let mut visitors = chats.visitors_by_number(&visitor.account_id, &numbers, now).await?;
        visitors.sort_by_key(|it| it.number != visitor.number);
        let linked = person_numbers(&visitors);
        if !linked.is_subset(&numbers) {
            // Since they were read, another request has merged one of them with further visitors.
            numbers.extend(linked);
            continue;
        }
        let living: BTreeSet<u64> = visitors.iter().map(|visitor| visitor.number).collect();
        let others = |of: &Visitor| living.iter().copied().filter(|number| *number != of.number).collect();
        let written = store(chats, visitors, others).await;
        if let Some(result) = races.final_result(written) {
            return result;
        }
    }
}

/// Separates the visitor from those with whom it was merged, who remain merged with each other. All keep what the merge
/// has copied into their profiles.
pub async fn separate_visitor(chats: &Chats, mut visitor: Visitor, now: Timestamp) -> Result<Visitor, Error> {
    let (account_id, number) = (visitor.account_id.clone(), visitor.number);
    let mut races = WriteRaces::new("separation of visitors");
    loop {
        let visitors = chats.with_merged_visitors(visitor, now).await?;
        let rest = |of: &Visitor| {
            let others = of.merged_with.iter().copied().filter(|it| *it != number);
            if of.number == number { Vec::new() } else { others.collect() }
        };
        let written = store(chats, visitors, rest).await;
        if let Some(result) = races.final_result(written) {
            return result?.into_iter().next().ok_or(Error::NotFound);
        }
        visitor = chats.visitor_by_number(&account_id, number, now).await?.ok_or(Error::NotFound)?;
    }
}

/// Stores with whom each visitor is merged, and returns the changed visitors.
async fn store(
    chats: &Chats,
    visitors: Vec<Visitor>,
    merged_with: impl Fn(&Visitor) -> Vec<u64>,
) -> Result<Vec<Visitor>, WriteError> {
    let changes: Vec<_> = visitors.iter().map(|visitor| (visitor, merged_with(visitor))).collect();
    if changes.iter().any(|(visitor, merged_with)| visitor.merged_with != *merged_with) {
        chats.write_merged_visitors(&changes).await?;
    }
    let merged: Vec<_> = changes.into_iter().map(|(_, merged_with)| merged_with).collect();
    Ok(visitors.into_iter().zip(merged).map(|(visitor, merged_with)| Visitor { merged_with, ..visitor }).collect())
}
