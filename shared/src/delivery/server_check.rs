//! The requests that show whether a server keeps a clause: a sample request with a change. The command `check` sends
//! the same ones and more (docs/partners.md).

use std::time::Duration;

use serde_json::{Value, json};

use crate::delivery::rehearsal::Fault;
use crate::delivery::signed_post::{SignedPost, Signing};
use crate::domain::deliveries::server_clause::ServerClause;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_signing_secret;

/// A server must refuse requests that were signed more than five minutes ago.
const TOO_OLD: Duration = Duration::from_secs(10 * 60);
/// A failed attempt is repeated after this time, and signed anew.
const RETRY_DELAY: Duration = Duration::from_secs(3);
const MALFORMED_JSON: &[u8] = b"{\"message\":";
const UNKNOWN_NAME: &str = "type_of_a_later_version";

/// The fields that name the type of a message or event, for which new values can appear. An absent one is skipped.
pub(crate) type TypePointers = &'static [&'static str];
pub(crate) const INTEGRATOR_TYPES: TypePointers = &["/message/type"];
pub(crate) const BOT_TYPES: TypePointers = &["/event"];
/// The last two are those of a CloudEvent.
pub(crate) const WEBHOOK_TYPES: TypePointers = &["/event_name", "/type", "/data/event_name"];

/// Returns the request that shows whether a server keeps the clause. `sample` is a right request.
pub(crate) fn request(clause: ServerClause, sample: SignedPost, types: TypePointers) -> Result<SignedPost, Error> {
    Ok(match clause {
        ServerClause::Accepts | ServerClause::AcceptsRepeated => sample,
        ServerClause::AcceptsAfterOldSignature => {
            SignedPost { secrets: [vec![random_signing_secret()?], sample.secrets].concat(), ..sample }
        }
        ServerClause::AcceptsBeforeOldSignature => {
            SignedPost { secrets: [sample.secrets, vec![random_signing_secret()?]].concat(), ..sample }
        }
        ServerClause::RefusesUnsigned => SignedPost { signing: Signing::Missing, ..sample },
        ServerClause::RefusesWrongSignature => Fault::WrongSignature.apply_to(sample)?,
        ServerClause::RefusesSignatureOfOtherBody => SignedPost { signing: Signing::OfOtherBody, ..sample },
        ServerClause::RefusesOldRequest => SignedPost { signing: Signing::Earlier(TOO_OLD), ..sample },
        ServerClause::IgnoresUnknownFields => with_changed_body(sample, add_unknown_field)?,
        ServerClause::SurvivesUnknownType => with_changed_body(sample, |body| replace_types(body, types))?,
        ServerClause::SurvivesMalformedJson => SignedPost { body: MALFORMED_JSON.to_vec(), ..sample },
    })
}

/// Returns the request that is sent before that of the clause, if there is one.
pub(crate) fn earlier_request(clause: ServerClause, sample: &SignedPost) -> Option<SignedPost> {
    let first_attempt = || SignedPost { signing: Signing::Earlier(RETRY_DELAY), ..sample.clone() };
    (clause == ServerClause::AcceptsRepeated).then(first_attempt)
}

fn with_changed_body(post: SignedPost, change: impl FnOnce(&mut Value)) -> Result<SignedPost, Error> {
    let mut body: Value = serde_json::from_slice(&post.body).map_err(Error::internal)?;
    change(&mut body);
    Ok(SignedPost { body: body.to_string().into_bytes(), ..post })
}

/// Adds a field to the event itself, also if it is wrapped into a CloudEvent, whose attributes have rules of their own.
fn add_unknown_field(body: &mut Value) {
    let is_wrapped = body.get("specversion").is_some();
    let event = if is_wrapped { body.get_mut("data") } else { Some(body) };
    if let Some(fields) = event.and_then(Value::as_object_mut) {
        fields.insert("field_of_a_later_version".to_owned(), json!({ "a": [1] }));
    }
}

fn replace_types(body: &mut Value, types: TypePointers) {
    for pointer in types {
        if let Some(name) = body.pointer_mut(pointer) {
            *name = UNKNOWN_NAME.into();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::delivery::signed_post::JSON_CONTENT_TYPE;
    use crate::domain::timestamp::Timestamp;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const NOW: Timestamp = Timestamp(1_790_331_234_000);

    fn sample(body: &Value) -> SignedPost {
        SignedPost {
            url: None,
            shown_url: None,
            body: body.to_string().into_bytes(),
            content_type: JSON_CONTENT_TYPE,
            id: "m1".into(),
            secrets: vec![SECRET.into()],
            signing: Signing::Right,
            chunked: false,
            hidden: Vec::new(),
        }
    }

    fn header(post: &SignedPost, name: &str) -> Option<String> {
        let headers = post.headers(NOW).unwrap();
        headers.into_iter().find(|(it, _)| *it == name).map(|(_, value)| value)
    }

    #[test]
    fn only_the_signature_of_a_refused_request_is_wrong() {
        let body = json!({"event": "CLIENT_MESSAGE"});
        let right = header(&sample(&body), "webhook-signature").unwrap();
        let changed = |clause| request(clause, sample(&body), BOT_TYPES).unwrap();
        let signature = |clause| header(&changed(clause), "webhook-signature").unwrap();
        let old_first = signature(ServerClause::AcceptsAfterOldSignature);
        let old_last = signature(ServerClause::AcceptsBeforeOldSignature);
        assert!(old_first.ends_with(&format!(" {right}")) && old_last.starts_with(&format!("{right} ")), "{old_first}");
        for clause in [
            ServerClause::RefusesWrongSignature,
            ServerClause::RefusesSignatureOfOtherBody,
            ServerClause::RefusesOldRequest,
        ] {
            let refused = changed(clause);
            assert!(!header(&refused, "webhook-signature").unwrap().contains(&right), "{clause:?}");
            assert_eq!(refused.body, sample(&body).body, "{clause:?}");
        }
        let old = header(&changed(ServerClause::RefusesOldRequest), "webhook-timestamp").unwrap();
        assert_eq!(old.parse::<u64>().unwrap(), NOW.seconds() - 600);
        let unsigned = changed(ServerClause::RefusesUnsigned);
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            assert_eq!(header(&unsigned, name), None);
        }
    }

    #[test]
    fn changed_body_is_signed_as_it_is_sent() {
        let body = json!({"event": "CLIENT_MESSAGE", "message": {"type": "TEXT"}});
        let changed = |clause| request(clause, sample(&body), BOT_TYPES).unwrap();
        let unknown: Value = serde_json::from_slice(&changed(ServerClause::SurvivesUnknownType).body).unwrap();
        assert_eq!(unknown, json!({"event": UNKNOWN_NAME, "message": {"type": "TEXT"}}));
        let added: Value = serde_json::from_slice(&changed(ServerClause::IgnoresUnknownFields).body).unwrap();
        assert_eq!(added.as_object().unwrap().len(), 3);
        assert_eq!(added["message"], body["message"]);
        let malformed = changed(ServerClause::SurvivesMalformedJson);
        serde_json::from_slice::<Value>(&malformed.body).unwrap_err();
        let signature = header(&malformed, "webhook-signature").unwrap();
        let webhook = standardwebhooks::Webhook::new(SECRET).unwrap();
        assert_eq!(signature, webhook.sign("m1", 1_790_331_234, &malformed.body).unwrap());
    }

    #[test]
    fn attributes_of_a_cloud_event_stay_valid() {
        let body = json!({"specversion": "1.0", "type": "switchboard.test", "data": {"event_name": "test"}});
        let changed = |clause| {
            let post = request(clause, sample(&body), WEBHOOK_TYPES).unwrap();
            serde_json::from_slice::<Value>(&post.body).unwrap()
        };
        let added = changed(ServerClause::IgnoresUnknownFields);
        assert_eq!((added.as_object().unwrap().len(), added["data"].as_object().unwrap().len()), (3, 2));
        let unknown = changed(ServerClause::SurvivesUnknownType);
        assert_eq!([&unknown["type"], &unknown["data"]["event_name"]], [UNKNOWN_NAME; 2]);
    }

    #[test]
    fn repeated_request_has_the_same_id_and_a_new_signature() {
        let post = sample(&json!({}));
        let earlier = earlier_request(ServerClause::AcceptsRepeated, &post).unwrap();
        assert_eq!(header(&earlier, "webhook-id"), header(&post, "webhook-id"));
        assert_ne!(header(&earlier, "webhook-signature"), header(&post, "webhook-signature"));
        assert!(earlier_request(ServerClause::Accepts, &post).is_none());
    }
}
