//! The TOML of a write-up, and how its claims are spelt out in cells.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::{
    CellPair, Claim, Level, Metric, OtherSetting, PublishedMachine, Statement, WITHIN_DEFAULT, WriteUp,
};
use crate::cell_id::CellId;
use crate::error::PlanError;
use crate::experiment::{Experiment, Role, Round};
use crate::nearest;
use crate::toml_file::{self, Numbers};

/// Microseconds of a millisecond: write-ups give times in ms, records in µs.
const US_PER_MS: f64 = 1e3;
/// The page that shows every key.
const DOCS: &str = "docs/claims.md";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteUpFile {
    title: String,
    source: String,
    when: String,
    driver: String,
    experiment: PathBuf,
    machine: Spanned<PublishedMachine>,
    #[serde(default)]
    setting: Vec<Spanned<OtherSetting>>,
    #[serde(default)]
    claim: Vec<ClaimTable>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Order,
    Ahead,
    Ratio,
    Ceiling,
    Invariance,
    Equal,
    NotTestable,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Ahead => "ahead",
            Self::Ratio => "ratio",
            Self::Ceiling => "ceiling",
            Self::Invariance => "invariance",
            Self::Equal => "equal",
            Self::NotTestable => "not-testable",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimTable {
    id: Spanned<String>,
    sentence: String,
    #[serde(default)]
    derived: bool,
    kind: Spanned<Kind>,
    #[serde(default)]
    metric: Metric,
    round: Option<Spanned<String>>,
    #[serde(default)]
    stacks: Vec<Spanned<String>>,
    connections: Option<Spanned<Numbers>>,
    /// By stack, as `stacks` names it, a figure for each of `connections`.
    #[serde(default)]
    published: BTreeMap<String, Spanned<Vec<f64>>>,
    ratio: Option<Spanned<f64>>,
    per_s: Option<Spanned<f64>>,
    per_s_per_connection: Option<Spanned<f64>>,
    time_ms: Option<Spanned<f64>>,
    cores_published: Option<Spanned<u32>>,
    within_percent: Option<Spanned<f64>>,
    why: Option<Spanned<String>>,
}

/// The experiment that the file names, relative to it.
pub(super) fn experiment_of(path: &Path, text: &str) -> Result<PathBuf, PlanError> {
    Ok(toml_file::parse::<WriteUpFile>(path, text, DOCS)?.experiment)
}

pub(super) fn parse(path: &Path, text: &str, experiment: &Experiment) -> Result<WriteUp, PlanError> {
    let file: WriteUpFile = toml_file::parse(path, text, DOCS)?;
    let reader = Reader { path, text, experiment };
    if file.claim.is_empty() {
        let error = PlanError::new("the write-up claims nothing", "add a [[claim]]");
        return Err(error.in_file(path));
    }
    let mut ids = BTreeSet::new();
    let mut claims = Vec::new();
    for table in &file.claim {
        if !ids.insert(table.id.get_ref().as_str()) {
            let what = format!("two claims are called `{}`", table.id.get_ref());
            return Err(reader.place(PlanError::new(what, "rename one"), &table.id));
        }
        claims.push(reader.claim(table)?);
    }
    let machine = reader.machine(file.machine)?;
    let settings = file.setting.into_iter().map(|it| reader.setting(it, machine.cores));
    let settings = settings.collect::<Result<_, _>>()?;
    Ok(WriteUp {
        title: file.title,
        source: file.source,
        when: file.when,
        machine,
        settings,
        driver: file.driver,
        experiment: file.experiment,
        claims,
    })
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    experiment: &'a Experiment,
}

/// A stack of a claim at its loads, with what was published of it.
struct Row {
    cells: Vec<CellId>,
    published: Option<Vec<f64>>,
}

impl Row {
    fn published(&self, load: usize) -> Option<f64> {
        self.published.as_ref().map(|all| all[load])
    }
}

impl Reader<'_> {
    fn place<T>(&self, error: PlanError, at: &Spanned<T>) -> PlanError {
        error.at_offset(self.path, self.text, at.span().start)
    }

    fn error<T, U>(&self, at: &Spanned<U>, what: String, help: &str) -> Result<T, PlanError> {
        Err(self.place(PlanError::new(what, help), at))
    }

    fn machine(&self, machine: Spanned<PublishedMachine>) -> Result<PublishedMachine, PlanError> {
        const HELP: &str = "give what the write-up says, or leave it out";
        if machine.get_ref().cores == Some(0) {
            return self.error(&machine, "no machine has 0 cores".into(), HELP);
        }
        let memory_gb = machine.get_ref().memory_gb;
        match memory_gb {
            Some(gb) if !(gb > 0.0 && gb.is_finite()) => {
                self.error(&machine, format!("no machine has {gb} GB of memory"), HELP)
            }
            _ => Ok(machine.into_inner()),
        }
    }

    /// A setting of stacks that there are, whose value is said once: else nobody would see that it is missed.
    fn setting(&self, table: Spanned<OtherSetting>, cores: Option<u32>) -> Result<OtherSetting, PlanError> {
        let OtherSetting { stacks, what, there, here, per_core } = table.get_ref();
        let known = self.experiment.stacks();
        let has = format!("the experiment has {}", known.join(", "));
        if stacks.is_empty() {
            return self.error(&table, format!("the setting `{what}` is of no stack"), &has);
        }
        if let Some(unknown) = stacks.iter().find(|it| !known.contains(&it.as_str())) {
            let said = format!("the setting `{what}` is of `{unknown}`, which is no stack of the experiment");
            return self.error(&table, said, &nearest::help(unknown, known, &has));
        }
        let is_said_once = match (there, here, per_core) {
            (Some(_), Some(_), None) => true,
            (None, None, Some(each)) => *each > 0 && cores.is_some(),
            _ => false,
        };
        if !is_said_once {
            let said = format!("the value of the setting `{what}`, there and here, is not said once");
            let help = "give it `there` and `here`; or `per_core` from 1, and [machine] its `cores`";
            return self.error(&table, said, help);
        }
        Ok(table.into_inner())
    }

    fn claim(&self, table: &ClaimTable) -> Result<Claim, PlanError> {
        self.keys_fit(table)?;
        let statement = match *table.kind.get_ref() {
            Kind::Order => Statement::Order(self.order(table)?),
            Kind::Ahead => Statement::Order(self.ahead(table)?),
            Kind::Ratio => {
                let ratio = self.required(table, table.ratio.as_ref(), "ratio")?;
                let value = self.positive(ratio)?;
                if (value - 1.0).abs() < f64::EPSILON {
                    let help = "make it a claim of kind `equal`, or turn it round";
                    return self.error(ratio, "a ratio of 1 has no direction".into(), help);
                }
                Statement::Ratio { pairs: self.two(table)?, ratio: value }
            }
            Kind::Ceiling => self.ceiling(table)?,
            Kind::Invariance => {
                let pairs = self.loads_of_one(table)?;
                let within = self.within(table, &pairs)?;
                Statement::Invariance { pairs, within }
            }
            Kind::Equal => {
                let pairs = self.two(table)?;
                let within = self.within(table, &pairs)?;
                Statement::Equal { pairs, within }
            }
            Kind::NotTestable => {
                let why = self.required(table, table.why.as_ref(), "why")?;
                Statement::NotTestable { why: why.get_ref().clone() }
            }
        };
        let (id, sentence) = (table.id.get_ref().clone(), table.sentence.clone());
        Ok(Claim { id, sentence, is_derived: table.derived, metric: table.metric, statement })
    }

    /// No key is there that a claim of its kind has no use for.
    fn keys_fit(&self, table: &ClaimTable) -> Result<(), PlanError> {
        let kind = *table.kind.get_ref();
        let start = |at: Option<usize>, name: &'static str, kinds: &'static [Kind]| {
            at.filter(|_| !kinds.contains(&kind)).map(|start| (start, name))
        };
        let number = |key: &Option<Spanned<f64>>| key.as_ref().map(|it| it.span().start);
        let compared = &[Kind::Order, Kind::Ahead, Kind::Ratio, Kind::Ceiling, Kind::Invariance, Kind::Equal];
        let misplaced = [
            start(number(&table.ratio), "ratio", &[Kind::Ratio]),
            start(number(&table.per_s), "per_s", &[Kind::Ceiling]),
            start(number(&table.per_s_per_connection), "per_s_per_connection", &[Kind::Ceiling]),
            start(number(&table.time_ms), "time_ms", &[Kind::Ceiling]),
            start(
                table.cores_published.as_ref().map(|it| it.span().start),
                "cores_published",
                &[Kind::Ceiling],
            ),
            start(
                number(&table.within_percent),
                "within_percent",
                &[Kind::Ceiling, Kind::Invariance, Kind::Equal],
            ),
            start(table.why.as_ref().map(|it| it.span().start), "why", &[Kind::NotTestable]),
            start(table.round.as_ref().map(|it| it.span().start), "round", compared),
            start(table.connections.as_ref().map(|it| it.span().start), "connections", compared),
            start(table.stacks.first().map(|it| it.span().start), "stacks", compared),
            start(table.published.values().next().map(|it| it.span().start), "published", compared),
        ];
        match misplaced.into_iter().flatten().next() {
            Some((offset, name)) => {
                let what = format!("a claim of kind `{}` has no `{name}`", kind.name());
                let help = "leave it out, or change the kind; docs/claims.md has the keys of each";
                Err(PlanError::new(what, help).at_offset(self.path, self.text, offset))
            }
            None => Ok(()),
        }
    }

    fn required<'t, T>(
        &self,
        table: &ClaimTable,
        key: Option<&'t Spanned<T>>,
        name: &str,
    ) -> Result<&'t Spanned<T>, PlanError> {
        key.ok_or_else(|| {
            let what = format!("a claim of kind `{}` needs `{name}`", table.kind.get_ref().name());
            self.place(PlanError::new(what, "add it; docs/claims.md has the keys of each kind"), &table.kind)
        })
    }

    fn positive(&self, number: &Spanned<f64>) -> Result<f64, PlanError> {
        let value = *number.get_ref();
        if value > 0.0 && value.is_finite() {
            return Ok(value);
        }
        self.error(number, format!("{value} is no figure of a server"), "give a number above 0")
    }

    /// Each stack over the next, at every load; or one stack at each load over the next.
    fn order(&self, table: &ClaimTable) -> Result<Vec<CellPair>, PlanError> {
        let rows = self.rows(table)?;
        if let [row] = &rows[..] {
            return self.loads(table, row, |load| (load - 1, load));
        }
        Ok(rows.windows(2).flat_map(|pair| across(&pair[0], &pair[1])).collect())
    }

    /// The first stack over each of the others, at every load.
    fn ahead(&self, table: &ClaimTable) -> Result<Vec<CellPair>, PlanError> {
        match &self.rows(table)?[..] {
            [first, others @ ..] if !others.is_empty() => {
                Ok(others.iter().flat_map(|other| across(first, other)).collect())
            }
            _ => self.error(
                &table.kind,
                "one stack is ahead of nobody".into(),
                "name those that it is ahead of",
            ),
        }
    }

    fn two(&self, table: &ClaimTable) -> Result<Vec<CellPair>, PlanError> {
        let rows = self.rows(table)?;
        let [a, b] = &rows[..] else {
            let what = format!("a claim of kind `{}` is about two stacks", table.kind.get_ref().name());
            return self.error(&table.kind, what, "name two; make more of them claims of their own");
        };
        Ok(across(a, b))
    }

    fn one(&self, table: &ClaimTable) -> Result<Row, PlanError> {
        let mut rows = self.rows(table)?;
        if rows.len() != 1 {
            let what = format!("a claim of kind `{}` is about one stack", table.kind.get_ref().name());
            return self.error(&table.kind, what, "name one; make more of them claims of their own");
        }
        Ok(rows.remove(0))
    }

    /// Each load of the one stack against the first.
    fn loads_of_one(&self, table: &ClaimTable) -> Result<Vec<CellPair>, PlanError> {
        let row = self.one(table)?;
        self.loads(table, &row, |load| (load, 0))
    }

    /// Pairs of loads of a row, one for each load but the first.
    fn loads(
        &self,
        table: &ClaimTable,
        row: &Row,
        pair: impl Fn(usize) -> (usize, usize),
    ) -> Result<Vec<CellPair>, PlanError> {
        if row.cells.len() < 2 {
            let what = "one stack at one load can be compared with nothing".to_owned();
            return self.error(&table.kind, what, "name more stacks, or more `connections`");
        }
        let of = |load: usize| {
            let (a, b) = pair(load);
            let published = row.published(a).zip(row.published(b));
            CellPair { a: row.cells[a].clone(), b: row.cells[b].clone(), published }
        };
        Ok((1..row.cells.len()).map(of).collect())
    }

    fn ceiling(&self, table: &ClaimTable) -> Result<Statement, PlanError> {
        let row = self.one(table)?;
        let given = [table.per_s.as_ref(), table.per_s_per_connection.as_ref(), table.time_ms.as_ref()]
            .map(|key| key.map(|number| self.positive(number)).transpose());
        let [per_s, per_connection, time_ms] = given;
        let of_rate = table.metric == Metric::Goodput;
        let level: Box<dyn Fn(u32) -> f64> = match (per_s?, per_connection?, time_ms?) {
            (Some(per_s), None, None) if of_rate => Box::new(move |_| per_s),
            (None, Some(each), None) if of_rate => Box::new(move |connections| each * f64::from(connections)),
            (None, None, Some(ms)) if table.metric.response_figure().is_some() => {
                Box::new(move |_| ms * US_PER_MS)
            }
            _ => {
                let what = "a ceiling needs exactly one level, in its metric's unit".to_owned();
                let help = "give `per_s` or `per_s_per_connection` of goodput, `time_ms` of a response time";
                return self.error(&table.kind, what, help);
            }
        };
        let cores_published = match &table.cores_published {
            Some(cores) if *cores.get_ref() == 0 => {
                return self.error(cores, "no machine has 0 cores".into(), "give those of the write-up");
            }
            cores => cores.as_ref().map(|it| *it.get_ref()),
        };
        let within = self.given_within(table)?.unwrap_or(WITHIN_DEFAULT);
        let published = |load| row.published(load);
        let levels = row.cells.iter().enumerate().map(|(load, cell)| Level {
            cell: cell.clone(),
            value: level(cell.connections),
            published: published(load),
        });
        Ok(Statement::Ceiling { levels: levels.collect(), cores_published, within })
    }

    /// As the file says, or as far as the published figures are apart, and [`WITHIN_DEFAULT`] at least.
    fn within(&self, table: &ClaimTable, pairs: &[CellPair]) -> Result<f64, PlanError> {
        let apart = pairs.iter().filter_map(|it| it.published).map(|(a, b)| (a / b).max(b / a) - 1.0);
        let widest = apart.fold(WITHIN_DEFAULT, f64::max);
        Ok(self.given_within(table)?.unwrap_or(widest))
    }

    fn given_within(&self, table: &ClaimTable) -> Result<Option<f64>, PlanError> {
        let Some(percent) = &table.within_percent else { return Ok(None) };
        match self.positive(percent)? {
            within if within <= 100.0 => Ok(Some(within / 100.0)),
            within => {
                self.error(percent, format!("{within} % is no nearness"), "give more than 0 and up to 100")
            }
        }
    }

    /// The claim's stacks with their cells, each of which the experiment has.
    fn rows(&self, table: &ClaimTable) -> Result<Vec<Row>, PlanError> {
        let connections = self.required(table, table.connections.as_ref(), "connections")?;
        if table.stacks.is_empty() || connections.get_ref().0.is_empty() {
            let what = format!("the claim `{}` names no cell", table.id.get_ref());
            return self.error(&table.id, what, "give it `stacks` and `connections`");
        }
        let mut seen = BTreeSet::new();
        let mut rows = Vec::new();
        for stack in &table.stacks {
            let row = self.row(table, stack, connections)?;
            if row.cells.iter().any(|cell| !seen.insert(cell.clone())) {
                let what = format!("the claim names a cell of `{}` twice", stack.get_ref());
                return self.error(stack, what, "name each stack and each load once");
            }
            rows.push(row);
        }
        let mut unknown = table.published.iter();
        if let Some((name, figures)) = unknown.find(|(name, _)| !names(&table.stacks, name)) {
            let what = format!("figures of `{name}`, which is none of the claim's stacks");
            return self.error(figures, what, "name it in `stacks`, or leave its figures out");
        }
        Ok(rows)
    }

    fn row(
        &self,
        table: &ClaimTable,
        stack: &Spanned<String>,
        connections: &Spanned<Numbers>,
    ) -> Result<Row, PlanError> {
        let (round, id) = self.round(table, stack)?;
        // Twins and controls are there for the comparison's sake; no write-up claims anything of them.
        let own = || round.cells.iter().filter(|cell| cell.role == Role::Stack);
        let at = |count: u32| {
            let mut of_stack = own().filter(|cell| cell.stack == id).peekable();
            if of_stack.peek().is_none() {
                let what = format!("the round `{}` has no stack `{id}`", round.name);
                let stacks: BTreeSet<&str> = own().map(|cell| cell.stack.as_str()).collect();
                let has = format!("it has {}", stacks.iter().copied().collect::<Vec<_>>().join(", "));
                let help = nearest::help(id, stacks, &has);
                return self.error(stack, what, &help);
            }
            if of_stack.all(|cell| cell.load.connections.get() != count) {
                let what = format!("the round `{}` has no load of {count} connections", round.name);
                return self.error(connections, what, "name loads of the experiment");
            }
            Ok(CellId { round: round.name.clone(), stack: id.to_owned(), connections: count })
        };
        let cells: Vec<CellId> =
            connections.get_ref().0.iter().map(|count| at(*count)).collect::<Result<_, _>>()?;
        let published = table.published.get(stack.get_ref());
        let published = published.map(|figures| self.figures(table, figures, cells.len())).transpose()?;
        Ok(Row { cells, published })
    }

    /// The round of a stack that is written `round/stack`, or that of the claim.
    fn round<'s>(
        &self,
        table: &ClaimTable,
        stack: &'s Spanned<String>,
    ) -> Result<(&Round, &'s str), PlanError> {
        let find = |name: &str| self.experiment.rounds.iter().find(|round| round.name == name);
        let rounds = |given: &str| {
            let names: Vec<&str> = self.experiment.rounds.iter().map(|round| round.name.as_str()).collect();
            let has = format!("the experiment has {}", names.join(", "));
            nearest::help(given, names, &has)
        };
        let none = |name: &str| format!("there is no round `{name}`");
        if let Some((name, id)) = stack.get_ref().split_once('/') {
            return match find(name) {
                Some(round) => Ok((round, id)),
                None => self.error(stack, none(name), &rounds(name)),
            };
        }
        let round = self.required(table, table.round.as_ref(), "round")?;
        match find(round.get_ref()) {
            Some(found) => Ok((found, stack.get_ref())),
            None => self.error(round, none(round.get_ref()), &rounds(round.get_ref())),
        }
    }

    /// Published figures in the metric's unit, one for each load.
    fn figures(
        &self,
        table: &ClaimTable,
        figures: &Spanned<Vec<f64>>,
        loads: usize,
    ) -> Result<Vec<f64>, PlanError> {
        let all = figures.get_ref();
        if all.len() != loads {
            let what = format!("{} figures for {loads} loads", all.len());
            return self.error(figures, what, "give one for each of `connections`, in their order");
        }
        if let Some(wrong) = all.iter().find(|it| !(**it > 0.0 && it.is_finite())) {
            return self.error(figures, format!("{wrong} is no figure of a server"), "give numbers above 0");
        }
        let unit = if table.metric.response_figure().is_some() { US_PER_MS } else { 1.0 };
        Ok(all.iter().map(|it| it * unit).collect())
    }
}

fn names(stacks: &[Spanned<String>], name: &str) -> bool {
    stacks.iter().any(|stack| stack.get_ref() == name)
}

/// Two rows, load by load.
fn across(a: &Row, b: &Row) -> Vec<CellPair> {
    let pair = |load: usize| CellPair {
        a: a.cells[load].clone(),
        b: b.cells[load].clone(),
        published: a.published(load).zip(b.published(load)),
    };
    (0..a.cells.len()).map(pair).collect()
}
