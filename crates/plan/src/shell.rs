//! Commands for a person to run by hand, as a shell takes them.

use std::borrow::Cow;
use std::path::Path;

/// `text` as one word of a POSIX shell: as it is where that is one, else in single quotes.
pub fn quoted(text: &str) -> Cow<'_, str> {
    // Unquoted, `NAME=value` at the beginning of a line would set a variable; no option does.
    let may_assign = !text.starts_with('-');
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"%+,-./:@_".contains(&byte) || (byte == b'=' && !may_assign)
    };
    if !text.is_empty() && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// A path as one word of a shell; where it begins with a hyphen, so that no program takes it for an option.
pub fn quoted_path(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    quoted(&text).into_owned()
}

/// The words of a command as a line of a shell.
pub fn command(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref()).into_owned()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_the_words_that_were_meant() {
        let words = [
            "plain",
            "two words",
            "it's",
            "$HOME",
            "`id`",
            "a;b",
            "",
            "-Xmx1g",
            "a\"b",
            "back\\slash",
            "*",
            "~",
            "line\nbreak",
            "#no",
            "{a,b}",
            "&&",
            "é",
        ];
        let line = format!("printf '%s\\0' {}", command(words));
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let read: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().split_terminator('\0').collect();
        assert_eq!(read, words);
    }

    #[test]
    fn what_needs_no_quotes_has_none() {
        assert_eq!(
            command(["java", "-Xmx1g", "-Dname=value", "/opt/app.jar"]),
            "java -Xmx1g -Dname=value /opt/app.jar"
        );
        assert_eq!(quoted_path(Path::new("runs/my run")), "'runs/my run'");
        assert_eq!(quoted_path(Path::new("-r")), "./-r");
    }
}
