//! Recognises a visitor who asks for a person, by words of eight languages. Words that also mean something else count
//! only in messages of hardly any other words, and no message counts that contains a negation.

/// A message with more words than this counts only if it contains one of the [`PHRASES`].
const MAX_WORDS: usize = 3;
/// A longer message tells a story, in which the words may mean something else.
const MAX_CHARS: usize = 200;

/// Words that mean a person in a message of hardly any other words, such as "human please". The word "person" does not
/// count: "one person" may answer a question.
const WORDS: [&str; 33] = [
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
    "人工服务",
    // Arabic
    "موظف",
    "إنسان",
];

/// Phrases that mean a person in any short message.
const PHRASES: [&str; 32] = [
    // English
    "talk to a human",
    "talk to a person",
    "talk to an agent",
    "speak to a human",
    "speak to a person",
    "speak to an agent",
    "speak with a human",
    "speak with an agent",
    "real human",
    "human agent",
    "live agent",
    "to a real person",
    // German
    "mit einem menschen sprechen",
    "mit einem mitarbeiter sprechen",
    "mit einem echten menschen",
    "mit jemandem sprechen",
    // Spanish
    "persona real",
    "hablar con una persona",
    "hablar con un agente",
    "hablar con un humano",
    // French
    "vraie personne",
    "parler à un humain",
    "parler à une personne",
    "parler à un conseiller",
    // Portuguese
    "falar com um atendente",
    "falar com uma pessoa",
    "falar com um humano",
    "pessoa real",
    // Russian
    "поговорить с человеком",
    "соедините меня с оператором",
    "живой человек",
    // Arabic
    "التحدث مع موظف",
];

/// Words that turn a request into its opposite.
const NEGATIONS: [&str; 12] = ["no", "not", "don", "kein", "keinen", "nicht", "sin", "pas", "não", "не", "нет", "لا"];

/// Phrases of a language that is written without spaces.
const UNSPACED_PHRASES: [&str; 4] = ["转人工", "人工客服", "真人客服", "不要机器人"];

/// Returns whether a visitor's text asks for a person.
pub fn asks_for_person(text: &str) -> bool {
    if text.chars().count() > MAX_CHARS {
        return false;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    if words.iter().any(|word| NEGATIONS.contains(word)) {
        return false;
    }
    // With a space on both sides, a phrase is found only at the boundaries of words.
    let spaced = format!(" {} ", words.join(" "));
    let is_word = words.len() <= MAX_WORDS && words.iter().any(|word| WORDS.contains(word));
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
            "no human please",
            "I don't want an agent",
            "I already spoke to an agent",
            "can I gift it to someone",
            "خدمة العملاء سيئة جدا",
            "the operator of this shop never answers",
            &story,
        ] {
            assert!(!asks_for_person(text), "{text}");
        }
    }
}
