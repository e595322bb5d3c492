//! What the server of an integrator, a bot or a webhook must do, as far as one test request shows it (docs/partners.md).

use crate::domain::deliveries::delivery::Outcome;
use crate::domain::named::named;

named! {
    /// A clause of the contract between the service and a server.
    pub enum ServerClause {
        Accepts = "accepts",
        /// The first signature was made with an old secret, the second one with the current secret.
        AcceptsAfterOldSignature = "accepts_after_old_signature",
        AcceptsBeforeOldSignature = "accepts_before_old_signature",
        RefusesUnsigned = "refuses_unsigned",
        RefusesWrongSignature = "refuses_wrong_signature",
        RefusesSignatureOfOtherBody = "refuses_signature_of_other_body",
        /// The request was signed ten minutes ago.
        RefusesOldRequest = "refuses_old_request",
        IgnoresUnknownFields = "ignores_unknown_fields",
        SurvivesUnknownType = "survives_unknown_type",
        SurvivesMalformedJson = "survives_malformed_json",
        /// The request is sent twice, with the same id.
        AcceptsRepeated = "accepts_repeated",
    }
}

/// The responses with which a server keeps a clause.
enum Expected {
    Accepted,
    Refused,
    NoServerError,
}

impl ServerClause {
    fn expected_response(self) -> Expected {
        match self {
            Self::Accepts
            | Self::AcceptsAfterOldSignature
            | Self::AcceptsBeforeOldSignature
            | Self::IgnoresUnknownFields
            | Self::AcceptsRepeated => Expected::Accepted,
            Self::RefusesUnsigned
            | Self::RefusesWrongSignature
            | Self::RefusesSignatureOfOtherBody
            | Self::RefusesOldRequest => Expected::Refused,
            Self::SurvivesUnknownType | Self::SurvivesMalformedJson => Expected::NoServerError,
        }
    }

    /// Returns what the clause expects of a response, in words.
    pub fn expected(self) -> &'static str {
        match self.expected_response() {
            Expected::Accepted => "a response that counts as delivered",
            Expected::Refused => "a status from 400 to 499, such as 401",
            Expected::NoServerError => "a response without a server error (a status below 500)",
        }
    }

    /// `outcome` is the one that the response would have for a delivery. `status` is `None` if there was no complete
    /// response.
    pub fn is_kept(self, outcome: &Outcome, status: Option<u16>) -> bool {
        match self.expected_response() {
            Expected::Accepted => outcome.error().is_none(),
            Expected::Refused => status.is_some_and(|status| (400..500).contains(&status)),
            Expected::NoServerError => status.is_some_and(|status| status < 500),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::named::Named;

    fn kept_clauses(outcome: &Outcome, status: Option<u16>) -> Vec<&'static str> {
        let kept = ServerClause::ALL.iter().filter(|clause| clause.is_kept(outcome, status));
        kept.map(|clause| clause.name().split('_').next().unwrap_or_default()).collect()
    }

    #[test]
    fn response_keeps_the_clauses_that_expect_it() {
        let failed = Outcome::Retry("HTTP".into());
        let accepting = ["accepts", "accepts", "accepts", "ignores", "survives", "survives", "accepts"];
        assert_eq!(kept_clauses(&Outcome::Delivered, Some(200)), accepting);
        assert_eq!(kept_clauses(&failed, Some(401)), [vec!["refuses"; 4], vec!["survives"; 2]].concat());
        assert_eq!(kept_clauses(&failed, Some(302)), ["survives"; 2]);
        assert!(kept_clauses(&failed, Some(500)).is_empty());
        assert!(kept_clauses(&failed, None).is_empty());
    }
}
