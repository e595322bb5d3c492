//! PATCH /agent/visitors/{number}: corrects the profile of a visitor, changes whether the visitor is blacklisted, or
//! merges the visitor with another one. Messages from a blacklisted visitor are accepted and dropped. If an agent has
//! the visitor's chat, the webhooks are notified with chat_updated. Those that name the event get visitor_blacklisted.
//!
//! Corrections and the blacklist status apply to all visitors who are the same person. They are stored one after the
//! other, so a repeated request completes one that was interrupted.

use std::process::ExitCode;

use shared::chats::notifications::NotificationContext;
use shared::chats::visitor::merge_visitors::{merge_visitors, separate_visitor};
use shared::chats::visitor::update_visitor::update_visitor_and_notify;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::visitors::merged_visitors::{MergeChange, person_profile};
use shared::domain::visitors::visitor::{self, ProfileSource, VisitorProfile};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::chat_access::ChatAccess;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{Visitor, VisitorChanges};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let changes: VisitorChanges = request.body_as()?;
    let (blacklisted, merge) = (changes.blacklisted, changes.merge_change()?);
    let corrections = changes.into_profile();
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let visitor = access.visitor(request.path_number("number")?).await?;
    let audit = audit::by_agent(&directory, &caller, &request);
    if let Some(blacklisted) = blacklisted.filter(|blacklisted| *blacklisted != visitor.blacklisted) {
        let action = if blacklisted { AuditAction::Blacklisted } else { AuditAction::Unblacklisted };
        audit.record(&caller.account_id, visitor_change(action, visitor.number)).await?;
    }
    let mut visitors = match merge {
        Some(MergeChange::With(number)) => {
            let other = visitor_to_merge(&access, &visitor, number).await?;
            for number in [visitor.number, other.number] {
                audit.record(&caller.account_id, visitor_change(AuditAction::Merged, number)).await?;
            }
            merge_visitors(&chats, &visitor, &other, now).await?
        }
        Some(MergeChange::Separate) => {
            audit.record(&caller.account_id, visitor_change(AuditAction::Separated, visitor.number)).await?;
            vec![separate_visitor(&chats, visitor, now).await?]
        }
        None => chats.with_merged_visitors(visitor, now).await?,
    };
    let is_merge = matches!(merge, Some(MergeChange::With(_)));
    let person = if is_merge { person_profile(&visitors) } else { VisitorProfile::default() };
    let is_person_blacklisted = is_merge && visitors.iter().any(|visitor| visitor.blacklisted);
    let settings = directory.cached_settings(&caller.account_id).await?;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: Some(caller.agent.agent_id), now };
    for visitor in &mut visitors {
        visitor.merge_profile(&person, ProfileSource::Agent);
        visitor.merge_profile(&corrections, ProfileSource::Agent);
        visitor.set_blacklisted(blacklisted.unwrap_or(visitor.blacklisted || is_person_blacklisted));
        outbox.enqueue(&update_visitor_and_notify(&chats, visitor, &context).await?).await;
    }
    let visitor = visitors.into_iter().next().ok_or(Error::NotFound)?;
    Ok(Response::ok(Visitor::new(visitor, &settings.safe_urls)))
}

fn visitor_change(action: AuditAction, number: u64) -> AuditedChange {
    AuditedChange::unnamed(action, AuditedKind::Visitor, number.to_string())
}

/// Reads the visitor with whom `visitor` is to be merged. The agent must be allowed to see both.
async fn visitor_to_merge(
    access: &ChatAccess<'_>,
    visitor: &visitor::Visitor,
    number: u64,
) -> Result<visitor::Visitor, Error> {
    if number == visitor.number {
        return Err(Error::field("merge_with", "must be another visitor"));
    }
    match access.visitor(number).await {
        Err(Error::NotFound) => Err(Error::field("merge_with", "does not exist")),
        found => found,
    }
}
