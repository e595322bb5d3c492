//! Forms with which a browser sends a file to the bucket itself (POST Object). The form's signed policy determines the
//! key, the type and the exact size, so S3 refuses anything else.

use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::config::Credentials;
use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::domain::timestamp::Timestamp;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a form permits.
pub(super) struct FormRules<'a> {
    pub bucket: &'a str,
    pub key: &'a str,
    pub size: u64,
    /// Further fields of the form, whose values are fixed.
    pub fields: Vec<(&'static str, String)>,
    pub expires_at: Timestamp,
}

/// Returns the fields of the form, in their order. The file itself is the last field, `file`.
pub(super) fn signed_fields(
    rules: &FormRules<'_>,
    credentials: &Credentials,
    region: &str,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let date = basic_time(now);
    let day = date.split('T').next().unwrap_or_default();
    let mut fields = vec![("key", rules.key.to_owned())];
    fields.extend(rules.fields.iter().cloned());
    fields.push(("x-amz-algorithm", ALGORITHM.to_owned()));
    fields.push(("x-amz-credential", format!("{}/{day}/{region}/s3/aws4_request", credentials.access_key_id())));
    fields.push(("x-amz-date", date.clone()));
    fields.extend(credentials.session_token().map(|token| ("x-amz-security-token", token.to_owned())));
    let policy = STANDARD.encode(policy(rules, &fields).to_string());
    let signature = signature(credentials.secret_access_key(), region, now, &policy);
    fields.extend([("policy", policy), ("x-amz-signature", signature)]);
    fields
}

fn policy(rules: &FormRules<'_>, fields: &[(&'static str, String)]) -> Value {
    let mut conditions =
        vec![json!({ "bucket": rules.bucket }), json!(["content-length-range", rules.size, rules.size])];
    conditions.extend(fields.iter().map(|(name, value)| json!({ *name: value })));
    json!({ "expiration": rules.expires_at.rfc3339(), "conditions": conditions })
}

fn signature(secret: &str, region: &str, now: Timestamp, policy: &str) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(now.0);
    calculate_signature(generate_signing_key(secret, time, region, "s3"), policy.as_bytes())
}

/// Returns the time in the basic format of ISO 8601, without a fraction of the second.
fn basic_time(at: Timestamp) -> String {
    let whole_second = Timestamp::from_seconds(at.seconds()).rfc3339();
    whole_second.chars().filter(|letter| !matches!(letter, '-' | ':')).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// 2015-12-29T00:00:00Z.
    const DATE: Timestamp = Timestamp(1_451_347_200_000);

    /// The example of the S3 documentation ("Browser-Based Uploads Using HTTP POST", section "Example").
    #[test]
    fn signature_is_that_of_the_s3_documentation() {
        let policy = "eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVkaXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAgeyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZlci1zaWRlLWVuY3J5cHRpb24iOiAiQUVTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgICB7IngtYW16LWNyZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0KICAgIHsieC1hbXotYWxnb3JpdGhtIjogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9";
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let expected = "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e";
        assert_eq!(signature(secret, "us-east-1", DATE, policy), expected);
        assert_eq!(basic_time(DATE), "20151229T000000Z");
    }

    #[test]
    fn policy_fixes_each_field_and_the_size() {
        let credentials = Credentials::new("AKID", "secret", Some("token".to_owned()), None, "test");
        let fields = vec![("Content-Type", "image/png".to_owned())];
        let rules =
            FormRules { bucket: "b", key: "pending/a/f", size: 7, fields, expires_at: Timestamp(DATE.0 + 60_000) };
        let fields = signed_fields(&rules, &credentials, "eu-west-1", DATE);
        let field = |name: &str| &fields.iter().find(|(it, _)| *it == name).unwrap().1;
        let policy: Value = serde_json::from_slice(&STANDARD.decode(field("policy")).unwrap()).unwrap();
        assert_eq!(
            policy,
            json!({
                "expiration": "2015-12-29T00:01:00Z",
                "conditions": [
                    {"bucket": "b"}, ["content-length-range", 7, 7], {"key": "pending/a/f"},
                    {"Content-Type": "image/png"}, {"x-amz-algorithm": "AWS4-HMAC-SHA256"},
                    {"x-amz-credential": "AKID/20151229/eu-west-1/s3/aws4_request"},
                    {"x-amz-date": "20151229T000000Z"}, {"x-amz-security-token": "token"},
                ],
            })
        );
    }
}
