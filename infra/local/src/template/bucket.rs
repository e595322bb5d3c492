//! Reads `AWS::S3::Bucket`.

use super::error::Error;
use super::evaluated_value::EvaluatedValue;
use crate::s3::{BucketDefinition, LifecycleRule};

pub(super) fn read(logical_id: &str, properties: &EvaluatedValue<'_>) -> Result<BucketDefinition, Error> {
    let configuration = properties.get_or_empty("LifecycleConfiguration")?;
    let rules = configuration.get("Rules")?.map(|rules| rules.items()).transpose()?.unwrap_or_default();
    let mut definition = BucketDefinition { name: logical_id.to_owned(), rules: Vec::new() };
    for rule in rules {
        // A rule without an age is about something else, such as incomplete uploads in several parts.
        if rule.get("ExpirationInDays")?.is_some() {
            let days = u64::from(rule.number_or("ExpirationInDays", 1..=3_650, 1)?);
            definition.rules.push(LifecycleRule { prefix: rule.require("Prefix")?.text()?, days });
        }
    }
    Ok(definition)
}
