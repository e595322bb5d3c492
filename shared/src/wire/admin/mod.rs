//! The bodies of the admins' and the operator's endpoints (docs/openapi.json).

mod agents;
mod bots;
mod channels;
mod departments;
mod providers;

pub use agents::{NewAgent, agent, changed_agent, new_account, new_admin, new_agent};
pub use bots::{BotSettings, bot, changed_bot, created_bot, new_bot};
pub use channels::{changed_channel, channel, created_channel, new_channel};
pub use departments::{changed_department, department};
pub use providers::{changed_provider, provider};

use std::collections::BTreeSet;

use serde_json::Value;
use url::Url;

use super::fields::Fields;
use crate::delivery::guard::Guard;
use crate::error::Error;

/// Characters of a name.
const NAME: usize = 255;
/// Entries of a list.
const LIST: usize = 1_000;
/// Longest overlap of an old and a new address, in seconds: 30 days.
const LONGEST_OVERLAP: u64 = 30 * 24 * 60 * 60;
/// The overlap when nothing is said: a day.
const USUAL_OVERLAP: u64 = 24 * 60 * 60;

/// Reads POST .../rotate of a channel or a webhook: for how many seconds the old address or secret still holds.
pub fn overlap(body: &Value) -> Result<u64, Error> {
    let fields = Fields::of(body)?;
    let Some(value) = fields.value("keep_old_seconds") else {
        return Ok(USUAL_OVERLAP);
    };
    let seconds = value.as_u64().filter(|seconds| *seconds <= LONGEST_OVERLAP);
    seconds.ok_or_else(|| {
        fields.refuse("keep_old_seconds", format_args!("must be a whole number from 0 to {LONGEST_OVERLAP}"))
    })
}

pub(in crate::wire) fn check_target(fields: Fields<'_>, name: &str, url: &str, guard: &Guard) -> Result<(), Error> {
    let url = Url::parse(url).map_err(|_| fields.refuse(name, "must be a URL"))?;
    guard.check(&url).map_err(|forbidden| fields.refuse(name, forbidden))
}

/// Ids, each once.
fn ids(fields: Fields<'_>, name: &str) -> Result<Option<Vec<u64>>, Error> {
    let Some(numbers) = fields.integers(name, LIST)? else {
        return Ok(None);
    };
    let ids: Option<Vec<u64>> = numbers.into_iter().map(|id| u64::try_from(id).ok().filter(|id| *id > 0)).collect();
    let mut ids = ids.ok_or_else(|| fields.refuse(name, "must be a list of ids"))?;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    Ok(Some(ids))
}

pub(in crate::wire) fn with<const N: usize>(mut object: Value, more: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}
