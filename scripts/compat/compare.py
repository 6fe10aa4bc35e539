"""Holds what other people's parsers read of wrk's output against what they read of ours.

compare.py PARSERS OUTPUTS NAME… [--only-ours NAME…]: of each name OUTPUTS has NAME.real and NAME.ours. The two must have
the same fields of the same kinds, without a gap; behind --only-ours the real output is not asked to be readable.
Exit code 1 where they differ.
"""

import importlib.util
import json
import math
import re
import subprocess
import sys
from pathlib import Path

# What is known before the runs, so both must say just that.
SAME = {"threads", "connections", "duration.value", "duration.unit", "url"}
# The whole output, an identity of the reading, and what has no value for want of options of wrktools' own.
IGNORED = {"id", "raw_output", "suite_id", "start_time", "end_time", "detailed_percentile_spectrum", "goals_results"}


def with_node(parsers, file):
    script = Path(__file__).with_name("parse.js")
    run = subprocess.run(["node", script, parsers, file], capture_output=True, text=True, timeout=60)
    if run.returncode != 0:
        raise ValueError(run.stderr.strip().splitlines()[-1] if run.stderr else "node failed")
    return json.loads(run.stdout)


def with_wrktools(_, file):
    from wrktoolbox.wrkoutput import BenchmarkOutput

    return vars(BenchmarkOutput.parse(file.read_text()))


def with_wrk2img(parsers, file):
    # The package itself wants matplotlib; its parser does not.
    spec = importlib.util.spec_from_file_location("wrk2img_parser", parsers / "python/wrk2img/parser.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    curves, website = module.Parser().parse_wrk_output(file.read_text())
    # The curve is named after its rate.
    [percentiles] = curves.values()
    return {"website": website, "percentiles": percentiles}


def flat(value, name=""):
    """Every plain value below `value` by its path."""
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    elif hasattr(value, "__dict__"):
        value = vars(value)
    if not isinstance(value, dict):
        return {name: value}
    fields = {}
    for key, inner in value.items():
        if name or key not in IGNORED:
            fields.update(flat(inner, f"{name}.{key}" if name else str(key)))
    return fields


def kind(value):
    """What a reader can do with the value; a text is a number with a unit or itself."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, (int, float)):
        return "number" if math.isfinite(value) else "no number"
    if re.fullmatch(r"\d+(\.\d+)?(us|ms|s|m)", value):
        return "time"
    if re.fullmatch(r"\d+(\.\d+)?[KMG]?B?", value):
        return "size"
    # A unit alone may differ with the figure.
    return "unit" if value in ("us", "ms", "s", "kb", "mb", "b", "gb") else value


def compare(name, parser, parsers, outputs, only_ours):
    def read(which):
        return flat(parser(parsers, outputs / f"{name}.{which}"))

    ours = read("ours")
    wrong = [f"{key} is {value!r}" for key, value in ours.items() if kind(value) == "no number"]
    if only_ours:
        return ours, wrong
    real = read("real")
    wrong += [f"{key} is in one of them only" for key in sorted(real.keys() ^ ours.keys())]
    for key in real.keys() & ours.keys():
        same = real[key] == ours[key] if key in SAME else kind(real[key]) == kind(ours[key])
        if not same:
            wrong.append(f"{key} is {real[key]!r} of wrk's and {ours[key]!r} of ours")
    return ours, wrong


def main():
    parsers, outputs, *names = sys.argv[1:]
    parsers, outputs = Path(parsers).resolve(), Path(outputs)
    sys.path.insert(0, str(parsers / "python"))
    at = names.index("--only-ours")
    failed = 0
    for index, name in enumerate(names):
        if index == at:
            continue
        for parser in (with_node, with_wrktools, with_wrk2img):
            label = f"compat: {name}, {parser.__name__.removeprefix('with_')}"
            # wrk2img reads nothing but percentiles.
            if parser is with_wrk2img and name == "plain":
                continue
            try:
                fields, wrong = compare(name, parser, parsers, outputs, index > at)
            except Exception as error:  # What a parser throws at its input is a finding.
                fields, wrong = {}, [f"{type(error).__name__}: {error}"]
            print(f"{label}: {len(fields)} fields" + "".join(f"\n  {it}" for it in wrong))
            failed += bool(wrong)
    sys.exit(1 if failed else 0)


main()
