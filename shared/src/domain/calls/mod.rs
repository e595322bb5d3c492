//! Calls: their states, phone numbers and the settings of telephony.

pub mod phone_call;
pub mod phone_number;
pub mod telephony;
