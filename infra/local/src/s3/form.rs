//! A browser's form (POST Object): its fields, and the policy that they must comply with.

use axum::extract::Multipart;
use axum::extract::multipart::Field;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::error::S3Error;
use super::signature::Credential;

/// A field other than the file has at most this size, like the whole form without the file on AWS.
const MAX_FIELD_BYTES: usize = 20 * 1024;
/// The fields that a policy does not have to name.
const UNCHECKED_FIELDS: [&str; 3] = ["policy", "x-amz-signature", "file"];

/// The fields of a form before its file, with lower-case names.
pub(super) struct Form(Vec<(String, String)>);

#[derive(Deserialize)]
struct Policy {
    expiration: String,
    conditions: Vec<Value>,
}

impl Form {
    /// Reads the fields up to the file, and the file if the fields comply with a policy that `secret_of` has signed.
    /// `bucket` is the one to which the form was sent.
    pub async fn read(
        mut parts: Multipart,
        bucket: &str,
        secret: &str,
        now: OffsetDateTime,
    ) -> Result<(Self, Credential, Vec<u8>), S3Error> {
        let mut fields = vec![("bucket".to_owned(), bucket.to_owned())];
        while let Some(part) = parts.next_field().await.map_err(|_| malformed())? {
            let name = part.name().unwrap_or_default().to_ascii_lowercase();
            if name != "file" {
                fields.push((name, read_text(part).await?));
                continue;
            }
            let form = Self(fields);
            let (credential, policy) = form.verified_policy(secret, now)?;
            let (min, max) = form.allowed_size(&policy)?;
            let file = read_file(part, max).await?;
            return if file.len() < min { Err(S3Error::EntityTooSmall) } else { Ok((form, credential, file)) };
        }
        Err(S3Error::MalformedPost("The form has no file."))
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    fn verified_policy(&self, secret: &str, now: OffsetDateTime) -> Result<(Credential, Policy), S3Error> {
        let text = |name: &str| self.field(name).ok_or(S3Error::AccessDenied(format!("{name} is missing")));
        let (policy, credential) = (text("policy")?, Credential::parse(text("x-amz-credential")?)?);
        credential.verify(secret, policy, text("x-amz-signature")?)?;
        let decoded = STANDARD.decode(policy).map_err(|_| malformed())?;
        let policy: Policy = serde_json::from_slice(&decoded).map_err(|_| malformed())?;
        let expires_at = OffsetDateTime::parse(&policy.expiration, &Rfc3339).map_err(|_| malformed())?;
        if expires_at < now {
            return Err(denied("Policy expired"));
        }
        Ok((credential, policy))
    }

    /// Checks the fields and returns the smallest and the largest size of the file.
    fn allowed_size(&self, policy: &Policy) -> Result<(usize, usize), S3Error> {
        let (mut size, mut checked) = ((0, usize::MAX), Vec::new());
        for condition in &policy.conditions {
            match parse_condition(condition)? {
                Condition::Equals(name, value) if self.field(&name) == Some(&*value) => checked.push(name),
                Condition::StartsWith(name, prefix)
                    if self.field(&name).is_some_and(|value| value.starts_with(&prefix)) =>
                {
                    checked.push(name);
                }
                Condition::Equals(name, _) | Condition::StartsWith(name, _) => {
                    return Err(denied(&format!("Policy condition failed: {name}")));
                }
                Condition::Size(min, max) => size = (min, max),
            }
        }
        let mut names = self.0.iter().map(|(name, _)| name).filter(|name| !UNCHECKED_FIELDS.contains(&name.as_str()));
        match names.find(|name| !checked.contains(name)) {
            Some(extra) => Err(denied(&format!("Extra input fields: {extra}"))),
            None => Ok(size),
        }
    }
}

enum Condition {
    Equals(String, String),
    StartsWith(String, String),
    Size(usize, usize),
}

fn parse_condition(condition: &Value) -> Result<Condition, S3Error> {
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(malformed);
    let name = |value: &Value| text(value).map(|name| name.trim_start_matches('$').to_ascii_lowercase());
    let number = |value: &Value| value.as_u64().and_then(|it| usize::try_from(it).ok()).ok_or_else(malformed);
    if let Some(fields) = condition.as_object() {
        let (field, value) = fields.iter().next().ok_or_else(malformed)?;
        return Ok(Condition::Equals(field.to_ascii_lowercase(), text(value)?));
    }
    let Some([kind, first, second]) = condition.as_array().map(Vec::as_slice) else { return Err(malformed()) };
    match kind.as_str() {
        Some("eq") => Ok(Condition::Equals(name(first)?, text(second)?)),
        Some("starts-with") => Ok(Condition::StartsWith(name(first)?, text(second)?)),
        Some("content-length-range") => Ok(Condition::Size(number(first)?, number(second)?)),
        _ => Err(malformed()),
    }
}

async fn read_text(part: Field<'_>) -> Result<String, S3Error> {
    let bytes = read_file(part, MAX_FIELD_BYTES).await?;
    String::from_utf8(bytes).map_err(|_| malformed())
}

/// Reads no more than the allowed size.
async fn read_file(mut part: Field<'_>, max_bytes: usize) -> Result<Vec<u8>, S3Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(|_| malformed())? {
        if bytes.len() + chunk.len() > max_bytes {
            return Err(S3Error::EntityTooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn denied(reason: &str) -> S3Error {
    S3Error::AccessDenied(format!("Invalid according to Policy: {reason}."))
}

fn malformed() -> S3Error {
    S3Error::MalformedPost("The form or its policy is malformed.")
}
