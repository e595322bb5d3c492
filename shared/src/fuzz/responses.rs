//! Fuzzes the responses of receivers. Interpreting a response must not panic, because the task would then be repeated
//! and the request sent again. What is stored of a response must be unchanged when it is read.

use crate::domain::channels::channel::{ApiSettings, ValidationMode, default_api_settings};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryState, Failure, Outcome, Target};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::named::Named;
use crate::domain::visitors::visitor::{ProfileSource, VisitorChanges};
use crate::fuzz::{NOW, targets};
use crate::store::tests::stored_form::StoredForm;
use crate::wire::calls::twilio;
use crate::wire::channels::integrator_response;
use crate::wire::receiver_response::ReceiverResponse;
use crate::wire::sample_data;
use crate::wire::webhooks::webhook_response::{WebhookResponse, interpret_response};

targets!(webhook_response, integrator_response, twilio_rejection);

/// The maximum length of the error text from an integrator's or Twilio's response.
const MAX_TEXT_CHARS: usize = 600;

fn webhook_response(input: &[u8]) {
    for &event in WebhookEvent::ALL {
        assert!(matches!(interpret_response(event, 503, input), WebhookResponse::Retry(_)));
        let data = match interpret_response(event, 200, input) {
            WebhookResponse::Confirmed(data) => data,
            WebhookResponse::Unconfirmed(text) | WebhookResponse::Rejected(text) => {
                assert!(!text.is_empty() && text.chars().count() <= MAX_WEBHOOK_TEXT_CHARS, "{text}");
                continue;
            }
            WebhookResponse::Retry(text) => panic!("a 200 is retried: {text}"),
        };
        assert!(event.accepts_panel_data() || *data == Default::default());
        let mut visitor = sample_data::visitor();
        visitor.merge_profile(&data.contact_info, ProfileSource::Crm);
        visitor.changes = VisitorChanges::default();
        assert_eq!(visitor.stored_and_read(), visitor);
    }
}

/// The maximum length of a webhook's error text: 255 characters of its `result`, after `the response is: `.
const MAX_WEBHOOK_TEXT_CHARS: usize = 272;

fn integrator_response(input: &[u8]) {
    for validation in [ValidationMode::Strict, ValidationMode::Lenient] {
        let settings = ApiSettings { validation, hidden_error_codes: vec![1], ..default_api_settings() };
        for status in [200, 204, 302, 400, 500] {
            let response = ReceiverResponse { status, body: input.to_vec() };
            match integrator_response::outcome(&response, &settings) {
                Outcome::Delivered => assert!((200..300).contains(&status)),
                Outcome::Rejected(failure) => assert_failure_stored(failure),
                Outcome::Retry(text) => assert!(!text.is_empty() && text.chars().count() <= MAX_TEXT_CHARS),
            }
        }
    }
}

fn twilio_rejection(input: &[u8]) {
    twilio::parse_rejection(input).into_iter().for_each(assert_failure_stored);
    let _ = twilio::Form::parse(input);
}

fn assert_failure_stored(failure: Failure) {
    assert!(failure.message.chars().count() <= MAX_TEXT_CHARS);
    let delivery =
        Delivery { state: DeliveryState::Failed, failure: Some(failure), ..Delivery::new(Target::Channel, NOW) };
    let entry = TimelineEntry { delivery: Some(delivery), ..sample_data::agent_message("m", NOW) };
    assert_eq!(entry.stored_and_read(), entry);
}
