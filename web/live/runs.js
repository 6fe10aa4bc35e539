// The recorded runs, and a figure over them.
"use strict";

const HEADS = ["title", "started", "pace", "trials", "state", "name"];

async function fetched(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function complain(error) {
  byId("lost").hidden = false;
  say(byId("lost"), String(error.message || error));
}

function row(run) {
  const line = make("tr");
  const title = make("td");
  if (run.error === null) {
    const link = make("a", run.title || run.name);
    link.href = `/run/${encodeURIComponent(run.name)}`;
    title.append(link);
  } else {
    title.append(make("span", run.error, "bad"));
  }
  const trials = run.error === null ? `${run.trials} ${W.of} ${run.planned}` : "";
  const kind = { running: "doubt", complete: "fine", unreadable: "bad" }[run.state] || "";
  line.append(title, make("td", run.started.replace("T", " ").replace("Z", "")), make("td", run.pace));
  line.append(make("td", trials), make("td", W[run.state] || run.state, kind), make("td", run.name, "faint"));
  return line;
}

async function showRuns() {
  const { runs } = await fetched("/runs.json");
  const none = make("tr");
  none.append(make("td", W.no_runs));
  byId("runs").replaceChildren(...(runs.length === 0 ? [none] : runs.map(row)));
}

function format(metric) {
  if (metric === "goodput") return perSecond;
  return micros;
}

// All that makes it another series than one of the same stack.
function nameOf(one) {
  const by = one.driver ? W.by(one.driver) : "";
  const from = one.agents ? W.loads_from(one.agents.join(", ")) : "";
  const how = [one.pace];
  if (one.placement === "split") how.push(W.cores_split);
  if (one.processes) how.push(W.processes(one.processes));
  return `${one.title}: ${one.round}, ${one.load}: ${one.stack}${by}${from} (${how.join(", ")})`;
}

async function showHistory() {
  const metric = byId("metric").value;
  const { series } = await fetched(`/history.json?metric=${encodeURIComponent(metric)}`);
  const parts = series.map((one) => {
    const part = make("div", "", "times");
    const name = nameOf(one);
    const changes = one.changes.map((it) => {
      // What beside the stack became another: then the change need not be the stack's.
      const others = it.conditions ? W.along_with(it.conditions.map((other) => other.what).join(", ")) : "";
      return `${W.changed} ×${it.ratio.toFixed(2)}: ${one.points[it.at].run}${others}`;
    });
    part.append(make("h3", name));
    part.append(points(one.points.map((it) => it.value), new Set(one.changes.map((it) => it.at)), format(metric), name));
    if (changes.length > 0) part.append(make("p", changes.join("; "), "bad"));
    return part;
  });
  byId("history").replaceChildren(...(parts.length === 0 ? [make("p", W.no_history, "faint")] : parts));
}

document.title = `${W.runs} – Proofload`;
byId("head").append(...HEADS.map((head) => headOf(W[head])));
for (const option of byId("metric").options) say(option, W[option.value]);
byId("metric").addEventListener("change", () => showHistory().catch(complain));
showRuns().catch(complain);
showHistory().catch(complain);
