//! Parses phone numbers with a port of libphonenumber, which contains the numbering plans of all countries. Determines
//! the country of a number, whether calls to it cost an ordinary price, and the digits by which a visitor is found.

use std::ops::RangeInclusive;

use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat, PhoneNumberType, Region};

/// The maximum length of a number as it is typed, with spaces and punctuation.
pub const MAX_PHONE_NUMBER_CHARS: usize = 40;

/// Returns a number in E.164 format, such as `+31201234567`. A number without a country code is treated as a number in
/// the country of `own_number`. Returns `None` if the text is not a valid number.
pub fn to_e164(text: &str, own_number: Option<&str>) -> Option<String> {
    if text.chars().count() > MAX_PHONE_NUMBER_CHARS {
        return None;
    }
    let number = parse(text, own_number.and_then(region))?;
    Some(number.format_as(PhoneNumberFormat::E164).into_owned())
}

/// Like [`to_e164`], but also accepts an international number without `+`, as some front ends send it.
pub fn to_e164_with_optional_plus(text: &str, own_number: Option<&str>) -> Option<String> {
    to_e164(text, own_number).or_else(|| to_e164(&format!("+{}", text.trim_start()), None))
}

/// The number of digits that a national number has, with its area code.
const NATIONAL_DIGITS: RangeInclusive<usize> = 5..=15;

/// Whether a text may be a phone number. A number with a country code must be valid. Of other numbers, only the length
/// is checked, because their country is not known.
pub fn is_possible(text: &str) -> bool {
    if text.chars().count() > MAX_PHONE_NUMBER_CHARS {
        return false;
    }
    let is_national = !text.trim_start().starts_with(['+', '＋'])
        && text.chars().all(|character| character.is_ascii_digit() || " -./()".contains(character));
    let digits = text.chars().filter(char::is_ascii_digit).count();
    (is_national && NATIONAL_DIGITS.contains(&digits)) || parse(text, None).is_some()
}

/// Whether a number in E.164 format is an ordinary one. Calls to other numbers, such as premium-rate and personal
/// numbers, can be expensive, and the called party can share the revenue.
pub fn is_ordinary(e164: &str) -> bool {
    use PhoneNumberType::{
        FixedLine, FixedLineOrMobile, Mobile, Pager, PersonalNumber, PremiumRate, SharedCost, TollFree, UAN, Unknown,
        VoIP, VoiceMail,
    };
    parse(e164, None).is_some_and(|number| match number.get_type() {
        FixedLine | Mobile | FixedLineOrMobile | TollFree | VoIP => true,
        PremiumRate | SharedCost | PersonalNumber | Pager | UAN | VoiceMail | Unknown => false,
    })
}

/// Returns the two-letter code of a number's country, such as `NL`. Returns `None` for numbers that belong to no
/// country, such as those of satellite phones and international networks.
pub fn country(e164: &str) -> Option<String> {
    region(e164).filter(|region| *region != Region::World).map(|region| region.as_region_str().as_str().to_owned())
}

/// Returns the code of a country in upper case. Returns `None` if no country has this code.
pub fn parse_country(code: &str) -> Option<String> {
    let region = Region::from_code(&code.to_ascii_uppercase()).ok()?;
    // `from_code` accepts any two letters.
    let is_supported = PHONE_NUMBER_UTIL.get_supported_regions().any(|supported| supported == region);
    is_supported.then(|| region.as_region_str().as_str().to_owned())
}

/// Returns the search keys under which a visitor with this number may be stored: the digits of the international and of
/// the national format.
pub fn search_keys(e164: &str) -> Vec<String> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let international = digits(e164);
    let national = parse(e164, None).map(|number| digits(&number.format_as(PhoneNumberFormat::National)));
    let national = national.filter(|national| *national != international);
    [international].into_iter().chain(national).collect()
}

fn parse(text: &str, region: Option<Region>) -> Option<PhoneNumber> {
    PHONE_NUMBER_UTIL.parse(text, region).ok().filter(PhoneNumber::is_valid)
}

fn region(e164: &str) -> Option<Region> {
    parse(e164, None)?.get_region_code()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_normalized_to_e164() {
        let dutch = Some("+31201234567");
        let table = [
            ("+31 6 12 34 56 78", None, Some("+31612345678")),
            ("06-12345678", dutch, Some("+31612345678")),
            ("0031 612345678", dutch, Some("+31612345678")),
            ("(020) 123 45 67", dutch, Some("+31201234567")),
            ("+1 202 555 0123", dutch, Some("+12025550123")),
            ("06-12345678", None, None),
            ("12", dutch, None),
            ("+31 6 12 34 56 78 90 12", None, None),
            ("call me", dutch, None),
            ("", dutch, None),
            ("+999 12345678", None, None),
            ("\u{0}+31612345678\u{0}", None, Some("+31612345678")),
            // The 42 bytes of these full-width characters are allowed, because the limit of 40 counts characters.
            ("＋３１　６　１２３４５６７８", None, Some("+31612345678")),
        ];
        for (text, own_number, expected) in table {
            assert_eq!(to_e164(text, own_number).as_deref(), expected, "{text:?}");
        }
        assert_eq!(to_e164(&"1".repeat(10_000), None), None);
    }

    /// The widget's tests read the same examples. The widget knows no numbering plans, so it also accepts the
    /// `unassigned` numbers.
    #[test]
    fn numbers_are_callable_as_the_widget_says() {
        let examples: serde_json::Value = serde_json::from_str(include_str!("phone_number_examples.json")).unwrap();
        for (kind, expected) in [("callable", true), ("malformed", false), ("unassigned", false)] {
            for text in examples[kind].as_array().unwrap() {
                let number = to_e164(text.as_str().unwrap(), Some("+31201234567"));
                assert_eq!(number.is_some(), expected, "{kind}: {text}");
            }
        }
    }

    #[test]
    fn plus_of_an_international_number_is_optional() {
        let dutch = Some("+31201234567");
        for (text, expected) in [
            ("49 151 12345678", Some("+4915112345678")),
            ("06-12345678", Some("+31612345678")),
            ("+31 6 12345678", Some("+31612345678")),
            ("12", None),
        ] {
            assert_eq!(to_e164_with_optional_plus(text, dutch).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_that_nobody_can_have_are_not_possible() {
        for text in
            ["+31 6 12 34 56 78", "06-12345678", "(020) 123 45 67", "0031 612345678", "＋３１６１２３４５６７８"]
        {
            assert!(is_possible(text), "{text:?}");
        }
        for text in ["123", "+12", "+999 12345678", "+31 6 12 34 56 78 90 12", "call me", "", "1234567890123456"] {
            assert!(!is_possible(text), "{text:?}");
        }
    }

    #[test]
    fn expensive_numbers_are_recognized() {
        let expensive = [
            ("premium rate", "+19002345678"),
            ("premium rate", "+449012345678"),
            ("personal number", "+447012345678"),
            ("pager", "+447640123456"),
            ("shared cost", "+33820123456"),
            ("personal number", "+4970012345678"),
            ("no number", "x"),
        ];
        for (kind, number) in expensive {
            assert!(!is_ordinary(number), "{kind}: {number}");
        }
        for number in ["+31612345678", "+31201234567", "+12025550123", "+18002345678", "+447400123456"] {
            assert!(is_ordinary(number), "{number}");
        }
    }

    #[test]
    fn satellite_phones_and_international_networks_have_no_country() {
        for (number, expected) in [
            ("+31612345678", Some("NL")),
            ("+12025550123", Some("US")),
            ("+18765550123", Some("JM")),
            ("+881612345678", None),
            ("+88213000000", None),
            ("+80012345678", None),
        ] {
            assert_eq!(country(number).as_deref(), expected, "{number}");
        }
        for (code, expected) in [("nl", Some("NL")), ("US", Some("US")), ("001", None), ("XX", None), ("", None)] {
            assert_eq!(parse_country(code).as_deref(), expected, "{code}");
        }
    }

    #[test]
    fn caller_is_searched_in_both_formats() {
        assert_eq!(search_keys("+31612345678"), ["31612345678", "0612345678"]);
        assert_eq!(search_keys("+12025550123"), ["12025550123", "2025550123"]);
    }
}
