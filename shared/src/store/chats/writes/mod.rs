//! Single writes that change a chat's header, most of them together with a new entry.

pub(crate) mod agent_message_header;
pub(crate) mod agent_slots;
pub(crate) mod answer_timer_write;
pub(crate) mod bot_answers;
pub(crate) mod bot_message_header;
pub(crate) mod edit_write;
pub(crate) mod event_numbers;
pub(crate) mod note_write;
pub(crate) mod numbers;
pub(crate) mod offer_write;
pub(crate) mod rating_and_typing;
pub(crate) mod receipt_write;
pub(crate) mod sent_message_write;
pub(crate) mod tag_and_snooze;
pub(crate) mod transition_write;
pub(crate) mod visitor_message_header;
pub(crate) mod visitor_profile_header;
