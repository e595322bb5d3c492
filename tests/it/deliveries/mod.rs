//! Deliveries: attempts, order, retries, outages and the log.

mod crash_recovery;
mod delivery_log;
mod delivery_requests;
mod delivery_sweep;
mod hanging_receivers;
mod integrator_delivery;
mod outages;
mod queue_outage;
mod receiver_addresses;
mod receiver_tests;
mod rehearsals;
mod reports_after_faults;
mod trace_context;
