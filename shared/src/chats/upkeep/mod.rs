//! What schedules do, and the erasure of a visitor, which also deletes in the background.

pub mod apply_retention;
pub mod erase_visitor;
pub mod requeue_overdue_delivery;
pub mod reschedule_idle_check;
