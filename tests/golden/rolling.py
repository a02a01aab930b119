#!/usr/bin/env python3
"""Writes rolling.json: window functions by pandas, and by exact arithmetic where pandas is known to be wrong.

    python3 -m venv VENV && VENV/bin/pip install pandas && VENV/bin/python tests/golden/rolling.py

A result is null where pandas has NaN, for a window that is incomplete and for the variance of one value alike.
"""

import decimal
import fractions
import json
import math
import pathlib
import random

import numpy
import pandas

decimal.getcontext().prec = 60
n = 310
drawn = random.Random(20240607)


def first_minus_last(window):
    """Of the values that are not NaN; where none is, x[0] - x[-1] as it stands."""
    present = window[~numpy.isnan(window)]
    return present[0] - present[-1] if len(present) else math.nan


operations = {
    "mean": lambda rolling: rolling.mean(),
    "sum": lambda rolling: rolling.sum(),
    "min": lambda rolling: rolling.min(),
    "max": lambda rolling: rolling.max(),
    "var": lambda rolling: rolling.var(),
    "std": lambda rolling: rolling.std(),
    "first_minus_last": lambda rolling: rolling.apply(first_minus_last, raw=True),
}


def prices():
    price, values = 100.0, []
    for _ in range(n):
        price *= 1 + 0.02 * (drawn.random() - 0.5)
        values.append(round(price, 2))
    return values


def gaps():
    """A seventh is missing, and all of a stretch that is longer than the second largest window."""
    values = [None if drawn.random() < 1 / 7 else round(drawn.uniform(-50, 50), 2) for _ in range(n)]
    values[100:125] = [None] * 25
    return values


def signed():
    return [round(drawn.uniform(-1000, 1000), 1) for _ in range(n)]


def number(value):
    return None if math.isnan(value) else value


# All of the beginning, where windows are incomplete, and some of the rest.
sampled = sorted({*range(24), *range(24, n, 15), *range(97, 130, 4), 298, 299, 300, n - 1})


def by_pandas(inputs):
    cases = []
    for name, values in inputs.items():
        series = pandas.Series(values, dtype="float64")
        for window in (1, 3, 20, 300):
            for min_periods in (None, 1, 5):
                if min_periods is not None and min_periods > window:
                    continue
                rolling = series.rolling(window, min_periods=min_periods)
                for operation, of in operations.items():
                    results = of(rolling)
                    cases.append({"input": name, "window": window, "min_periods": min_periods or 0,
                                  "operation": operation, "results": [number(results[i]) for i in sampled]})
    return cases


def exact(window, operation):
    """Of values that are there, rounded once."""
    values = [fractions.Fraction(value) for value in window]
    if operation in ("mean", "sum"):
        return float(sum(values) / (len(values) if operation == "mean" else 1))
    if len(values) < 2:
        return math.nan
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    if operation == "var":
        return float(variance)
    return float((decimal.Decimal(variance.numerator) / decimal.Decimal(variance.denominator)).sqrt())


def decaying_sine(points, cycles):
    x = [cycles * math.pi * k / (points - 1) for k in range(points)]
    y = [math.sin(one) * math.exp(-one) for one in x]
    least, most = min(y), max(y)
    return [(one - least) / (most - least) for one in y]


def hostile():
    """Name: values, window, min-periods, and where such a trouble was reported."""
    return {
        "1e16 then ones": ([1.0, 2.0, 1e16] + [1.0] * 37, 5, 0, ""),
        "9.54e8 leaves a window": ([9.54e8, 0.6225, None, 0, 1.14, 0], 5, 3, "pandas 28244"),
        "1e-8 throughout": ([drawn.uniform(0, 1e-7) for _ in range(30)], 3, 0, "pandas 37051"),
        "a thousand then zeros": ([1000.0] + [0.0] * 49, 10, 0, "pandas 42064"),
        "1.3e17 then 1995": ([1.2e3, 1.3e17, 1.5e17, 1.995e3, 1.990e3] + [1.25e3, 1.5e3] * 4, 2, 0,
                             "pandas 52407, 54518"),
        "ten magnitudes": (decaying_sine(200, 9), 50, 0, "pandas 53289"),
        "1e-7 then zeros": ([1.0, 1e-7] + [0.0] * 8, 5, 0, "polars 21677"),
        "nearly constant": ([0.1 if k % 37 else 0.1 + 1e-15 for k in range(120)], 20, 0, "polars 4301"),
        "constant": ([36743.6] * 30, 12, 2, "polars 12905"),
        "constant after others": ([-3.0, 0.1, 1e5, 7.7] + [0.3] * 40, 8, 0, "pandas 46049"),
        "tiny variance on a huge mean": ([1e9 + drawn.randrange(64) / 1024 for _ in range(80)], 20, 0, ""),
        "1e15 leaves a sum": ([0.1, -1 / 3, 1e15, 6.1e-5, 1.1, 0, -8.6e14, 1e15, 0.2, 0.3, 0.1] * 3, 3, 1,
                              "pandas 61071"),
    }


def by_fractions(inputs):
    cases = []
    for name, (values, window, min_periods, reported) in inputs.items():
        for operation in ("mean", "sum", "var", "std"):
            results = []
            for i in range(len(values)):
                present = [x for x in values[max(0, i - window + 1):i + 1] if x is not None]
                complete = len(present) >= (min_periods or window)
                results.append(number(exact(present, operation)) if complete else None)
            cases.append({"input": name, "window": window, "min_periods": min_periods, "operation": operation,
                          "reported": reported, "results": results})
    return cases


def one_per_line(items):
    return "[\n" + ",\n".join(json.dumps(item, separators=(",", ":")) for item in items) + "]"


def main():
    inputs = {"prices": prices(), "gaps": gaps(), "signed": signed()}
    troubles = hostile()
    of_pandas = by_pandas(inputs)
    of_fractions = by_fractions(troubles)
    inputs.update({name: trouble[0] for name, trouble in troubles.items()})
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(values, separators=(',', ':'))}"
                       for name, values in inputs.items())
    path = pathlib.Path(__file__).with_name("rolling.json")
    path.write_text(f'{{"pandas":"{pandas.__version__}",\n"sampled":{json.dumps(sampled, separators=(",", ":"))},\n'
                    f'"inputs":{{\n{lines}}},\n"by_pandas":{one_per_line(of_pandas)},\n'
                    f'"by_fractions":{one_per_line(of_fractions)}}}\n', encoding="utf-8")
    print(path.name, path.stat().st_size, "bytes by pandas", pandas.__version__)


main()
