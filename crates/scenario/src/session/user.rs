//! What one user carries along, and what templates come to for it.

use std::borrow::Cow;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Instant;
use url::form_urlencoded;

use super::cookies::Jar;
use super::variables::{self, Variables};
use crate::function::Function;
use crate::model::{Condition, Counter, Portion, Step, UserValues};
use crate::prepared::Prepared;
use crate::template::{Call, Piece, Template};
use crate::time_format;
use crate::world::World;

/// Characters of `__RandomString` at most.
const RANDOM_STRING_MAX: i64 = 1 << 20;
/// The longest text that a template comes to, bytes.
pub(super) const TEXT_BYTES_MAX: usize = 16 << 20;
/// The greatest number that JMeter takes for one and not for a name.
const INT_MAX: u32 = i32::MAX.unsigned_abs();
/// Pieces of `__split`, and matches of an extraction, at most.
pub(super) const MATCHES_MAX: usize = 10_000;

/// What one user carries along from step to step.
#[derive(Debug)]
pub(super) struct User {
    pub(super) group: usize,
    /// From 0.
    pub(super) number: u32,
    pub(super) variables: Variables,
    pub(super) cookies: Jar,
    pub(super) random: Xoshiro256PlusPlus,
    /// Whether the last request succeeded; true before the first.
    pub(super) last_ok: bool,
    /// Calls of this user's counters, by the identity of the call.
    pub(super) counts: Vec<(usize, u64)>,
    /// How often each step that takes turns was come to, by the identity of the step.
    pub(super) turns: Vec<(usize, u64)>,
    /// Steps that are done once, or so many times, and are done, by their identity.
    pub(super) done: Vec<usize>,
    /// When the last request of a rate of its own was due, by the number of the rate.
    pub(super) paced: Vec<(usize, Instant)>,
    /// Rows taken of data sets of its own, by their number.
    pub(super) taken: Vec<(usize, u64)>,
    /// Whether a text came to more than its bound, since it was asked for.
    pub(super) overlong: bool,
}

impl User {
    /// Why what was put together for it since the last request is not what the scenario says, if it is not.
    pub(super) fn take_overflow(&mut self) -> Result<(), String> {
        let mib = |bytes: usize| bytes >> 20;
        if std::mem::take(&mut self.overlong) {
            return Err(format!("a text came to more than {} MiB", mib(TEXT_BYTES_MAX)));
        }
        if self.variables.take_overflow() {
            return Err(format!("the user's variables came to more than {} MiB", mib(variables::BYTES_MAX)));
        }
        Ok(())
    }
}

/// The number kept for `key`, 0 at first.
pub(super) fn counted(counts: &mut Vec<(usize, u64)>, key: usize) -> &mut u64 {
    let place = counts.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
        counts.push((key, 0));
        counts.len() - 1
    });
    &mut counts[place].1
}

/// What identifies a part of a scenario: its place, since a scenario that is carried out does not move.
pub(super) fn identity<T>(part: &T) -> usize {
    std::ptr::from_ref(part).addr()
}

/// A number below `below`; 0 if that is 0.
pub(super) fn random_below(random: &mut Xoshiro256PlusPlus, below: u64) -> u64 {
    // The upper half of the product: skewed by less than one part in 2^64 / below.
    ((u128::from(random.next_u64()) * u128::from(below)) >> 64) as u64
}

/// Evenly from 0 up to 1, without 1.
pub(super) fn random_unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// What a template is put together from.
pub(super) struct Scope<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) world: &'a mut World,
    pub(super) user: &'a mut User,
}

impl Scope<'_> {
    /// The same where several are held at a time: what there is no `room` for is nothing, and the request is not sent.
    pub(super) fn text_within<'t>(&mut self, template: &'t Template, room: &mut usize) -> Cow<'t, str> {
        let text = self.text(template);
        let Some(left) = room.checked_sub(text.len()) else {
            self.user.overlong = true;
            return Cow::Borrowed("");
        };
        *room = left;
        text
    }

    /// What a template comes to now.
    pub(super) fn text<'t>(&mut self, template: &'t Template) -> Cow<'t, str> {
        if let Some(constant) = template.constant() {
            return Cow::Borrowed(constant);
        }
        let mut out = String::new();
        for piece in &template.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Variable(name) => self.variable(name, &mut out),
                Piece::Call(call) => out.push_str(&self.call(call)),
                Piece::LastOk => out.push_str(if self.user.last_ok { "true" } else { "false" }),
            }
            if out.len() > TEXT_BYTES_MAX {
                // Values that are made of values grow without end; the next request says why it is not sent.
                self.user.overlong = true;
                out.clear();
                break;
            }
        }
        Cow::Owned(out)
    }

    /// What a template comes to as a number; text that is none counts as 0.
    pub(super) fn number(&mut self, template: &Template) -> f64 {
        self.text(template).trim().parse().ok().filter(|number: &f64| number.is_finite()).unwrap_or(0.0)
    }

    /// Whether a condition holds now.
    pub(super) fn holds(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Equal(a, b) => self.text(a) == self.text(b),
            Condition::Differ(a, b) => self.text(a) != self.text(b),
            Condition::Less(a, b) => self.numbers(a, b).is_some_and(|(a, b)| a < b),
            Condition::AtMost(a, b) => self.numbers(a, b).is_some_and(|(a, b)| a <= b),
            Condition::True(text) => self.text(text).trim().eq_ignore_ascii_case("true"),
            Condition::LastOk => self.user.last_ok,
            Condition::Not(inside) => !self.holds(inside),
            Condition::And(all) => all.iter().all(|it| self.holds(it)),
            Condition::Or(all) => all.iter().any(|it| self.holds(it)),
        }
    }

    fn numbers(&mut self, a: &Template, b: &Template) -> Option<(f64, f64)> {
        let a = self.text(a).trim().parse().ok()?;
        Some((a, self.text(b).trim().parse().ok()?))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.user.variables.get(name)
    }

    fn variable(&self, name: &str, out: &mut String) {
        match self.value(name) {
            Some(value) => out.push_str(value),
            // Writing into a String cannot fail.
            None => drop(write!(out, "${{{name}}}")),
        }
    }

    fn call(&mut self, call: &Call) -> String {
        let arguments: Vec<Cow<'_, str>> = call.arguments.iter().map(|it| self.text(it)).collect();
        let arguments: Vec<&str> = arguments.iter().map(|text| &**text).collect();
        let value = self.called(call, &arguments);
        let kept_as = kept_as(call.function, &arguments).map(str::trim);
        if let Some(name) = kept_as.filter(|name| !name.is_empty()) {
            self.user.variables.set(name, value.as_str());
        }
        value
    }

    fn called(&mut self, call: &Call, arguments: &[&str]) -> String {
        let argument = |index: usize| arguments.get(index).copied().unwrap_or_default();
        let first = argument(0);
        match call.function {
            Function::P => self.property(call.function, first, arguments.get(1).copied()),
            Function::Property => self.property(call.function, first, arguments.get(2).copied()),
            Function::Random => {
                let (low, high) = (whole(first), whole(argument(1)));
                let span = (high - low + 1).clamp(1, i128::from(u64::MAX)) as u64;
                (low + i128::from(random_below(&mut self.user.random, span))).to_string()
            }
            Function::RandomString => self.random_string(whole(first), argument(1)),
            Function::Time => time_format::formatted(first, self.world.epoch_ms()),
            Function::ThreadNum => (u64::from(self.user.number) + 1).to_string(),
            Function::ThreadGroupName => self.group_name().to_owned(),
            Function::TestPlanName => self.prepared.scenario().name.clone(),
            Function::Counter => {
                self.count(identity(call), first.trim().eq_ignore_ascii_case("true")).to_string()
            }
            Function::Uuid => self.uuid(),
            Function::V => {
                let default = arguments.get(1).copied().unwrap_or(first);
                self.value(first.trim()).unwrap_or(default).to_owned()
            }
            Function::IntSum | Function::LongSum => {
                // The last one may be the name of a variable, which counts as 0.
                arguments.iter().map(|text| whole(text)).sum::<i128>().to_string()
            }
            Function::Split => self.split(first, argument(1).trim(), arguments.get(2).copied()),
            Function::IsVarDefined => self.value(first.trim()).is_some().to_string(),
            Function::IsPropDefined => self.world.property(first.trim()).is_some().to_string(),
            Function::If => argument(if first == argument(1) { 2 } else { 3 }).to_owned(),
            Function::Base64Encode | Function::Base64Decode | Function::UrlEncode | Function::UrlDecode => {
                coded(call.function, first)
            }
            Function::ChangeCase => cased(first, argument(1).trim()),
            Function::LowerCase => first.to_lowercase(),
            Function::UpperCase => first.to_uppercase(),
            Function::Char => characters(arguments),
            Function::Log => first.to_owned(),
            Function::Logn => String::new(),
            Function::RandomFromMultipleVars => self.value_of_one(first.trim()),
            Function::TimeShift => {
                let (date, span) = (argument(1).trim(), argument(2).trim());
                time_format::shifted(first.trim(), date, span, self.world.epoch_ms())
            }
        }
    }

    /// One of all the values that these variables have, whose names stand between bars.
    fn value_of_one(&mut self, names: &str) -> String {
        let names = || names.split('|').filter(|name| !name.is_empty());
        let all = names().map(|name| self.values_of(name).0).fold(0, u64::saturating_add);
        let mut left = random_below(&mut self.user.random, all);
        for name in names() {
            let (count, numbered) = self.values_of(name);
            if left < count {
                let number = left + 1;
                let value = if numbered { self.value(&format!("{name}_{number}")) } else { self.value(name) };
                return value.unwrap_or_default().to_owned();
            }
            left -= count;
        }
        String::new()
    }

    /// How many values a variable has, and whether they are numbered, as those of an extraction of all matches.
    fn values_of(&self, name: &str) -> (u64, bool) {
        let count = self.value(&format!("{name}_matchNr")).and_then(|count| count.trim().parse::<u64>().ok());
        match count {
            Some(count) if count > 0 => (count.min(MATCHES_MAX as u64), true),
            _ => (u64::from(self.value(name).is_some_and(|value| !value.is_empty())), false),
        }
    }

    fn property(&self, function: Function, name: &str, default: Option<&str>) -> String {
        let name = name.trim();
        if let Some(value) = self.world.property(name) {
            return value.to_owned();
        }
        default.map_or_else(|| function.without_property(name), str::to_owned)
    }

    fn group_name(&self) -> &str {
        self.prepared.group(self.user.group).map_or("", |group| &group.name)
    }

    fn random_string(&mut self, length: i128, characters: &str) -> String {
        const PLAIN: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let pool: Vec<char> = if characters.is_empty() { PLAIN } else { characters }.chars().collect();
        let length = length.clamp(0, i128::from(RANDOM_STRING_MAX));
        let random = &mut self.user.random;
        (0..length).map(|_| pool[random_below(random, pool.len() as u64) as usize]).collect()
    }

    /// Gives variables the values of this user, one after another.
    pub(super) fn set_values(&mut self, values: &UserValues) {
        for (name, value) in values.of(self.user.number) {
            let value = self.text(value);
            self.user.variables.set(name, &*value);
        }
    }

    /// Puts the counter's next number into its variable.
    pub(super) fn count_on(&mut self, counter: &Counter) {
        let place = self.count(identity(counter), counter.by_user) - 1;
        self.user.variables.set(&counter.name, counter.format.written(counter.number(place)));
    }

    /// Whether a step is done this time that is done in a part of the times that it is come to.
    pub(super) fn takes(&mut self, step: &Step, of: Portion, by_user: bool) -> bool {
        of.takes(self.count(identity(step), by_user).saturating_sub(1))
    }

    /// How often a step was come to so far, by this user or by all together.
    pub(super) fn counted_so_far(&mut self, step: &Step, by_user: bool) -> u64 {
        if by_user {
            *counted(&mut self.user.counts, identity(step))
        } else {
            self.world.counted_so_far(identity(step))
        }
    }

    /// Which of `count` steps the value says, each of which has a name, as JMeter reads it.
    pub(super) fn named(&mut self, value: &Template, names: &[Template], count: usize) -> Option<u32> {
        let value = self.text(value).into_owned();
        let value = value.trim();
        if value.is_empty() {
            return Some(0);
        }
        if value.bytes().all(|byte| byte.is_ascii_digit())
            && let Some(number) = value.parse().ok().filter(|number: &u32| *number <= INT_MAX)
        {
            return Some(if (number as usize) < count { number } else { 0 });
        }
        let mut instead = None;
        for (name, index) in names.iter().zip(0..) {
            let name = self.text(name);
            if name == value {
                return Some(index);
            }
            if name.eq_ignore_ascii_case("default") {
                instead = Some(index);
            }
        }
        instead
    }

    /// How often what has this `identity` was counted, this time included: of this user, or of all together.
    fn count(&mut self, identity: usize, by_user: bool) -> u64 {
        if !by_user {
            return self.world.count(identity);
        }
        let count = counted(&mut self.user.counts, identity);
        *count += 1;
        *count
    }

    /// A random UUID (RFC 9562, version 4).
    fn uuid(&mut self) -> String {
        let random = &mut self.user.random;
        let high = (random.next_u64() & 0xffff_ffff_ffff_0fff) | 0x4000;
        let low = (random.next_u64() & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    fn split(&mut self, text: &str, name: &str, delimiter: Option<&str>) -> String {
        let delimiters = delimiter.filter(|text| !text.is_empty()).unwrap_or(",");
        let mut pieces = pieces(text, delimiters);
        pieces.truncate(MATCHES_MAX);
        let variables = &mut self.user.variables;
        variables.set(name, text);
        variables.set(&format!("{name}_n"), pieces.len().to_string());
        for (index, piece) in pieces.iter().enumerate() {
            variables.set(&format!("{name}_{}", index + 1), *piece);
        }
        variables.remove(&format!("{name}_{}", pieces.len() + 1));
        text.to_owned()
    }
}

/// The pieces of a text, as JMeter has them: each of the characters parts two pieces, and what lacks between two of them or
/// behind the last is `?`; one before the first piece parts nothing.
fn pieces<'t>(text: &'t str, delimiters: &str) -> Vec<&'t str> {
    const LACKS: &str = "?";
    let mut pieces = Vec::new();
    let mut start = 0;
    let ends = text.match_indices(|c| delimiters.contains(c)).map(|(at, it)| (at, at + it.len()));
    for (end, next) in ends.chain([(text.len(), text.len())]) {
        if start < end {
            pieces.push(&text[start..end]);
        } else if start > 0 {
            pieces.push(LACKS);
        }
        start = next;
    }
    pieces
}

/// The variable that a call's value is kept in, if it names one.
fn kept_as<'a>(function: Function, arguments: &[&'a str]) -> Option<&'a str> {
    let place = match function {
        Function::Random | Function::RandomString | Function::ChangeCase => 2,
        Function::Property
        | Function::Time
        | Function::Counter
        | Function::Base64Encode
        | Function::Base64Decode
        | Function::LowerCase
        | Function::UpperCase
        | Function::RandomFromMultipleVars => 1,
        Function::TimeShift => return arguments.last().copied(),
        Function::If => 4,
        Function::IntSum | Function::LongSum => {
            return arguments.last().copied().filter(|text| text.trim().parse::<i64>().is_err());
        }
        _ => return None,
    };
    arguments.get(place).copied()
}

/// The characters with these numbers in UTF-16. What is no number is none.
fn characters(numbers: &[&str]) -> String {
    let units = numbers.iter().filter_map(|text| decoded(text.trim())).map(|number| number as u16);
    String::from_utf16_lossy(&units.collect::<Vec<u16>>())
}

/// A whole number as Java reads it: behind `0x` or `#` hexadecimal, behind another 0 octal.
fn decoded(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = ["0x", "0X", "#"].into_iter().find_map(|prefix| text.strip_prefix(prefix));
    let (digits, radix) = match (hexadecimal, text.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (text, 10),
    };
    let number = i64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-']))?;
    Some(sign * number)
}

/// Text as a whole number; 0 if it is none.
fn whole(text: &str) -> i128 {
    text.trim().parse::<i64>().map_or(0, i128::from)
}

fn coded(function: Function, text: &str) -> String {
    match function {
        Function::UrlEncode => form_urlencoded::byte_serialize(text.as_bytes()).collect(),
        Function::UrlDecode => {
            // As the value of a field without a name; `&` would end the field.
            let field = format!("={}", text.replace('&', "%26"));
            form_urlencoded::parse(field.as_bytes()).map(|(_, value)| value.into_owned()).collect()
        }
        Function::Base64Encode => STANDARD.encode(text),
        _ => STANDARD
            .decode(text.trim())
            .map_or_else(|_| text.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn cased(text: &str, mode: &str) -> String {
    if mode.eq_ignore_ascii_case("LOWER") {
        return text.to_lowercase();
    }
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if mode.eq_ignore_ascii_case("CAPITALIZE") => {
            first.to_uppercase().chain(characters).collect()
        }
        _ => text.to_uppercase(),
    }
}
