//! Where in a word a link begins that somebody may follow, and to which host it leads: as browsers, Markdown and the
//! libraries that look for links in a text read it. Rather a word too many than a link.

use url::Url;

/// Endings that are no top-level domains: `report.pdf` is a file.
const FILE_ENDINGS: [&str; 16] = [
    "csv", "doc", "docx", "gif", "jpeg", "jpg", "json", "mp3", "mp4", "pdf", "png", "ppt", "txt", "wav", "xls", "xlsx",
];

/// Schemes that need no host to do harm.
const HOSTLESS: [&str; 6] = ["javascript:", "vbscript:", "data:", "file:", "blob:", "filesystem:"];

/// Whether a text is an address of the web: http or https, and well-formed.
pub fn is_web(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_http = scheme.is_some_and(|it| it.eq_ignore_ascii_case("http") || it.eq_ignore_ascii_case("https"));
    is_http && Url::parse(text).is_ok()
}

/// Where a link begins: with a scheme, as `//host.name`, or as a bare name of a host; the earliest of them. Libraries that
/// look for links pass over hosts with other than ASCII endings, over numbers, and over names that no registry would sell.
pub(super) fn begins(word: &str) -> Option<usize> {
    [web_scheme(word), hostless(word), slashes(word), bare_name(word)].into_iter().flatten().min()
}

/// Browsers forgive any number of slashes behind `http:` and `https:`.
fn web_scheme(word: &str) -> Option<usize> {
    let lower = word.to_ascii_lowercase();
    let found = ["http:", "https:"].map(|scheme| lower.find(scheme).filter(|at| at + scheme.len() < lower.len()));
    found.into_iter().flatten().min()
}

fn hostless(word: &str) -> Option<usize> {
    let lower = word.to_ascii_lowercase();
    let leads = |scheme: &str| {
        let at = lower.find(scheme)?;
        let rest = lower.get(at + scheme.len()..)?;
        // Only with a comma or a slash is it more than a word with a colon.
        let is_link = if scheme == "data:" { rest.contains([',', '/']) } else { !rest.is_empty() };
        is_link.then_some(at)
    };
    HOSTLESS.into_iter().filter_map(leads).min()
}

fn slashes(word: &str) -> Option<usize> {
    let slashes = word.find("//")?;
    let (before, rest) = word.split_at(slashes);
    let scheme = before.strip_suffix(':').map(|before| before.trim_end_matches(is_of_scheme).len());
    scheme.or(rest.contains(['.', '[', '%']).then_some(slashes))
}

fn is_of_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+.-".contains(c)
}

/// The first part of the word that names a host and is of no address for mail.
fn bare_name(word: &str) -> Option<usize> {
    let mut mail_ends = 0;
    for (at, part) in parts(word) {
        let (before, after) = (word.get(..at)?, word.get(at + part.len()..)?);
        if let Some((_, domain)) = after.strip_prefix('@').and_then(|domain| parts(domain).next())
            && has_letter_or_digit(part)
        {
            let behind = after.get(1 + domain.len()..)?;
            // An address for mail ends where a path begins.
            if names_a_host(domain, behind) && !goes_on(behind) && !behind.starts_with(['/', '?', '#', '@']) {
                mail_ends = word.len() - behind.len();
            }
        }
        if at >= mail_ends && names_a_host(part, after) {
            // With what stands before an @.
            let user = before.strip_suffix('@').and_then(|before| parts(before).last());
            return Some(user.map_or(at, |(at, _)| at));
        }
    }
    None
}

/// The parts of a word that could be a host's name, or the user's in an address, and where they begin; the part of `a+b@c`
/// before the @ is one.
fn parts(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    word.split_inclusive(|c| !is_of_name(c)).filter_map(move |piece| {
        let part = piece.trim_end_matches(|c| !is_of_name(c));
        let trimmed = part.trim_start_matches(|c: char| !c.is_alphanumeric());
        let begin = at + part.len() - trimmed.len();
        at += piece.len();
        (!trimmed.is_empty()).then_some((begin, trimmed))
    })
}

/// What stands in names of hosts and of users; marks of other scripts belong to their letters, punctuation does not.
fn is_of_name(c: char) -> bool {
    let is_punctuation = matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff20}');
    c.is_alphanumeric() || "-._%+".contains(c) || (!c.is_ascii() && !is_punctuation)
}

fn has_letter_or_digit(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Whether a path, a query, a fragment or a port follows.
fn goes_on(rest: &str) -> bool {
    rest.starts_with(['/', '?', '#', ':']) && has_letter_or_digit(rest)
}

/// Whether something like `shop.example` names a host, with what follows it: `e.g.` and `1.5` do not.
fn names_a_host(name: &str, rest: &str) -> bool {
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let Some((_, ending)) = name.rsplit_once(['.', '+']).filter(|_| name.contains('.')) else { return false };
    let is_file = !goes_on(rest) && FILE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
    let is_address = goes_on(rest) && name.parse::<std::net::Ipv4Addr>().is_ok();
    let is_domain = ending.chars().count() > 1 && ending.chars().any(char::is_alphabetic);
    (is_domain && !is_file) || is_address
}

/// The host of a link, also of one without a scheme. None where there is none that every reader would see.
pub(super) fn host(link: &str) -> Option<String> {
    let lower = link.to_ascii_lowercase();
    let is_web = lower.starts_with("http:") || lower.starts_with("https:");
    let url = match link {
        _ if is_web => Url::parse(link),
        _ if link.starts_with("//") => Url::parse(&format!("http:{link}")),
        _ => Url::parse(&format!("http://{link}")),
    };
    // Who looks for links in texts takes the user of `evil.example@good.example` for a host.
    let url = url.ok().filter(|url| is_web || (url.username().is_empty() && url.password().is_none()))?;
    let host = url.host_str()?.trim_end_matches('.');
    // And the end of `evil.example,good.example`, which no registry sells, for another one.
    host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)).then(|| host.to_owned())
}

/// Whether there is an @ before the path of a link, so that everything before it is a user's name.
pub(super) fn has_user(link: &str) -> bool {
    let rest = link.split_once(':').map_or(link, |(scheme, rest)| if rest.starts_with('/') { rest } else { scheme });
    let authority = rest.trim_start_matches('/').split(['/', '?', '#', '\\']).next();
    authority.is_some_and(|authority| authority.contains('@'))
}

/// Other readings of a word: without what is not seen, wide characters as narrow ones, `%2e` and `&period;` as what they
/// stand for, and backslashes as Markdown (nothing) and browsers (slashes) take them.
pub(super) fn readings(word: &str) -> Vec<String> {
    let plain = narrow(&unescaped(&unreferenced(word)));
    let readings = [plain.replace('\\', ""), plain.replace('\\', "/"), plain];
    readings.into_iter().filter(|reading| reading != word).collect()
}

/// Wide forms as narrow ones, without characters that are not seen. An ideographic full stop is a dot before a letter of
/// a narrow script, else it ends a sentence.
fn narrow(text: &str) -> String {
    let seen: Vec<char> = text.chars().filter(|c| !is_unseen(*c)).map(narrow_character).collect();
    let next = seen.iter().skip(1).map(Some).chain([None]);
    let dotted = seen.iter().zip(next).map(|(c, next)| {
        let is_dot = matches!(c, '\u{3002}' | '\u{ff61}')
            && next.is_some_and(|next| next.is_alphanumeric() && *next < '\u{2e80}');
        if is_dot { '.' } else { *c }
    });
    dotted.collect()
}

fn narrow_character(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => u32::from(c).checked_sub(0xfee0).and_then(char::from_u32).unwrap_or(c),
        '\u{2024}' | '\u{fe52}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{fe55}' => ':',
        '\u{fe6b}' => '@',
        _ => c,
    }
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Percent-encoded ASCII characters that are seen, decoded.
fn unescaped(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let byte = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii_graphic).zip(piece.get(2..)) {
            Some((byte, rest)) => {
                plain.push(char::from(byte));
                plain.push_str(rest);
            }
            None => {
                plain.push('%');
                plain.push_str(piece);
            }
        }
    }
    plain
}

/// The character references of HTML, which Markdown knows too, as what they stand for.
fn unreferenced(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(';').and_then(|(name, rest)| Some((referred(name)?, rest))) {
            Some((c, rest)) => {
                plain.extend(c);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(piece);
            }
        }
    }
    plain
}

/// What a character reference stands for, as far as it matters to links; nothing for what URLs are read without.
fn referred(name: &str) -> Option<Option<char>> {
    if let Some(number) = name.strip_prefix('#') {
        let hexadecimal = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
        return hexadecimal.unwrap_or_else(|| number.parse()).ok().map(char::from_u32);
    }
    match name {
        "colon" => Some(Some(':')),
        "sol" => Some(Some('/')),
        "bsol" => Some(Some('\\')),
        "period" => Some(Some('.')),
        "commat" => Some(Some('@')),
        "num" => Some(Some('#')),
        "quest" => Some(Some('?')),
        "percnt" => Some(Some('%')),
        "hyphen" | "dash" => Some(Some('-')),
        "lowbar" => Some(Some('_')),
        "comma" => Some(Some(',')),
        "Tab" | "NewLine" | "shy" | "zwj" | "zwnj" | "ZeroWidthSpace" | "NoBreak" => Some(None),
        _ => None,
    }
}
