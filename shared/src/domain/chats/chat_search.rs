//! The search for chats: what a search text means, which chats it matches, and the cursor of the next page.
//!
//! A text matches a chat if each of its words is the beginning of a word in the visitor's name or in the preview of the
//! last message. In scripts without spaces, a word can match in the middle. Case and accents are ignored. A text can
//! also be a number, an e-mail address or a phone number. It then also matches the chat with this number, and the chats
//! of visitors with this number, or whose e-mail address or phone number begins with the text. A text that is exactly
//! an integrator's id of a visitor matches the chats of this visitor.

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::text::digits::{parse_canonical_number, parse_digits};

pub const MAX_SEARCH_CHARS: usize = 200;
/// The minimum length of a search for the beginning of an e-mail address (in characters) or of a phone number (in
/// digits). A shorter text would match too many visitors.
const MIN_CONTACT_CHARS: usize = 3;
const MAX_SHOWN_CHATS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words of the text, as returned by [`folded_words`].
    words: Vec<String>,
    /// The number of a chat or a visitor.
    pub number: Option<u64>,
    /// The beginning of an e-mail address, as returned by `email_key`.
    pub email: Option<String>,
    /// The beginning of a phone number, as returned by `phone_key`.
    pub phone: Option<String>,
    /// An integrator's id of a visitor. `None` for a text that is probably not an id: one with blanks, or with letters
    /// only.
    pub external_id: Option<String>,
}

impl SearchQuery {
    /// Parses a search text. Returns `None` if the text is blank or longer than [`MAX_SEARCH_CHARS`].
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_SEARCH_CHARS {
            return None;
        }
        let has_contact_chars = |key: &String| key.chars().count() >= MIN_CONTACT_CHARS;
        let is_phone = text.chars().all(|c| c.is_ascii_digit() || " +-()./".contains(c));
        Some(Self {
            words: folded_words(text),
            number: parse_digits(text.strip_prefix('#').unwrap_or(text)),
            email: email_key(text).filter(|_| !text.contains(char::is_whitespace)).filter(has_contact_chars),
            phone: phone_key(text).filter(|_| is_phone).filter(has_contact_chars),
            external_id: Some(text.to_owned()).filter(|text| is_id(text)),
        })
    }

    pub fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Whether each word of the text matches a word of the visitor's name or of the last message. A text without words
    /// matches nothing.
    pub fn matches_words(&self, chat: &Chat) -> bool {
        if !self.has_words() {
            return false;
        }
        let mut words = folded_words(&chat.visitor_name);
        words.extend(chat.last_message.iter().flat_map(|last| folded_words(&last.text)));
        self.words.iter().all(|searched| words.iter().any(|word| is_match(word, searched)))
    }
}

fn is_id(text: &str) -> bool {
    !text.contains(char::is_whitespace) && !text.chars().all(char::is_alphabetic)
}

/// Whether a word begins with the searched word or, in a script without spaces such as Chinese, contains it.
fn is_match(word: &str, searched: &str) -> bool {
    word.starts_with(searched) || (searched.contains(is_of_unspaced_script) && word.contains(searched))
}

/// Whether the character belongs to a script that writes words without spaces between them: Thai, Lao, Burmese, Khmer,
/// Japanese or Chinese.
fn is_of_unspaced_script(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the words of a text in lower case and without accents.
fn folded_words(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Converts a text to lower case and removes accents. Some letters that Unicode does not treat as accented letters,
/// such as `ø`, are replaced by the letters that people type instead.
fn fold(text: &str) -> String {
    let combining_classes = CanonicalCombiningClassMapBorrowed::new();
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    let letters = decomposed.chars().filter(|c| combining_classes.get_u8(*c) == 0).flat_map(char::to_lowercase);
    let mut folded = String::with_capacity(text.len());
    for letter in letters {
        match letter {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            letter => folded.push(letter),
        }
    }
    folded
}

/// Returns the search key of an e-mail address: the trimmed address in lower case, truncated to [`MAX_SEARCH_CHARS`].
/// Returns `None` if the address is blank.
pub(crate) fn email_key(email: &str) -> Option<String> {
    Some(truncate_chars(&email.trim().to_lowercase(), MAX_SEARCH_CHARS)).filter(|key| !key.is_empty())
}

/// Returns the search key of a phone number: its first [`MAX_SEARCH_CHARS`] digits without a leading `00`, which stands
/// for `+`. Returns `None` if no digits remain.
pub(crate) fn phone_key(phone: &str) -> Option<String> {
    let digits: String = phone.chars().filter(char::is_ascii_digit).take(MAX_SEARCH_CHARS).collect();
    let digits = digits.strip_prefix("00").unwrap_or(&digits);
    (!digits.is_empty()).then(|| digits.to_owned())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCursor {
    /// The next page contains chats with numbers below this one.
    pub before: u64,
    /// The numbers, below `before`, of the best matches: the chat with the searched number, and the last chats of the
    /// visitors with this number, e-mail address or phone number. The first page begins with the best matches, so later
    /// pages leave them out.
    pub shown: Vec<u64>,
}

impl SearchCursor {
    pub fn to_text(&self) -> String {
        let numbers = [self.before].into_iter().chain(self.shown.iter().copied());
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join("-")
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('-').map(parse_canonical_number);
        let before = numbers.next()??;
        let shown: Vec<u64> = numbers.take(MAX_SHOWN_CHATS + 1).collect::<Option<_>>()?;
        (shown.len() <= MAX_SHOWN_CHATS).then_some(Self { before, shown })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn matches(text: &str, name: &str) -> bool {
        let words = folded_words(name);
        folded_words(text).iter().all(|searched| words.iter().any(|word| is_match(word, searched)))
    }

    #[test]
    fn words_match_by_their_beginning() {
        let table = [
            ("ada", "Ada Lovelace", true),
            ("LOVE", "Ada Lovelace", true),
            ("lace", "Ada Lovelace", false),
            ("love ada", "Ada Lovelace", true),
            ("ada byron", "Ada Lovelace", false),
            ("muller", "Müller", true),
            ("Müller", "Muller", true),
            ("ludenscheidt", "Müller-Lüdenscheidt", true),
            ("strasse", "Straße 5", true),
            ("STRASSE", "straße", true),
            ("lodz", "Łódź", true),
            ("oresund", "Øresund", true),
            ("istanbul", "İSTANBUL", true),
            ("елка", "Ёлка", true),
            ("οδος", "ΟΔΟΣ", true),
            ("東京", "私は東京にいます", true),
            ("한", "한국", true),
            ("5", "Straße 5", true),
            ("o'brien", "O’Brien", true),
        ];
        for (text, name, expected) in table {
            assert_eq!(matches(text, name), expected, "{text} in {name}");
        }
    }

    #[test]
    fn text_is_also_read_as_number_and_contact() {
        let query = |text: &str| SearchQuery::parse(text).unwrap();
        let table = [
            ("42", Some(42), None, None),
            ("#42", Some(42), Some("#42"), None),
            ("#", None, None, None),
            ("123", Some(123), Some("123"), Some("123")),
            ("Ada", None, Some("ada"), None),
            (" Ada@Example.com ", None, Some("ada@example.com"), None),
            ("Ada Lovelace", None, None, None),
            ("+49 (151) 23", None, None, Some("4915123")),
            ("0049 151", None, None, Some("49151")),
            ("+49", None, Some("+49"), None),
            ("...", None, Some("..."), None),
            ("99999999999999999999", None, Some("99999999999999999999"), Some("99999999999999999999")),
        ];
        for (text, number, email, phone) in table {
            let SearchQuery { number: found, email: found_email, phone: found_phone, .. } = query(text);
            assert_eq!((found, found_email.as_deref(), found_phone.as_deref()), (number, email, phone), "{text}");
        }
        for text in ["", " \t", &"a".repeat(201)] {
            assert_eq!(SearchQuery::parse(text), None, "{text}");
        }
        assert!(SearchQuery::parse(&"ä".repeat(200)).is_some());
    }

    #[test]
    fn contact_keys_have_a_canonical_form() {
        assert_eq!(email_key(" Ada@Example.COM").as_deref(), Some("ada@example.com"));
        assert_eq!(phone_key("+49 (0) 151-23").as_deref(), Some("49015123"));
        assert_eq!(phone_key("0049 151").as_deref(), Some("49151"));
        assert_eq!([email_key(" "), phone_key("n/a"), phone_key("00")], [None, None, None]);
        assert!(email_key(&"İ".repeat(1_000)).unwrap().len() <= 1_024, "the maximum size of a sort key");
    }

    #[test]
    fn malformed_cursor_is_rejected() {
        let long = vec!["1"; MAX_SHOWN_CHATS + 2].join("-");
        for text in ["", "-", "5-", "x", "5-x", "+5", "05", "5-06", "5--6", &long] {
            assert_eq!(SearchCursor::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_beginning_of_a_word_is_found(name in "\\PC{1,30}", word in any::<prop::sample::Index>(), end in 1usize..8) {
            let words = folded_words(&name);
            if !words.is_empty() {
                let beginning: String = word.get(&words).chars().take(end).collect();
                prop_assert!(matches(&beginning, &name), "{beginning:?} in {name:?}");
            }
        }

        #[test]
        fn case_and_order_make_no_difference(words in prop::collection::vec("[a-zà-þа-я]{1,8}", 1..5)) {
            let reversed: Vec<String> = words.iter().rev().map(|word| word.to_uppercase()).collect();
            prop_assert!(matches(&reversed.join(" "), &words.join(", ")));
            prop_assert!(matches(&words.join(" "), &reversed.join("-")));
        }

        #[test]
        fn additional_word_never_adds_matches(text in "[a-c ]{0,6}", more in "[a-c]{1,3}", name in "[a-c ]{0,12}") {
            let longer_text = format!("{text} {more}");
            prop_assert!(matches(&text, &name) || !matches(&longer_text, &name));
        }

        #[test]
        fn any_text_is_parsed_without_panicking(text in "\\PC{0,220}") {
            let length = text.trim().chars().count();
            prop_assert_eq!(SearchQuery::parse(&text).is_some(), (1..=MAX_SEARCH_CHARS).contains(&length));
        }

        #[test]
        fn cursor_round_trips_through_text(before in any::<u64>(), shown in prop::collection::vec(any::<u64>(), 0..60)) {
            let cursor = SearchCursor { before, shown };
            prop_assert_eq!(SearchCursor::parse(&cursor.to_text()), Some(cursor));
        }
    }
}
