//! What is to be known to read the tables.

use std::collections::BTreeSet;
use std::fmt::Write;

use plan::Processes;
use record::{Manifest, RankedBy, Role, Trial, TrialResult};
use stats::is_precise;

use super::order::Order;
use super::rows::{Cell, Rows, tables};
use super::{RunReport, drivers, wrapped};
use crate::agents::loaded_from;
use crate::figure::{by_driver, indented, interval, name, per_s, percent, plain_line};

/// What was measured beside a table's rows, which stand in this order: the client's own ceiling, and what lies between equals.
pub(super) fn beside(rows: &Rows<'_>, order: &Order) -> String {
    let ranked: Vec<&Cell<'_>> = order.places().iter().map(|place| &rows.cells[place.index]).collect();
    let mut lines = client_lines(rows, &ranked);
    if let Some((stack, ratio, noise)) = rows.twin_gap() {
        let of_what = if rows.ranked_by == RankedBy::ResponseP99 { ", p99" } else { "" };
        let percent = |ratio: f64| format!("{:+.1}", (ratio - 1.0) * 100.0);
        let ends = interval(ratio.low, ratio.high, percent);
        let noise =
            noise.map_or_else(String::new, |noise| format!("; noise within a block {:.1} %", noise * 100.0));
        let (of, gap) = (name(stack), percent(ratio.value));
        lines.push(format!("A/A: {of} to itself{of_what} {gap}{ends} %{noise}"));
    }
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.join("\n")) }
}

/// What the client reached in the control, and of which rows that is a ceiling; of those that were asked otherwise, how near it was to
/// its limit by its own CPU time.
fn client_lines(rows: &Rows<'_>, ranked: &[&Cell<'_>]) -> Vec<String> {
    let under: Vec<String> =
        ranked.iter().filter(|cell| cell.as_control).map(|cell| name(cell.stack)).collect();
    let of_rows = if under.is_empty() || under.len() == ranked.len() {
        String::new()
    } else {
        format!(": a ceiling of {}", under.join(", "))
    };
    let control = rows.ceiling_per_s.map(|it| {
        let over = rows.control_words();
        format!("control: the client reaches {} of the calibration target{over}{of_rows}", per_s(it))
    });
    let others: Vec<&Cell<'_>> = ranked.iter().copied().filter(|cell| !cell.as_control).collect();
    let is_plain = others.iter().any(|cell| cell.is_plain_http1());
    let with_them = if is_plain { "where no control is a ceiling" } else { "over TLS or HTTP/2" };
    let busy = others.iter().filter_map(|cell| Some((cell.client_busy_share()?, cell.stack)));
    let client = busy.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(busy, stack)| {
        format!(
            "client: {with_them} its busiest thread was busy {} of the time at most ({})",
            percent(busy),
            name(stack)
        )
    });
    control.into_iter().chain(client).flat_map(|line| wrapped(&line, "")).collect()
}

/// What is to be said of the run as a whole.
pub(super) fn notes(run: &RunReport<'_>, orders: &[&Order]) -> String {
    let manifest = run.manifest;
    let mut text = failures(run.trials);
    for (stack, why) in &manifest.left_out {
        let _ = writeln!(text, "\nleft out: {}: {}", name(stack), indented(why));
    }
    let unseen = manifest.stacks.keys().filter(|stack| run.trials.iter().all(|trial| trial.stack != **stack));
    let unseen: Vec<String> = unseen.map(|stack| name(stack)).collect();
    if !run.trials.is_empty() && !unseen.is_empty() {
        let _ = writeln!(text, "\nnot reached: {}", unseen.join(", "));
    }
    if run.trials.len() < manifest.trials as usize {
        let _ = writeln!(text, "\n{} of {} planned trials were made.", run.trials.len(), manifest.trials);
    } else if manifest.complete == Some(false) {
        text.push_str("\nNot all of its trials are made.\n");
    }
    text.push_str(&repeated(run.trials));
    text.push_str(&lost_attempts(run.trials));
    text.push_str(&where_it_ended(run));
    text.push('\n');
    let measured = run.trials.iter().any(|trial| matches!(trial.result, TrialResult::Measured(_)));
    if measured {
        text.push_str(&legend(run, orders));
        text.push_str(&running_already(run.trials));
        text.push_str(&doubts(run.trials));
        text.push_str(&drivers::legend(run.trials));
        if manifest.quick {
            text.push_str(
                "A quick look: short loads, and JVMs hardly warm. It shows a shape and supports no claim.\n",
            );
        } else if manifest.pace == "coarse" {
            text.push_str(
                "A coarse look: short loads, and JVMs hardly warm; what differs here may not when warm.\n",
            );
        }
    }
    let _ = writeln!(text, "Full record: {}", plain_line(run.dir));
    text
}

/// Blocks that were made twice, and by what they were disturbed.
fn repeated(trials: &[Trial]) -> String {
    let blocks: BTreeSet<(&[u32], u32, &str)> = trials
        .iter()
        .filter_map(|trial| Some((trial.block, trial.repeats.as_ref()?)))
        .map(|(block, it)| (it.block.as_slice(), block, it.why.as_str()))
        .collect();
    let told = blocks.iter().map(|(_, block, why)| {
        format!(
            "\nrepeated: block {}, since {}; its first trials are in the record and count for nothing\n",
            block + 1,
            plain_line(why)
        )
    });
    told.collect()
}

fn failures(trials: &[Trial]) -> String {
    let mut text = String::new();
    for trial in trials {
        let TrialResult::Failed { error } = &trial.result else { continue };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "\nfailed: {}: {}", which(trial), indented(error));
    }
    text
}

/// Trials that took several attempts, since machines that load were lost.
fn lost_attempts(trials: &[Trial]) -> String {
    let mut text = String::new();
    for trial in trials.iter().filter(|trial| !trial.lost_attempts.is_empty()) {
        let (attempts, why) = (trial.lost_attempts.len() + 1, trial.lost_attempts.join("; "));
        let _ = writeln!(
            text,
            "\nmade again: {}, since {}; attempt {attempts} is the one in the record",
            which(trial),
            plain_line(&why)
        );
    }
    text
}

/// A trial by its stack, round and block.
fn which(trial: &Trial) -> String {
    let (stack, round, block) = (name(&trial.stack), name(&trial.round), u64::from(trial.block) + 1);
    let twin = if trial.role == Role::Twin { " (its twin)" } else { "" };
    format!("{stack}{twin}, in {round}{}, block {block}", by_driver(trial.driver))
}

/// After how many blocks tables ended, and why, where they could have gone on.
fn where_it_ended(run: &RunReport<'_>) -> String {
    let Manifest { blocks, blocks_max, precision, .. } = *run.manifest;
    let mut text = String::new();
    let Some(precision) = precision.filter(|_| blocks_max > blocks) else { return text };
    for name in tables(run.trials) {
        let rows = Rows::of(run.trials, name);
        let by_block = rows.by_block();
        let made = by_block.iter().map(|row| row.iter().flatten().count()).max().unwrap_or(0);
        if by_block.len() < 2 || made < 2 || made < blocks as usize {
            continue;
        }
        let (table, within) = (name.heading(), precision * 100.0);
        let _ = if is_precise(&by_block, precision) {
            writeln!(
                text,
                "\n{table}: ended after {made} blocks, when every ratio was known to ±{within:.1} %"
            )
        } else if made >= blocks_max as usize {
            writeln!(text, "\n{table}: {made} blocks, and not every ratio is known to ±{within:.1} %")
        } else {
            writeln!(text, "\n{table}: {made} blocks of at most {blocks_max} so far")
        };
    }
    text
}

/// What was running already, and what is not known of it.
fn running_already(trials: &[Trial]) -> String {
    let mut told: Vec<(&str, &str)> = Vec::new();
    for trial in trials {
        let TrialResult::Measured(measured) = &trial.result else { continue };
        let Some(why) = measured.server.not_measured.as_deref() else { continue };
        if told.iter().all(|(stack, _)| *stack != trial.stack) {
            told.push((&trial.stack, why));
        }
    }
    let line = |(stack, why): (&str, &str)| {
        format!(
            "{}: {}.\nAll of its trials are of the same process, and its CPU, memory, threads and start were not measured.\n",
            name(stack),
            plain_line(why)
        )
    };
    told.into_iter().map(line).collect()
}

/// What the doubts mean that a row has.
fn doubts(trials: &[Trial]) -> String {
    let mut kinds = BTreeSet::new();
    for name in tables(trials) {
        let rows = Rows::of(trials, name);
        let reasons = rows.cells.iter().flat_map(Cell::reasons);
        kinds.extend(reasons.map(|(reason, _)| reason.kind));
    }
    let told: Vec<String> =
        kinds.iter().map(|kind| format!("{}: {}.\n", kind.name(), kind.meaning())).collect();
    told.concat()
}

/// What is to be known to read the tables.
fn legend(run: &RunReport<'_>, orders: &[&Order]) -> String {
    let mut text = String::from(
        "Response time (p50 to p99.9) is from the instant a request was due; us/req is CPU time a request.\nEach figure is \
         the median over trials. Closed-model times leave out whoever would have asked\nduring a stall. In parentheses \
         behind a limit: what speaks against a row's figures.\n",
    );
    if run.manifest.ends_when_decided() {
        text.push_str(
            "Blocks ended when claims were decided, which no test of a ranking counts: ranges span all trials and are no\n\
             confidence intervals; rows share a rank (=) where their ranges overlap. What is known is what became of the \
             claims.\n",
        );
    } else {
        text.push_str(&of_ranges(orders));
    }
    let least = orders.iter().filter_map(|order| match order {
        Order::Tests(comparison, _) => Some(comparison.least_effect),
        Order::Ranges(..) => None,
    });
    if let Some(least) = least.max_by(f64::total_cmp) {
        let _ = writeln!(
            text,
            "Rows that share a letter can't be told apart; # is the range of ranks that leaves. By the exact\nsigned-rank \
             test within blocks at 5 %, Holm's method over all pairs, and nothing nearer than {:.1} %,\nwhich is 2 % or \
             what lies between a stack and itself (`proofload error-rates`).",
            least * 100.0
        );
    }
    if !run.manifest.placement.is_empty() {
        let placed = match run.manifest.placement.as_str() {
            "split" => "Client and servers had cores of their own.\n",
            _ => "Client and servers shared all cores.\n",
        };
        text.push_str(placed);
    }
    if let Some(sides) = &run.manifest.sides {
        let _ = writeln!(text, "Cores are not all alike: {}.", plain_line(sides));
    }
    if let Some(sentence) = loaded_from(run.trials) {
        let _ = writeln!(text, "{sentence}");
    }
    if run.manifest.processes == Processes::Block.name() {
        text.push_str("A stack's process served all of its cells in a block, and each block had processes of its own.\n");
    }
    let is_kept = run.manifest.processes == Processes::Kept.name();
    if run.manifest.same_loads && !is_kept {
        text.push_str(
            "All processes of a block went through its loads in one order, and a twin's through all\n\
             that its stack's did.\n",
        );
    }
    if is_kept {
        text.push_str(
            "Processes were kept from block to block. What lies between two of a stack only A/A shows, and a table\n\
             without it does not.\n",
        );
    }
    if run.manifest.same_loads && is_kept {
        text.push_str("A twin's process served all loads that its stack's did.\n");
    }
    text
}

/// What is to be known of tables whose rows no test compares.
fn of_ranges(orders: &[&Order]) -> String {
    let untested = orders.iter().filter_map(|order| match order {
        Order::Ranges(spreads, _) => Some(spreads),
        Order::Tests(..) => None,
    });
    let (several, alone): (Vec<_>, Vec<_>) = untested.partition(|spreads| spreads.len() > 1);
    // Those that were made: a run may have ended before its time.
    if let Some(blocks) = several.into_iter().flatten().map(|it| it.trials).max() {
        let plural = if blocks == 1 { "" } else { "s" };
        return format!(
            "{blocks} block{plural}, too few to test: ranges span all trials and are no confidence intervals;\nrows \
             share a rank (=) where their ranges overlap. Short warm-ups leave JVM stacks compiling.\n"
        );
    }
    if alone.is_empty() {
        return String::new();
    }
    "A stack by itself is compared with none: its range spans all trials and is no confidence interval.\n"
        .into()
}
