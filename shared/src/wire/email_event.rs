//! The event with which SES invokes a function for a received e-mail, which it has stored in the bucket before.

use serde::Deserialize;

use crate::domain::email::received::{EmailNotice, Verdict, Verdicts};
use crate::error::Error;

#[derive(Deserialize)]
struct EmailEvent {
    #[serde(rename = "Records")]
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    ses: Notification,
}

#[derive(Deserialize)]
struct Notification {
    mail: Mail,
    receipt: Receipt,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mail {
    message_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    recipients: Vec<String>,
    spf_verdict: Option<Status>,
    dkim_verdict: Option<Status>,
    dmarc_verdict: Option<Status>,
    spam_verdict: Option<Status>,
    virus_verdict: Option<Status>,
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

/// Reads the notices of an event.
///
/// # Errors
/// Fails if the event has another form, or if an id could be the path of another object.
pub fn read(event: serde_json::Value) -> Result<Vec<EmailNotice>, Error> {
    let event: EmailEvent = serde_json::from_value(event).map_err(Error::internal)?;
    event.records.into_iter().map(|record| notice(record.ses)).collect()
}

fn notice(Notification { mail, receipt }: Notification) -> Result<EmailNotice, Error> {
    let email_id = mail.message_id;
    let is_id = !email_id.is_empty() && email_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_id {
        return Err(Error::internal("id of an e-mail"));
    }
    let Receipt { recipients, spf_verdict, dkim_verdict, dmarc_verdict, spam_verdict, virus_verdict } = receipt;
    let verdict = |status: Option<Status>| Verdict::parse(&status?.status);
    let verdicts = Verdicts {
        spf: verdict(spf_verdict),
        dkim: verdict(dkim_verdict),
        dmarc: verdict(dmarc_verdict),
        spam: verdict(spam_verdict),
        virus: verdict(virus_verdict),
    };
    Ok(EmailNotice { email_id, recipients, verdicts })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn event(id: &str) -> serde_json::Value {
        let receipt = json!({
            "recipients": ["reply+x@mail.example.com"], "spfVerdict": { "status": "PASS" },
            "dkimVerdict": { "status": "GRAY" }, "dmarcVerdict": { "status": "new" },
        });
        json!({ "Records": [{ "eventSource": "aws:ses", "ses": { "mail": { "messageId": id }, "receipt": receipt } }] })
    }

    #[test]
    fn notice_names_the_object_and_the_verdicts() {
        let [notice] = &read(event("o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1")).unwrap()[..] else { unreachable!() };
        assert_eq!(notice.object_key(), "mail/o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1");
        let Verdicts { spf, dkim, dmarc, virus, .. } = notice.verdicts;
        assert_eq!((spf, dkim, dmarc, virus), (Some(Verdict::Pass), Some(Verdict::Gray), None, None));
    }

    #[test]
    fn id_cannot_lead_to_another_object() {
        for id in ["", "../files/acc/x", "a/b"] {
            assert!(read(event(id)).is_err(), "{id}");
        }
    }
}
