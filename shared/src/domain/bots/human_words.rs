//! Recognises a visitor who asks for a person. It knows the words of eight languages and never guesses: a message that
//! only mentions an agent does not count.

/// A message with more words than this counts only if it contains one of the [`PHRASES`].
const MAX_WORDS_BESIDE: usize = 2;
/// A longer message tells a story, in which the words may mean something else.
const MAX_CHARS: usize = 200;

/// Words that mean a person in a message of hardly any other words, such as "human please". The word "person" does not
/// count: "one person" may answer a question.
const WORDS: [&str; 34] = [
    // English
    "human",
    "agent",
    "operator",
    "representative",
    "advisor",
    // German
    "mensch",
    "mitarbeiter",
    "mitarbeiterin",
    "kundenberater",
    "berater",
    "agenten",
    // Spanish
    "humano",
    "agente",
    "operador",
    "asesor",
    "asesora",
    // French
    "humain",
    "conseiller",
    "conseillère",
    "opérateur",
    // Portuguese
    "humana",
    "atendente",
    "operadora",
    // Russian
    "оператор",
    "оператора",
    "менеджер",
    "менеджера",
    // Chinese
    "人工",
    "真人",
    "客服",
    "人工客服",
    "转人工",
    // Arabic
    "موظف",
    "إنسان",
];

/// Phrases that mean a person in any short message.
const PHRASES: [&str; 31] = [
    // English
    "real person",
    "real human",
    "human agent",
    "live agent",
    "human being",
    "to a human",
    "to a person",
    "to an agent",
    "to someone",
    // German
    "echten menschen",
    "mit einem menschen",
    "mit einem mitarbeiter",
    "mit jemandem sprechen",
    // Spanish
    "persona real",
    "con una persona",
    "con un agente",
    "con un humano",
    // French
    "vraie personne",
    "à un humain",
    "à une personne",
    "à un conseiller",
    // Portuguese
    "pessoa real",
    "com um atendente",
    "com uma pessoa",
    "com um humano",
    // Russian
    "с человеком",
    "с оператором",
    "живой человек",
    // Arabic
    "مع موظف",
    "مع شخص",
    "خدمة العملاء",
];

/// Phrases of a language that is written without spaces.
const UNSPACED_PHRASES: [&str; 4] = ["转人工", "人工客服", "人工服务", "真人客服"];

/// Returns whether a visitor's text asks for a person.
pub fn asks_for_person(text: &str) -> bool {
    if text.chars().count() > MAX_CHARS {
        return false;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    // With a space on both sides, a phrase is found only at the boundaries of words.
    let spaced = format!(" {} ", words.join(" "));
    let is_word = words.len() <= 1 + MAX_WORDS_BESIDE && words.iter().any(|word| WORDS.contains(word));
    let has_phrase = || PHRASES.iter().any(|phrase| spaced.contains(&format!(" {phrase} ")));
    is_word || has_phrase() || UNSPACED_PHRASES.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visitor_asks_for_a_person_in_eight_languages() {
        for text in [
            "Human!",
            "agent please",
            "I'd like to talk to a human, thanks",
            "can I speak to a REAL person?",
            "Mensch",
            "Ich möchte mit einem Mitarbeiter sprechen",
            "quiero hablar con una persona",
            "Agente, por favor",
            "Je veux parler à un conseiller",
            "un humain svp",
            "quero falar com um atendente",
            "Оператор",
            "соедините меня с оператором пожалуйста",
            "我要转人工",
            "人工",
            "أريد التحدث مع موظف",
            "موظف",
        ] {
            assert!(asks_for_person(text), "{text}");
        }
    }

    #[test]
    fn visitor_who_only_mentions_one_does_not() {
        let story = format!("I asked to speak to a human. {}", "And then ".repeat(30));
        for text in [
            "",
            "Where is my order?",
            "Which agent sold me the house in Berlin?",
            "one person",
            "humanity is great",
            "the operator of this shop never answers",
            &story,
        ] {
            assert!(!asks_for_person(text), "{text}");
        }
    }
}
