"""Whether consumers of Proofload's exports saw what the record says, worked out here from the record's JSON alone.

    exports.py NAME RECORD LINES...

RECORD is what `hit --json` printed or a run's directory; LINES are what `consumers` printed or wrote, a JSON sample a
line. Every consumer must have seen the same series with the same values and kinds, and among them what the record says.
"""

import json
import math
import os
import sys

QUANTILES = {
    "p50": "0.5", "p75": "0.75", "p90": "0.9", "p95": "0.95", "p99": "0.99", "p99_9": "0.999", "p99_99": "0.9999",
    "max": "1",
}
TIMES = ["response_time", "service_time", "lag", "generator_lag", "receive_lag"]


def of_load(result, labels):
    """What must be there of a load: (name, labels) to value."""
    wanted = {}

    def add(name, value, **more):
        if value is not None:
            wanted[key(f"proofload_{name}", {**labels, **more})] = float(value)

    add("goodput_per_second", result["goodput_per_s"])
    add("throughput_per_second", result["throughput_per_s"])
    add("received_bytes_per_second", result["received_bytes_per_s"])
    add("requests_as_expected_total", result["answered_as_expected"])
    add("window_seconds", result["window"]["duration_s"])
    for outcome, count in result["outcomes"].items():
        add("requests_total", count, outcome=outcome)
    for status, count in result["statuses"].items():
        add("answers_total", count, status=status)
    if result["cpu_us_per_request"] is not None:
        add("client_cpu_per_request_seconds", result["cpu_us_per_request"] / 1e6)
    for times in TIMES:
        figures = result[f"{times}_us"]
        add(f"{times}_samples", figures["count"])
        add(f"{times}_censored", figures["censored"])
        for figure, quantile in QUANTILES.items():
            too_few = figures.get("too_few_samples", {})
            is_bound = figure in too_few or figure in figures["lower_bounds"]
            end = "_lower_bound" if is_bound else ""
            # Of so few samples only what the percentile exceeds is told, if anything.
            value = too_few.get(figure) if figure in too_few else figures[figure]
            if value is not None:
                add(f"{times}_quantile{end}_seconds", value / 1e6, quantile=quantile)
    return wanted


def of_run(folder):
    manifest = json.load(open(os.path.join(folder, "manifest.json")))
    wanted = {}
    for line in open(os.path.join(folder, "trials.jsonl")):
        trial = json.loads(line)
        labels = {
            "experiment": manifest["title"], "round": trial["round"], "load": trial["load"].removesuffix(", fresh"),
            "driver": trial.get("driver", "proofload"), "stack": trial["stack"], "block": str(trial["block"]),
            "role": trial.get("role", "stack"),
        }
        measured = trial.get("measured")
        wanted[key("proofload_trial_measured", labels)] = float(measured is not None)
        if measured:
            wanted.update(of_load(measured["load"], labels))
            cores = measured["server"]["cpu_cores"]
            if cores is not None:
                wanted[key("proofload_server_cpu_cores", labels)] = cores
            count = measured["load"]["response_time_us"]["count"]
            name = "proofload_response_time_seconds"
            wanted[key(f"{name}_count", labels)] = float(count)
            wanted[key(f"{name}_bucket", {**labels, "le": "+Inf"})] = float(count)
    return wanted


def of_hit(path):
    result = json.load(open(path))
    labels = {"target": result["url"].split("?")[0], "load": result["load"]["label"], "driver": "proofload"}
    wanted = of_load(result, labels)
    wanted[key("proofload_valid", labels)] = float(result["validity"]["valid"])
    for reason in result["validity"]["reasons"]:
        wanted[key("proofload_doubt", {**labels, "kind": reason["kind"]})] = 1.0
    return wanted


def key(name, labels):
    return name, tuple(sorted(labels.items()))


def read(path):
    """What a consumer saw: who it is, values and kinds by series."""
    values, kinds, who = {}, {}, set()
    for line in open(path):
        it = json.loads(line)
        who.add(it["from"])
        at = key(it["name"], it["labels"])
        if at in values:
            sys.exit(f"exports: {it['from']} saw {at} twice")
        values[at], kinds[at] = float(it["value"]), it["kind"]
    return values, kinds, who


def differ(a, b):
    return not (a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-12 * max(abs(a), abs(b)))


def main():
    name, record, *files = sys.argv[1:]
    wanted = of_run(record) if os.path.isdir(record) else of_hit(record)
    consumers = {}
    for path in files:
        for who in [line_from(path)]:
            consumers[who] = read(path)
    problems = []
    first, (all_values, _, _) = next(iter(consumers.items()))
    for who, (values, kinds, _) in consumers.items():
        for at, value in wanted.items():
            if at not in values:
                problems.append(f"{who} lacks {at}")
            elif differ(values[at], value):
                problems.append(f"{who} has {values[at]} for {at}, and the record {value}")
        for at in set(all_values) ^ set(values):
            # OpenMetrics has no count of a distribution whose sum is not known.
            if not (who == "openmetrics" and at[0].endswith("_count")):
                problems.append(f"{at} is seen by only one of {first} and {who}")
        problems += [
            f"{who} has {value} for {at}, and {first} {all_values[at]}"
            for at, value in values.items() if at in all_values and differ(value, all_values[at])
        ]
        problems += [f"{who} takes {at} for {kind}" for at, kind in kinds.items() if not is_kind(at[0], kind)]
        bounds = {(it[0].replace("_lower_bound", ""), it[1]) for it in values if "_lower_bound" in it[0]}
        problems += [f"{who} has {at} as a value and as a bound" for at in bounds & set(values)]
    if problems:
        sys.exit("\n".join(f"exports: {name}: {it}" for it in problems[:20]))
    print(f"{name:<12} {len(wanted)} figures of the record and {len(all_values)} series, the same by "
          f"{', '.join(sorted(consumers))}")


def is_kind(name, kind):
    if name.endswith("_total"):
        return kind == "counter"
    if name.startswith("proofload_response_time_seconds"):
        return kind == "histogram"
    return kind in ("info", "gauge") if name.endswith("_info") else kind == "gauge"


def line_from(path):
    with open(path) as lines:
        first = lines.readline()
    return json.loads(first)["from"] if first else sys.exit(f"exports: {path} is empty: nothing was seen")


main()
