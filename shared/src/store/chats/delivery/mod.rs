//! Items and indexes of deliveries, and the receipts of accepted requests.

pub mod deliveries;
pub(crate) mod delivery_counts;
pub mod delivery_listing;
pub mod due_index;
pub mod fetched;
pub mod idempotency_receipts;
pub mod outages;
pub(crate) mod overdue_deliveries;
pub(crate) mod pending_refusals;
pub mod refused_message_counts;
pub mod strict_order;
