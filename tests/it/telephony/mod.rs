//! Phone calls and their providers.

mod call_providers;
mod calls;
mod telephony_settings;
