//! The /admin/outages endpoint: its bodies and operations, and the delivery options of channels and webhooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::deliveries::delivery::Target;
use crate::domain::deliveries::outage::{self, DeliveryOptions, OutageStatus};
use crate::domain::named::named;
use crate::error::Error;
use crate::wire::fields::values::{AnyText, Name, True, UnixSeconds};

const MAX_ID_CHARS: usize = 64;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/outages", "outages", "Lists the receivers with an outage")
            .describe(
                "A channel or a webhook with `late_delivery` has an outage from its first failed delivery until all \
                 delayed deliveries have ended. Each minute, one of them is attempted. When an attempt succeeds, the \
                 others follow, oldest first.",
            )
            .answers::<Outages>(200, "The outages."),
        Operation::post(
            "/admin/outages",
            "resumeReceiver",
            "Ends the pause of a receiver and delivers what waits for it",
        )
        .describe(
            "A receiver whose outage lasts five days is switched off: it gets no more requests. This switches it \
                 on again. For a receiver that is not switched off, one delayed delivery is attempted at once.",
        )
        .body::<ReceiverToResume>()
        .answers::<ResumedReceiver>(200, "The receiver is switched on.")
        .fails(&[Failure::NotFound]),
    ]
}

named! {
    /// The kinds of receivers that can have an outage.
    pub enum OutageTarget {
        Channel = "channel",
        Webhook = "webhook",
        Sqs = "sqs",
        EventBridge = "eventbridge",
    }
}

impl From<OutageTarget> for Target {
    fn from(target: OutageTarget) -> Self {
        match target {
            OutageTarget::Channel => Self::Channel,
            OutageTarget::Webhook => Self::Webhook,
            OutageTarget::Sqs => Self::Sqs,
            OutageTarget::EventBridge => Self::EventBridge,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Outages {
    outages: Vec<Outage>,
}

#[derive(Serialize, JsonSchema)]
struct Outage {
    target: Name<Target>,
    /// The id of the channel or the webhook.
    receiver_id: String,
    /// The first failed delivery, or the last sign that the receiver works.
    since: UnixSeconds,
    last_failed_at: UnixSeconds,
    status: Name<OutageStatus>,
}

impl Outages {
    pub fn new(outages: &[outage::Outage]) -> Self {
        Self { outages: outages.iter().filter(|outage| !outage.is_over).map(Outage::from).collect() }
    }
}

impl From<&outage::Outage> for Outage {
    fn from(outage: &outage::Outage) -> Self {
        Self {
            target: Name(outage.key.target),
            receiver_id: outage.key.receiver_id.clone(),
            since: outage.since.into(),
            last_failed_at: outage.last_failed_at.into(),
            status: Name(outage.status),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ReceiverToResume {
    target: Name<OutageTarget>,
    /// The id of the channel or the webhook.
    receiver_id: AnyText<MAX_ID_CHARS>,
}

impl ReceiverToResume {
    pub fn into_key(self, account_id: String) -> outage::OutageKey {
        let Self { target: Name(target), receiver_id: AnyText(receiver_id) } = self;
        outage::OutageKey { account_id, target: target.into(), receiver_id }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ResumedReceiver {
    target: Name<Target>,
    receiver_id: String,
    resumed: True,
}

impl ResumedReceiver {
    pub fn new(key: outage::OutageKey) -> Self {
        Self { target: Name(key.target), receiver_id: key.receiver_id, resumed: True }
    }
}

/// Applies the fields `late_delivery` and `strict_order` of a request. Absent fields stay unchanged.
pub(super) fn changed_delivery_options(
    before: DeliveryOptions,
    late_delivery: Option<bool>,
    strict_order: Option<bool>,
) -> Result<DeliveryOptions, Error> {
    let late_delivery = late_delivery.unwrap_or(before.late_delivery);
    let strict_order = strict_order.unwrap_or(before.strict_order);
    if strict_order && !late_delivery {
        return Err(Error::field("strict_order", "requires late_delivery"));
    }
    Ok(DeliveryOptions { late_delivery, strict_order })
}
