//! Text on its way to a terminal. Names come from the runtime or from a capture of a stranger: what would move the cursor,
//! set the title or turn the line around is shown, not obeyed.

use std::borrow::Cow;

/// The text with every control character and every one that changes the direction of text as `\u{1b}`.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_command) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match is_command(character) {
            true => plain.extend(character.escape_unicode()),
            false => plain.push(character),
        }
    }
    Cow::Owned(plain)
}

/// Control characters; marks, embeddings, overrides and isolates of bidirectional text; separators of lines.
fn is_command(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_terminal_are_shown() {
        for (text, shown) in [
            ("shop/web-0", "shop/web-0"),
            ("café ☕ 名前", "café ☕ 名前"),
            ("\x1b[31mRED\x1b]0;title\x07", "\\u{1b}[31mRED\\u{1b}]0;title\\u{7}"),
            ("a\nb\rc\0\u{9b}", "a\\u{a}b\\u{d}c\\u{0}\\u{9b}"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
        ] {
            assert_eq!(plain(text), shown);
        }
    }
}
