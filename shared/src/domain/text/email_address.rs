//! E-mail addresses as people type them.

/// Returns a typed e-mail address without leading and trailing whitespace, or `None` if the text is no address.
pub fn parse(text: &str) -> Option<&str> {
    let address = text.trim();
    let has_parts = address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    let is_address = has_parts && address.chars().all(|letter| !letter.is_whitespace() && is_visible(letter));
    is_address.then_some(address)
}

/// Whether a character leaves a mark on a screen. Control characters, soft hyphens, zero-width characters and those
/// that change the direction of a text leave none, so two addresses that differ only in them look the same.
fn is_visible(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
