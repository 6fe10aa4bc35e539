//! Command lines by the rules of GNU `getopt_long`, with its messages: those of tools that we stand in for.
//!
//! Not by clap, whose errors, abbreviations and help are others: a script that calls a tool wrongly gets what it got from
//! that tool.

/// The options that a tool has.
#[derive(Debug, Clone, Copy)]
pub struct Getopt {
    /// The tool's name, as its messages begin.
    pub program: &'static str,
    /// Long options, the letter that each stands for, and whether it takes a value.
    pub long: &'static [(&'static str, char, bool)],
    /// Short options with a value.
    pub short_with_value: &'static str,
    /// Those without.
    pub short: &'static str,
    /// Ours, with their dashes: in the long form only and never abbreviated, so that each abbreviation means what it means
    /// to the tool.
    pub ours: &'static [(&'static str, char)],
}

/// Options by their letters, each with its value if it takes one.
pub type Options = Vec<(char, String)>;

impl Getopt {
    /// Options and free arguments, which may stand among each other, and the message about the first option that is none;
    /// what stands behind that is not looked at.
    pub fn split(&self, arguments: &[String]) -> (Options, Vec<String>, Option<String>) {
        let (mut options, mut free) = (Options::new(), Vec::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut next = || rest.next().cloned();
            let taken = if argument == "--" {
                free.extend(rest.cloned());
                break;
            } else if let Some((_, letter)) = self.ours.iter().find(|(name, _)| name == argument) {
                options.push((*letter, String::new()));
                Ok(())
            } else if let Some(long) = argument.strip_prefix("--") {
                self.long_option(long, &mut next).map(|option| options.push(option))
            } else if argument.len() > 1 && argument.starts_with('-') {
                self.short_options(&argument[1..], &mut next, &mut options)
            } else {
                free.push(argument.clone());
                Ok(())
            };
            if let Err(message) = taken {
                return (options, free, Some(message));
            }
        }
        (options, free, None)
    }

    /// `name`, `name=value` or an abbreviation of either, without the dashes.
    fn long_option(
        &self,
        text: &str,
        next: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(char, String), String> {
        let program = self.program;
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let fitting: Vec<&(&str, char, bool)> =
            self.long.iter().filter(|(long, ..)| long.starts_with(name)).collect();
        let exact = fitting.iter().find(|(long, ..)| *long == name);
        let (long, letter, takes_value) = match (exact, &fitting[..]) {
            (Some(it), _) | (None, [it]) => **it,
            (None, []) => return Err(format!("{program}: unrecognized option '--{text}'")),
            (None, several) => {
                let names: Vec<String> = several.iter().map(|(long, ..)| format!("'--{long}'")).collect();
                let names = names.join(" ");
                return Err(format!("{program}: option '--{text}' is ambiguous; possibilities: {names}"));
            }
        };
        match (takes_value, value) {
            (true, Some(value)) => Ok((letter, value.to_owned())),
            (true, None) => next()
                .map(|value| (letter, value))
                .ok_or_else(|| format!("{program}: option '--{long}' requires an argument")),
            (false, None) => Ok((letter, String::new())),
            (false, Some(_)) => Err(format!("{program}: option '--{long}' doesn't allow an argument")),
        }
    }

    /// Letters behind one dash: switches, and at the end one option whose value follows at once or next.
    fn short_options(
        &self,
        letters: &str,
        next: &mut dyn FnMut() -> Option<String>,
        options: &mut Options,
    ) -> Result<(), String> {
        let program = self.program;
        for (at, letter) in letters.char_indices() {
            if self.short.contains(letter) {
                options.push((letter, String::new()));
            } else if self.short_with_value.contains(letter) {
                let attached = &letters[at + letter.len_utf8()..];
                let value = if attached.is_empty() { next() } else { Some(attached.to_owned()) };
                let value =
                    value.ok_or_else(|| format!("{program}: option requires an argument -- '{letter}'"))?;
                options.push((letter, value));
                return Ok(());
            } else {
                return Err(format!("{program}: invalid option -- '{letter}'"));
            }
        }
        Ok(())
    }
}
