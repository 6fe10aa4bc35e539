//! The text around the figures: headings, delays that endpoints are said to have, test plans, launches, orders.

use crate::document::{Comparison, Launch};
use crate::number::{Figure, number, numbers_in};

/// A longer line is prose and no heading.
const HEADING_CHARS_MAX: usize = 80;
/// So begin lines of autocannon, Locust and Fortio, which are no headings.
const OF_TOOLS: [&str; 4] = ["# of samples:", "# occurrences ", "# range, mid point", "# target "];
/// A longer line is prose and no statement of a figure.
pub(crate) const STATEMENT_CHARS_MAX: usize = 120;
/// A longer one says nothing of a delay.
const DELAY_CHARS_MAX: usize = 480;
/// Most figures that an order is read with.
const RANKED_MAX: usize = 8;
/// Most orders, and most launches, that are read of a text.
const REMARKS_MAX: usize = 200;

/// One line and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without blanks around it.
    pub text: &'a str,
    /// Where in the document.
    pub section: usize,
}

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Section {
    /// The heading above the nearest one.
    pub round: Option<String>,
    /// The nearest heading.
    pub system: Option<String>,
    /// Counts the parts of the document that are not within others.
    part: usize,
}

/// A text, line by line, with its headings.
#[derive(Debug, Default)]
pub(crate) struct Outline<'a> {
    pub lines: Vec<Line<'a>>,
    pub sections: Vec<Section>,
    /// Delays that lines speak of: the line, its part of the document, ms. In order of their lines.
    sleeps: Vec<(usize, usize, f64)>,
    /// Delays in URLs, likewise.
    url_delays: Vec<(usize, f64)>,
}

/// What a text says of a JMeter test plan.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Plan {
    pub users: Option<u32>,
    pub ramp_s: Option<f64>,
    pub loops: Option<f64>,
}

impl<'a> Outline<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut outline = Self { sections: vec![Section::default()], ..Self::default() };
        let mut stack: Vec<(usize, &str)> = Vec::new();
        let (mut part, mut is_code) = (0, false);
        for (index, raw) in text.lines().enumerate() {
            let text = raw.trim_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
            if text.starts_with("```") {
                is_code = !is_code;
            }
            if let Some((level, title)) = (!is_code).then(|| heading(raw)).flatten() {
                stack.retain(|(other, _)| *other < level);
                part += usize::from(level <= 1 || stack.iter().all(|(other, _)| *other == 0));
                stack.push((level, title));
                outline.sections.push(section(&stack, part));
            }
            let is_short = text.len() <= DELAY_CHARS_MAX;
            let section = &outline.sections[outline.sections.len() - 1];
            outline
                .sleeps
                .extend(is_short.then(|| sleep_ms(text)).flatten().map(|ms| (index + 1, section.part, ms)));
            outline
                .url_delays
                .extend(is_short.then(|| delay_of_url(text)).flatten().map(|ms| (index + 1, ms)));
            outline.lines.push(Line { number: index + 1, text, section: outline.sections.len() - 1 });
        }
        outline
    }

    pub fn section(&self, line: &Line<'_>) -> &Section {
        &self.sections[line.section]
    }

    /// How long the service is said to take, in ms, for a row in `line`: by what stands above it in the same part of
    /// the document, or by a parameter of a URL anywhere above it.
    pub fn service_time_ms(&self, line: usize) -> Option<(f64, String)> {
        let part = self.section(self.lines.get(line.checked_sub(1)?)?).part;
        let sleep = self.sleeps[..self.sleeps.partition_point(|it| it.0 < line)].last();
        let sleep = sleep.filter(|it| it.1 == part).map(|it| (it.0, it.2));
        let of_url = || self.url_delays[..self.url_delays.partition_point(|it| it.0 < line)].last().copied();
        sleep.or_else(of_url).map(|(line, ms)| (ms, format!("line {line}")))
    }

    /// The test plan that the text tells of.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        for line in self.lines.iter().filter(|line| line.text.len() <= STATEMENT_CHARS_MAX) {
            let [(figure, _)] = numbers_in(line.text)[..] else { continue };
            let lower = line.text.to_lowercase();
            let is = |word: &str| lower.contains(word);
            if is("ramp") {
                plan.ramp_s = plan.ramp_s.or(Some(figure.value));
            } else if is("loop") {
                plan.loops = plan.loops.or(Some(figure.value));
            } else if is("number of threads") || is("number of requests") || is("users") {
                let users = Some(figure.value).filter(|it| *it >= 1.0 && *it <= f64::from(u32::MAX));
                plan.users = plan.users.or(users.map(|it| it as u32));
            }
        }
        plan
    }

    /// JVM options that stand behind the jar.
    pub fn launches(&self) -> Vec<Launch> {
        self.lines.iter().filter_map(launch).take(REMARKS_MAX).collect()
    }

    /// Orders that the author gives.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let found = |line| comparison(line, self.section(line));
        self.lines.iter().filter_map(found).take(REMARKS_MAX).collect()
    }
}

fn section(stack: &[(usize, &str)], part: usize) -> Section {
    let title = |(_, title): &(usize, &str)| (*title).to_owned();
    let round = stack.len().checked_sub(2).map(|above| &stack[above]).filter(|(level, _)| *level > 0);
    Section { round: round.map(title), system: stack.last().map(title), part }
}

/// Level and title of a heading: `## Title`, `4. Title`, `4.1 Title`. A lone `#` is the title of all (level 0); the
/// numbered ones are one below it.
fn heading(raw: &str) -> Option<(usize, &str)> {
    if raw.chars().count() > HEADING_CHARS_MAX || OF_TOOLS.iter().any(|it| raw.starts_with(it)) {
        return None;
    }
    let hashes = raw.bytes().take_while(|it| *it == b'#').count();
    let (level, title) = match hashes {
        1..=6 => (hashes - 1, raw[hashes..].strip_prefix(' ')?),
        _ => numbered(raw)?,
    };
    let title = title.trim();
    // A heading for each load is no system.
    let is_load = numbers_in(title).len() == 1
        && ["并发", "connection", "concurren", "users", "clients"]
            .iter()
            .any(|it| title.to_lowercase().contains(it));
    (!title.is_empty() && !is_load).then_some((level, title))
}

fn numbered(raw: &str) -> Option<(usize, &str)> {
    let (number, title) = raw.split_once(' ')?;
    let parts: Vec<&str> = number.trim_end_matches('.').split('.').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.len() <= 3 && part.bytes().all(|it| it.is_ascii_digit());
    let is_heading = parts.iter().all(is_number) && parts.len() <= 3 && number.contains('.');
    // `1. 1. 1. Title` is a line of a table of contents, and `0.004 [5513] |` one of hey's histogram; oha has a unit there.
    let is_contents = title.starts_with(|it: char| it.is_ascii_digit() || it == '[');
    let is_time = ["ns [", "us [", "ms [", "sec [", "secs [", "min ["].iter().any(|it| title.starts_with(it));
    (is_heading && !is_contents && !is_time).then_some((parts.len(), title))
}

/// `Thread.sleep(100L)`, `sleep 100ms`, in ms.
fn sleep_ms(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    if let Some((_, behind)) = lower.split_once("thread.sleep(") {
        let argument = behind.split(')').next()?.trim_end_matches('l');
        return number(argument, false).map(|it| it.value).filter(|it| *it > 0.0);
    }
    let (_, behind) = lower.split_once("sleep").or_else(|| lower.split_once("delay"))?;
    let (figure, unit) = *numbers_in(behind).first()?;
    let near = behind.find(|it: char| it.is_ascii_digit()).is_some_and(|at| at <= 8);
    let ms = match unit {
        _ if unit.starts_with("ms") => figure.value,
        "s" => figure.value * 1e3,
        _ => return None,
    };
    (near && ms > 0.0).then_some(ms)
}

/// `?timeSlowness=150`: a parameter whose name says that it is a delay, in ms.
pub(crate) fn delay_of_url(text: &str) -> Option<f64> {
    let (_, query) = text.split_once('?')?;
    let (name, value) = query.split(['&', ' ']).filter_map(|it| it.split_once('=')).find(|(name, _)| {
        let name = name.to_lowercase();
        ["slow", "sleep", "delay"].iter().any(|it| name.contains(it))
    })?;
    let end = value.find(|it: char| !it.is_ascii_digit()).unwrap_or(value.len());
    (!name.is_empty())
        .then(|| number(&value[..end], false))
        .flatten()
        .map(|it| it.value)
        .filter(|it| *it > 0.0)
}

fn launch(line: &Line<'_>) -> Option<Launch> {
    let mut words = line.text.split_whitespace().skip_while(|it| !it.ends_with("java"));
    words.next()?;
    let mut words = words.skip_while(|it| *it != "-jar").skip(1);
    let jar =
        words.next().filter(|it| it.to_lowercase().rsplit_once('.').is_some_and(|(_, it)| it == "jar"))?;
    let is_option = |word: &&str| word.starts_with("-X") || (word.starts_with("-D") && word.contains('='));
    let options: Vec<String> = words.filter(is_option).map(str::to_owned).collect();
    (!options.is_empty()).then(|| Launch { line: line.number, jar: jar.to_owned(), options })
}

/// `At 300: A > B (10392.75 > 9684.31)`.
fn comparison(line: &Line<'_>, section: &Section) -> Option<Comparison> {
    let text = line.text;
    let (before, inside) = text.rsplit_once(['(', '（'])?;
    let inside = inside.trim_end_matches([')', '）', ' ', '.', '。']);
    let figures: Vec<Figure> =
        inside.split('>').take(RANKED_MAX).map(|it| crate::number::rate(it.trim())).collect::<Option<_>>()?;
    let (head, names) = before.rsplit_once([':', '：']).unwrap_or(("", before));
    let names: Vec<&str> = names.split('>').map(str::trim).collect();
    if figures.len() < 2 || names.len() != figures.len() || names.iter().any(|it| it.is_empty()) {
        return None;
    }
    let connections = match numbers_in(head)[..] {
        [(figure, _)] if figure.value >= 1.0 && figure.value < 1e9 => Some(figure.value as u32),
        _ => None,
    };
    let ranked = names.iter().map(|it| (*it).to_owned()).zip(figures).collect();
    // An order at the end of a round stands under a heading of its own, within that round.
    Some(Comparison { line: line.number, round: section.round.clone(), connections, ranked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_blogs_and_of_markdown() {
        let text = "1. Intro\n4. Round one\n4.1 API\nx\n  1. a list\n4.2 Zuul\ny\n5. Round two\nz";
        let outline = Outline::new(text);
        let at = |line: usize| outline.section(&outline.lines[line - 1]).clone();
        assert_eq!((at(4).round.as_deref(), at(4).system.as_deref()), (Some("Round one"), Some("API")));
        assert_eq!(at(7).system.as_deref(), Some("Zuul"));
        assert_eq!((at(9).round.as_deref(), at(9).system.as_deref()), (None, Some("Round two")));

        let outline =
            Outline::new("# All\n## Round\n### nginx\n#### 300 connections\nx\n```\n# no heading\n```\ny");
        let last = outline.section(outline.lines.last().unwrap());
        assert_eq!((last.round.as_deref(), last.system.as_deref()), (Some("Round"), Some("nginx")));
    }

    #[test]
    fn delays_are_read_where_they_are_said() {
        for (text, ms) in [
            ("Thread.sleep(100L);", Some(100.0)),
            ("by sleep 100ms here", Some(100.0)),
            ("GET /slow?timeSlowness=150", None),
            ("we sleep well, 3 times", None),
        ] {
            assert_eq!(sleep_ms(text), ms, "{text}");
        }
        assert_eq!(delay_of_url("GET localhost:8080/slowAPI?timeSlowness=150"), Some(150.0));
        assert_eq!(delay_of_url("/find?name=150"), None);
        let outline = Outline::new("1. A\nsleep 100ms\n2. B\nrow");
        assert_eq!(outline.service_time_ms(4), None, "another part");
        let said = Some((100.0, "line 2".to_owned()));
        assert_eq!(Outline::new("1. A\nsleep 100ms\nrow").service_time_ms(3), said);
    }

    #[test]
    fn options_behind_the_jar_are_seen() {
        let of = |text| Outline::new(text).launches();
        assert_eq!(of("java -jar a.jar -Xms2g -Xmx2g --port 1")[0].options, ["-Xms2g", "-Xmx2g"]);
        assert!(of("java -Xms2g -jar a.jar --port 1").is_empty());
        assert!(of("the -jar option").is_empty());
    }

    #[test]
    fn orders_are_read_with_their_load() {
        let outline = Outline::new("4. R\n4.5 End\n  • 300 并发时：Nginx > Zuul (17135.13 > 8420.10)");
        let found = &outline.comparisons()[0];
        assert_eq!((found.connections, found.round.as_deref()), (Some(300), Some("R")));
        assert_eq!(found.ranked[1].0, "Zuul");
        assert!(Outline::new("f(a > b) and (1 > x)").comparisons().is_empty());
    }
}
