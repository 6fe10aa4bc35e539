// The state of a run as it changes: a server-sent event has all of it.
"use strict";

let finishedShown = -1;
let isOver = false;

function show(view) {
  if (view === null) return;
  document.title = `${view.title} – Proofload`;
  say(byId("title"), view.title || "Proofload");
  showClock(view);
  showTrial(view);
  showStage(view.stage);
  showBursts(view);
  showCurves(view);
  showErrors(view.outcomes);
  showCpu(view.cpu);
  showAgents(view.agents || []);
  showWarnings(view.warnings);
  if (view.finished_count !== finishedShown) showFinished(view);
  if (view.ended) showEnd(view);
}

function showClock(view) {
  const { left } = view;
  let text = span(view.elapsed_s);
  if (left) {
    const [least, most] = [span(left.left_s), span(left.left_s_max)];
    text += `, ${least === most ? most : `${least} – ${most}`} ${W.left}`;
  }
  say(byId("clock"), text);
}

function who(trial) {
  let text = W.trial(trial);
  if (trial.driver !== "proofload") text += W.by(trial.driver);
  return text + roleOf(trial);
}

// What a trial is measured for, where its stack's name does not say it.
function roleOf(trial) {
  if (trial.role === "twin") return W.twin;
  return trial.role === "control" && trial.stack !== "control" ? W.control : "";
}

function showTrial({ trial }) {
  byId("trials-row").hidden = !trial;
  if (!trial) return;
  say(byId("trial"), who(trial));
  const done = trial.number - 1;
  byId("trials").value = done / Math.max(trial.of, 1);
  say(byId("trials-text"), W.trials_done(done, trial.of));
}

function showStage(stage) {
  // A count has its words; a name is as it is.
  const detail = stage.detail ? ` ${stage.detail.replace(/^(\d+) of (\d+)$/, `$1 ${W.of} $2`)}` : "";
  say(byId("stage"), `${W.stages[stage.name] || stage.name}${detail}`);
  const bar = byId("stage-bar");
  bar.hidden = !stage.of_s;
  if (stage.of_s) bar.value = Math.min(stage.for_s / stage.of_s, 1);
  say(byId("stage-time"), stage.of_s ? `${span(stage.for_s)} ${W.of} ${span(Math.ceil(stage.of_s))}` : span(stage.for_s));
}

function showBursts(view) {
  const element = byId("bursts");
  element.hidden = view.bursts.length === 0;
  const rates = view.bursts.map((it) => perSecond(it.goodput_per_s)).join("  ");
  element.replaceChildren(
    make("span", `${W.warm_up}: ${rates} `),
    make("span", view.steadiness || "", view.steadiness === "steady" ? "fine" : "doubt"),
  );
}

function showCurves(view) {
  const last = view.seconds[view.seconds.length - 1];
  say(byId("rate"), last ? perSecond(last.goodput_per_s) : "–");
  say(byId("p50"), last ? `${last.p50_is_lower_bound ? ">" : ""}${micros(last.p50_us)}` : "–");
  say(byId("p99"), last ? `${last.p99_is_lower_bound ? ">" : ""}${micros(last.p99_us)}` : "–");
  const ago = view.last_second_ago_s;
  byId("as-of").hidden = !last;
  say(byId("as-of"), Number.isFinite(ago) ? W.as_of(span(ago)) : W.as_of_earlier);
  const isBound = (at) => view.seconds[at].p99_is_lower_bound;
  byId("rate-curve").replaceChildren(curve(view.seconds.map((it) => it.goodput_per_s), perSecond, W.goodput));
  byId("p99-curve").replaceChildren(curve(view.seconds.map((it) => it.p99_us), micros, "p99", isBound));
  const end = (bucket) => (bucket.up_to_us === null ? W.more : micros(bucket.up_to_us).replace(/\.0+ /, " "));
  byId("histogram").parentElement.hidden = view.histogram.length === 0;
  const isAnswered = Object.keys(view.outcomes.failures).every((kind) => kind === "unexpected");
  const heading = isAnswered ? W.histogram : W.histogram_waits;
  say(byId("histogram-heading"), heading);
  byId("histogram").replaceChildren(bars(view.histogram, end, heading));
}

function showErrors(outcomes) {
  const kinds = Object.entries(outcomes.failures);
  const all = kinds.reduce((sum, [, count]) => sum + count, 0);
  const share = ((all / Math.max(outcomes.intended, 1)) * 100).toFixed(1);
  const list = kinds.map(([kind, count]) => `${W.kinds[kind] || kind} ${count}`).join(", ");
  say(byId("errors"), all === 0 ? W.none : `${list} (${share} %)`, all === 0 ? "" : "bad");
}

function showCpu(cpu) {
  const rows = [];
  for (const name of ["servers", "generator", "others", "interrupts", "steal"]) {
    if (!cpu || cpu[name] === null) continue;
    const row = make("div", "", "meter");
    const bar = make("progress");
    bar.setAttribute("aria-label", W[name]);
    bar.max = cpu.cores;
    bar.value = Math.min(cpu[name], cpu.cores);
    row.append(make("span", W[name]), bar, make("span", cpu[name].toFixed(2)));
    rows.push(row);
  }
  if (cpu) rows.push(make("p", W.cores(cpu.cores), "faint"));
  else rows.push(make("p", "–", "faint"));
  byId("cpu").replaceChildren(...rows);
}

// One that is not heard of for so long is silent: it is asked once a second.
const SILENT_S_MIN = 3;

function howIs(agent) {
  if (agent.lost) return W.agent_lost;
  if (agent.silent_s >= SILENT_S_MIN) return W.silent(span(agent.silent_s));
  if (agent.generator_lag_p99_us === null) return W.no_requests;
  return `${W.lag} ${agent.generator_lag_p99_is_lower_bound ? ">" : ""}${micros(agent.generator_lag_p99_us)}`;
}

// Of several machines that carry the load, those that do worst.
function showAgents(agents) {
  byId("agents-part").hidden = agents.length === 0;
  const items = agents.map((agent) => {
    const kind = agent.lost ? "bad" : agent.silent_s >= SILENT_S_MIN ? "doubt" : "";
    const item = make("li", `${agent.number} (${agent.name}) `);
    item.append(make("span", howIs(agent), kind));
    return item;
  });
  byId("agents").replaceChildren(...items);
}

function showWarnings(warnings) {
  byId("warnings-part").hidden = warnings.length === 0;
  const items = warnings.slice().reverse().map((warning) => {
    const item = make("li");
    const times = warning.times > 1 ? W.times(warning.times) : "";
    const of = warning.of ? ` ${warning.of}${times}` : times;
    item.append(make("span", W[warning.kind] || warning.kind, warning.kind === "failed" ? "bad" : "doubt"));
    item.append(make("span", `${of}: ${warning.text}`));
    return item;
  });
  byId("warnings").replaceChildren(...items);
}

function showFinished(view) {
  finishedShown = view.finished_count;
  byId("finished-part").hidden = view.finished_count === 0;
  const number = (text) => make("td", text, "number");
  const rows = view.finished.slice().reverse().map((trial) => {
    const row = make("tr");
    const p99 = `${trial.p99_is_lower_bound ? ">" : ""}${micros(trial.p99_us)}`;
    const rate = trial.goodput_per_s === null ? "–" : perSecond(trial.goodput_per_s);
    const by = trial.driver === "proofload" ? "" : W.by(trial.driver);
    const kind = trial.verdict === "valid" ? "fine" : trial.failure ? "bad" : "doubt";
    row.append(number(trial.number), number(trial.block), make("td", trial.round), make("td", trial.load));
    row.append(make("td", `${trial.stack}${by}${roleOf(trial)}`), number(rate), number(p99));
    row.append(make("td", trial.failure || (trial.verdict === "valid" ? W.valid : trial.verdict), kind));
    return row;
  });
  byId("finished").replaceChildren(...rows);
}

function showEnd(view) {
  isOver = true;
  byId("ended").hidden = false;
  const { interrupted, error } = view.ended;
  say(byId("ended-text"), error ? `${W.went_wrong} ${error}` : interrupted ? W.interrupted : W.over);
  const report = byId("report");
  report.hidden = view.kind !== "experiment" || Boolean(error);
  say(report, W.report);
}

const heads = ["#", W.block, W.round, W.load, W.stack, W.goodput, "p99", W.verdict];
const numbers = new Set([0, 1, 5, 6]);
byId("finished-head").append(...heads.map((head, at) => headOf(head, numbers.has(at) ? "number" : "")));
say(byId("lost"), W.lost);

const events = new EventSource("/events");
events.onmessage = (event) => {
  byId("lost").hidden = true;
  show(JSON.parse(event.data));
};
events.onerror = () => {
  // What is over does not come back.
  if (isOver) events.close();
  else byId("lost").hidden = false;
};
