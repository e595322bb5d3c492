//! What the service does by itself: retention, erasure, overdue deliveries and idle chats.

pub mod apply_retention;
pub mod erase_visitor;
pub mod requeue_overdue_delivery;
pub mod reschedule_idle_check;
