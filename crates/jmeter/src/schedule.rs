//! The schedule of an Open Model Thread Group: `rate(5/sec) random_arrivals(1 min) rate(10/sec) pause(30 s)`.

use scenario::RateSpan;
use units::{Duration, Rate};

/// Spans of rates, and whether gaps are random.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pub spans: Vec<RateSpan>,
    pub poisson: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Number(f64),
    Sign(char),
}

/// A step of the schedule as written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    /// Arrivals a second from here on.
    Rate(f64),
    /// Arrivals for so many seconds.
    Arrivals { seconds: f64, random: Option<bool> },
}

/// Reads a schedule. The error says what is wrong with it, and where it stands in the text.
pub(crate) fn parse(text: &str) -> Result<Schedule, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, end: text.len() };
    let mut steps = Vec::new();
    let mut last_rate = 0.0;
    while parser.at < parser.tokens.len() {
        match parser.word()?.to_ascii_lowercase().as_str() {
            "rate" => {
                last_rate = parser.rate()?;
                steps.push(Step::Rate(last_rate));
            }
            "random_arrivals" => steps.push(Step::Arrivals { seconds: parser.span()?, random: Some(true) }),
            "even_arrivals" => steps.push(Step::Arrivals { seconds: parser.span()?, random: Some(false) }),
            "pause" => {
                let pause = Step::Arrivals { seconds: parser.span()?, random: None };
                // The span before it ends at its own rate, and the one after it begins there.
                steps.extend([
                    Step::Rate(last_rate),
                    Step::Rate(0.0),
                    pause,
                    Step::Rate(0.0),
                    Step::Rate(last_rate),
                ]);
            }
            other => {
                return Err(format!("'{other}' is none of rate, random_arrivals, even_arrivals and pause"));
            }
        }
    }
    schedule(&steps)
}

/// A span goes from the rate before it to the one right after it; without one it keeps its rate.
fn schedule(steps: &[Step]) -> Result<Schedule, String> {
    let mut spans = Vec::new();
    let (mut poisson, mut even) = (false, false);
    let mut from = 0.0;
    for (at, step) in steps.iter().enumerate() {
        match *step {
            Step::Rate(rate) => from = rate,
            Step::Arrivals { seconds, random } => {
                let to = match steps.get(at + 1) {
                    Some(Step::Rate(rate)) => *rate,
                    _ => from,
                };
                poisson |= random == Some(true);
                even |= random == Some(false);
                let length = Duration::from_secs_f64(seconds);
                if !length.is_zero() {
                    spans.push(RateSpan { from: rate(from)?, to: rate(to)?, length });
                }
            }
        }
    }
    if poisson && even {
        return Err(
            "random_arrivals and even_arrivals in one schedule are not supported; use one of them".into()
        );
    }
    if spans.iter().all(|span| span.from.is_none() && span.to.is_none()) {
        return Err(
            "nobody arrives by this schedule; write for example rate(5/sec) random_arrivals(1 min)".into()
        );
    }
    Ok(Schedule { spans, poisson })
}

fn rate(per_second: f64) -> Result<Option<Rate>, String> {
    if per_second <= 0.0 {
        return Ok(None);
    }
    Rate::per_sec(per_second).map(Some).ok_or_else(|| format!("{per_second} arrivals a second are too many"))
}

struct Parser<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    at: usize,
    /// Where the text ends.
    end: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        self.at += 1;
        token
    }

    fn wanted(&self, what: &str) -> String {
        let place = self.tokens.get(self.at.saturating_sub(1)).map_or(self.end, |(place, _)| *place);
        format!("{what} is expected at character {}", place + 1)
    }

    fn word(&mut self) -> Result<&'a str, String> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            _ => Err(self.wanted("rate, random_arrivals, even_arrivals or pause")),
        }
    }

    fn sign(&mut self, wanted: char) -> Result<(), String> {
        match self.next() {
            Some(Token::Sign(sign)) if sign == wanted => Ok(()),
            _ => Err(self.wanted(&format!("'{wanted}'"))),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        match self.next() {
            Some(Token::Number(number)) => Ok(number),
            _ => Err(self.wanted("a number")),
        }
    }

    fn closes(&mut self) -> bool {
        let closes = matches!(self.tokens.get(self.at), Some((_, Token::Sign(')'))));
        self.at += usize::from(closes);
        closes
    }

    /// `(5/sec)` or `(5 per sec)`, in arrivals a second.
    fn rate(&mut self) -> Result<f64, String> {
        self.sign('(')?;
        let number = self.number()?;
        if number <= 0.0 && self.closes() {
            return Ok(0.0);
        }
        match self.next() {
            Some(Token::Sign('/')) => {}
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("per") => {}
            _ => return Err(self.wanted("'/' or 'per'")),
        }
        let unit = self.unit()?;
        self.sign(')')?;
        Ok(number / unit)
    }

    /// `(1 min 30 s)`, in seconds.
    fn span(&mut self) -> Result<f64, String> {
        self.sign('(')?;
        let mut seconds = 0.0;
        loop {
            let number = self.number()?;
            if number <= 0.0 && self.closes() {
                return Ok(seconds);
            }
            seconds += number * self.unit()?;
            if self.closes() {
                return Ok(seconds);
            }
        }
    }

    /// A unit of time, in seconds.
    fn unit(&mut self) -> Result<f64, String> {
        let Some(Token::Word(word)) = self.next() else {
            return Err(self.wanted("ms, sec, min, hour or day"));
        };
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "ms" => Ok(1e-3),
            "s" => Ok(1.0),
            "m" => Ok(60.0),
            "h" => Ok(3600.0),
            "d" => Ok(86_400.0),
            _ if word.starts_with("sec") => Ok(1.0),
            _ if word.starts_with("min") => Ok(60.0),
            _ if word.starts_with("hour") => Ok(3600.0),
            _ if word.starts_with("day") => Ok(86_400.0),
            _ => Err(format!("'{word}' is no unit of time; write ms, sec, min, hour or day")),
        }
    }
}

/// Words, numbers and signs with where they stand; white space and comments are none.
fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, String> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2).ok_or_else(|| "a comment has no end (*/)".to_owned())?
        } else if first.is_ascii_digit() || first == '.' {
            let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = rest[..length].parse().map_err(|_| format!("'{}' is no number", &rest[..length]))?;
            tokens.push((at, Token::Number(number)));
            length
        } else if first.is_ascii_alphabetic() {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push((at, Token::Word(&rest[..length])));
            length
        } else if ['(', ')', '/'].contains(&first) {
            tokens.push((at, Token::Sign(first)));
            1
        } else {
            return Err(format!("'{first}' at character {} has no meaning", at + 1));
        };
        at += length;
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests;
