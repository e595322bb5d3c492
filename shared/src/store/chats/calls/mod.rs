//! Calls: their entries, their slots and the prepaid balance.

pub mod call_balance;
pub(crate) mod call_entry;
pub mod call_slot;
