//! /agent/visitors/{number}: GET returns a visitor. PATCH corrects the profile, changes whether the visitor is
//! blacklisted, or merges the visitor with another one.
//!
//! Messages from a blacklisted visitor are accepted and dropped. If an agent has the visitor's chat, the webhooks are
//! notified with chat_updated. Those that name the event get visitor_blacklisted. All visitors who are the same person
//! are blacklisted, one after the other, so a repeated request completes one that was interrupted.

use std::process::ExitCode;

use shared::chats::notifications::NotificationContext;
use shared::chats::visitor::merge_visitors::{merge_visitors, require_few_visitors, separate_visitor};
use shared::chats::visitor::update_visitor::update_visitor_and_notify;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::visitors::merged_visitors::MergeChange;
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

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, PATCH")?;
    let (directory, chats, connections, outbox) = &dependencies;
    let caller = auth::agent(connections, &request).await?;
    let access = ChatAccess { directory, chats, session: &caller, now: clock::now() };
    let number = request.path_number("number")?;
    let visitor = match request.method.as_str() {
        "GET" => access.visitor(number).await?,
        "PATCH" => change(&access, outbox, &request, number).await?,
        _ => return Err(request.unexpected_method()),
    };
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(Visitor::new(access.shown(visitor).await?, safe_urls)))
}

async fn change(
    access: &ChatAccess<'_>,
    outbox: &Outbox,
    request: &Request,
    number: u64,
) -> Result<visitor::Visitor, Error> {
    let changes: VisitorChanges = request.body_as()?;
    let (blacklisted, merge) = (changes.blacklisted, changes.merge_change()?);
    let audit = audit::by_agent(access.directory, access.session, request);
    let visitor = access.visitor(number).await?;
    let visitor = match merge {
        Some(merge) => change_merge(access, &audit, visitor, merge).await?,
        None => visitor,
    };
    let others = match blacklisted {
        Some(_) => access.chats.merged_visitors(&visitor, access.now).await?,
        None => Vec::new(),
    };
    let corrected = store(access, &audit, outbox, visitor, (&changes.into_profile(), blacklisted)).await?;
    for other in others {
        store(access, &audit, outbox, other, (&VisitorProfile::default(), blacklisted)).await?;
    }
    Ok(corrected)
}

/// Merges or separates the visitor. A merge requires that the agent sees both visitors.
async fn change_merge(
    access: &ChatAccess<'_>,
    audit: &Directory,
    visitor: visitor::Visitor,
    merge: MergeChange,
) -> Result<visitor::Visitor, Error> {
    let (account_id, number) = (&visitor.account_id, visitor.number);
    let others = access.chats.merged_visitors(&visitor, access.now).await?;
    match merge {
        MergeChange::With(other) if other == number => Err(Error::field("merge_with", "must be another visitor")),
        MergeChange::With(other) if others.iter().any(|it| it.number == other) => Ok(visitor),
        MergeChange::With(other) => {
            let other = match access.visitor(other).await {
                Err(Error::NotFound) => return Err(Error::field("merge_with", "does not exist")),
                found => found?,
            };
            let others_of_other = access.chats.merged_visitors(&other, access.now).await?;
            require_few_visitors(others.len() + others_of_other.len() + 2)?;
            for number in [number, other.number] {
                audit.record(account_id, visitor_change(AuditAction::Merged, number)).await?;
            }
            merge_visitors(access.chats, account_id, [number, other.number], access.now).await
        }
        MergeChange::Separate if others.is_empty() => Ok(visitor),
        MergeChange::Separate => {
            audit.record(account_id, visitor_change(AuditAction::Separated, number)).await?;
            separate_visitor(access.chats, account_id, number, access.now).await
        }
    }
}

/// Stores a correction of the profile and the blacklist status, and returns the visitor.
async fn store(
    access: &ChatAccess<'_>,
    audit: &Directory,
    outbox: &Outbox,
    mut visitor: visitor::Visitor,
    (correction, blacklisted): (&VisitorProfile, Option<bool>),
) -> Result<visitor::Visitor, Error> {
    if let Some(blacklisted) = blacklisted.filter(|blacklisted| *blacklisted != visitor.blacklisted) {
        let action = if blacklisted { AuditAction::Blacklisted } else { AuditAction::Unblacklisted };
        audit.record(&visitor.account_id, visitor_change(action, visitor.number)).await?;
        visitor.set_blacklisted(blacklisted);
    }
    visitor.merge_profile(correction, ProfileSource::Agent);
    let settings = access.directory.cached_settings(&visitor.account_id).await?;
    let agent_id = Some(access.session.agent.agent_id);
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id, now: access.now };
    outbox.enqueue(&update_visitor_and_notify(access.chats, &visitor, &context).await?).await;
    Ok(visitor)
}

fn visitor_change(action: AuditAction, number: u64) -> AuditedChange {
    AuditedChange::unnamed(action, AuditedKind::Visitor, number.to_string())
}
