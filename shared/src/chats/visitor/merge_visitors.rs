//! An agent merges visitors who are the same person, or separates one of them again. See
//! [`merged_visitors`](crate::domain::visitors::merged_visitors).

use std::collections::BTreeSet;

use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::merged_visitors::MAX_MERGED_VISITORS;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::write_races::WriteRaces;

/// Merges two visitors and all who are already merged with one of them. Returns the first one.
///
/// Fails with `Conflict` if these are more than [`MAX_MERGED_VISITORS`], and with `NotFound` if one of the two does not
/// exist any more.
pub async fn merge_visitors(
    chats: &Chats,
    account_id: &str,
    numbers: [u64; 2],
    now: Timestamp,
) -> Result<Visitor, Error> {
    let mut races = WriteRaces::new("merge of visitors");
    loop {
        let mut visitors: Vec<Visitor> = Vec::new();
        for number in numbers {
            let visitor = chats.visitor_by_number(account_id, number, now).await?.ok_or(Error::NotFound)?;
            let others = chats.merged_visitors(&visitor, now).await?;
            let known: Vec<u64> = visitors.iter().map(|visitor| visitor.number).collect();
            visitors.extend([visitor].into_iter().chain(others).filter(|it| !known.contains(&it.number)));
        }
        require_few_visitors(visitors.len())?;
        let person: BTreeSet<u64> = visitors.iter().map(|visitor| visitor.number).collect();
        let others = |of: &Visitor| person.iter().copied().filter(|number| *number != of.number).collect();
        let changes: Vec<(&Visitor, Vec<u64>)> = visitors.iter().map(|visitor| (visitor, others(visitor))).collect();
        let written = chats.write_merged_visitors(&changes).await;
        if let Some(result) = races.final_result(written) {
            result?;
            let first = visitors.into_iter().next().ok_or(Error::NotFound)?;
            return Ok(Visitor { merged_with: others(&first), ..first });
        }
    }
}

/// Fails with `Conflict` if a person would have more visitors than [`MAX_MERGED_VISITORS`].
pub fn require_few_visitors(count: usize) -> Result<(), Error> {
    if count <= MAX_MERGED_VISITORS { Ok(()) } else { Err(Error::Conflict("a person can have at most ten visitors")) }
}

/// Separates a visitor from those with whom it is merged, who remain merged with each other.
///
/// Fails with `NotFound` if the visitor does not exist any more.
pub async fn separate_visitor(chats: &Chats, account_id: &str, number: u64, now: Timestamp) -> Result<Visitor, Error> {
    let mut races = WriteRaces::new("separation of visitors");
    loop {
        let visitor = chats.visitor_by_number(account_id, number, now).await?.ok_or(Error::NotFound)?;
        let others = chats.merged_visitors(&visitor, now).await?;
        let rest = |of: &Visitor| of.merged_with.iter().copied().filter(|it| *it != number).collect();
        let mut changes = vec![(&visitor, Vec::new())];
        changes.extend(others.iter().map(|other| (other, rest(other))));
        let written = chats.write_merged_visitors(&changes).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| Visitor { merged_with: Vec::new(), ..visitor });
        }
    }
}
