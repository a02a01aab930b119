"""The figures of `lab report`, as data for Plotly: each a dictionary with `data`, `layout`, `height` in pixels and a
`description` in words. Colours and fonts are the page's (reports/page.js), which knows light from dark; a trace says with
`colour` which of the page's colours it has: "stage", "library", "ceiling", or a number of the palette for lines.

Plotly reads a little HTML in texts, so every name is escaped here.
"""

import math
from html import escape

from tables import duration, light_of, number, quartiles

MOST_SAMPLES = 1000  # of a distribution, evenly picked from more
SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star", "pentagon", "hexagon"]
DASHES = ["solid", "dash", "dot", "dashdot"]
PALETTE = 7  # colours in reports/page.js


def stage_of(row):
    return row["stage"].split("/", 1)[1]


def name_of(row):
    return stage_of(row) + (" (library)" if row["library"] else "")


def size_text(size):
    """Bytes in decimal units, as bandwidths use them."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:g} B"


def ceiling_of(group):
    """The speed of light of a group; where nothing but the cache was measured, that; None without a ceiling."""
    return light_of(group) or min(group["ceilings"], key=lambda one: one["timing"]["median"], default=None)


def timed(group):
    return [row for row in group["rows"] if row["status"] == "ok" and row["timing"]]


def layout(x, y, **more):
    return {"xaxis": x, "yaxis": y, "margin": {"l": 8, "r": 16, "t": 8, "b": 8}, **more}


def log_ticks(values, text):
    """Places and texts of a logarithmic axis: powers of ten, and 2 and 5 between them where there are few."""
    steps = (1,) if max(values) > 100 * min(values) else (1, 2, 5)
    first = math.floor(math.log10(min(values))) - 1
    last = math.ceil(math.log10(max(values))) + 1
    places = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return {"type": "log", "tickvals": places, "ticktext": [text(one) for one in places]}


def short_duration(nanoseconds):
    """A round time: "10 ms"."""
    figure, unit = duration(nanoseconds).split(" ")
    return f"{float(figure):g} {unit}"


def linear_ticks(values):
    """Places and texts of an axis of times that begins at zero."""
    step = 10.0 ** math.floor(math.log10(max(values)))
    step = step / 2 if max(values) < 4 * step else step
    places = [count * step for count in range(1, int(max(values) / step) + 1)]
    return {"range": [0, 1.1 * max(values)], "tickvals": places, "ticktext": [short_duration(one) for one in places]}


def ladder(track, group, heading):
    """Bars: the part of the speed of light of each stage; its time where there is no such part."""
    rows = timed(group)
    if not rows:
        return None
    light = all(row.get("speed_of_light") is not None for row in rows)
    values = [100 * row["speed_of_light"] if light else row["timing"]["median"] for row in rows]
    texts = [duration(row["timing"]["median"]) + (f", {100 * row['speed_of_light']:.1f} %" if light else "") for row in rows]
    best = max(zip(values, rows), key=lambda one: one[0] if light else -one[0], default=None)[1]
    largest = max(100, *values) if light else 0
    axis = {"title": {"text": "part of the speed of light, %" if light else "median time of a launch"}, "automargin": True}
    if light:
        axis.update({"range": [0, 1.04 * largest], "tickvals": [0, 25, 50, 75, 100]})
        words = f"{stage_of(best)} reaches {100 * best['speed_of_light']:.1f} % of the speed of light"
    else:
        # A logarithm has no zero for a bar to begin at, and is left for what would not be seen otherwise.
        axis["title"]["text"] += " (logarithmic)" if max(values) > 30 * min(values) else ""
        axis.update(log_ticks(values, short_duration) if max(values) > 30 * min(values) else linear_ticks(values))
        words = f"{stage_of(best)} is the fastest, with {duration(best['timing']['median'])}"
    trace = {
        "type": "bar", "orientation": "h", "y": [escape(name_of(row)) for row in rows], "x": values, "text": [escape(text) for text in texts],
        "textposition": ["inside" if value > largest / 2 else "outside" for value in values] if light else "auto", "cliponaxis": False, "hoverinfo": "y+text", "colours": ["library" if row["library"] else "stage" for row in rows],
    }
    return {
        "description": f"The ladder of {track}{' at ' + heading if heading else ''}: {words}.",
        "height": 90 + 30 * len(rows),
        "data": [trace],
        "layout": layout(axis, {"autorange": "reversed", "automargin": True, "type": "category"}, showlegend=False, bargap=0.25),
        "line_at": 100 if light else None,
    }


def picked(samples):
    if len(samples) <= MOST_SAMPLES:
        return samples
    return [samples[place * len(samples) // MOST_SAMPLES] for place in range(MOST_SAMPLES)]


def distributions(track, group, heading):
    """Boxes: the samples of each stage relative to their median, and each process on its own where there are several."""
    traces = []
    for row in timed(group):
        processes = row.get("processes") or [row["timing"]]
        median = row["timing"]["median"]
        for place, timing in enumerate(processes):
            traces.append({
                "type": "box", "orientation": "h", "name": escape(name_of(row)),
                "x": [float(f"{100 * (sample / median - 1):.5g}") for sample in picked(timing["samples"])],
                "y": [escape(name_of(row)) + (f", process {place + 1}" if len(processes) > 1 else "")] * len(picked(timing["samples"])),
                "boxpoints": "all" if len(timing["samples"]) <= 60 else "outliers", "jitter": 0.5, "pointpos": 0, "marker": {"size": 3},
                "hoverinfo": "x", "colour": "library" if row["library"] else "stage",
            })
    if not traces:
        return None
    widest = max(timed(group), key=lambda row: row["timing"]["spread"])
    lower, upper = quartiles(widest["timing"])
    return {
        "description": f"Samples of each stage of {track}{' at ' + heading if heading else ''}, relative to the row's median. "
        f"The widest middle half is {stage_of(widest)}'s: {duration(lower)} to {duration(upper)}.",
        "height": 90 + 26 * len(traces),
        "data": traces,
        "layout": layout({"title": {"text": "sample / median - 1, %"}, "automargin": True, "zeroline": True},
                         {"autorange": "reversed", "automargin": True, "type": "category"}, showlegend=False),
    }


def line_style(place):
    return {"colour": place % PALETTE, "mode": "lines+markers",
            "marker": {"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 8}, "line": {"dash": DASHES[place // PALETTE % len(DASHES)]}}


def swept_parameter(groups):
    """The one numeric parameter that all groups differ in; None where there is none."""
    if len(groups) < 2 or len({group["l2"] for group in groups}) > 1:
        return None
    names = [name for name in groups[0]["parameters"] if len({group["parameters"].get(name) for group in groups}) > 1]
    if len(names) != 1:
        return None
    values = [group["parameters"].get(names[0]) for group in groups]
    if any(isinstance(value, (str, bool)) or value is None or value <= 0 for value in values) or len(set(values)) < len(groups):
        return None
    return names[0]


def sweep(track, groups):
    """Lines: the time of each stage against the parameter that changes, with the ceiling below them."""
    parameter = swept_parameter(groups)
    if parameter is None:
        return None
    groups = sorted(groups, key=lambda group: group["parameters"][parameter])
    lines, every = {}, []
    for group in groups:
        for row in timed(group):
            lines.setdefault(name_of(row), []).append((group["parameters"][parameter], row["timing"]["median"]))
            every.append(row["timing"]["median"])
    if not every:
        return None
    traces = [
        {"type": "scatter", "name": escape(name), "x": [x for x, _ in points], "y": [y for _, y in points],
         "text": [duration(y) for _, y in points], "hoverinfo": "name+text", **line_style(place)}
        for place, (name, points) in enumerate(lines.items())
    ]
    ceilings = [(group["parameters"][parameter], ceiling_of(group)) for group in groups]
    ceilings = [(x, one["timing"]["median"]) for x, one in ceilings if one and not one.get("cached")]
    if ceilings:
        every += [y for _, y in ceilings]
        traces.append({"type": "scatter", "name": "speed of light", "x": [x for x, _ in ceilings], "y": [y for _, y in ceilings],
                       "mode": "lines+markers", "line": {"dash": "dot", "width": 3}, "marker": {"size": 5}, "text": [duration(y) for _, y in ceilings],
                       "hoverinfo": "name+text", "colour": "ceiling"})
    places = [group["parameters"][parameter] for group in groups]
    return {
        "description": f"Median time of each stage of {track} against {parameter}, from {number(places[0])} to {number(places[-1])}"
        + (", with the speed of light as the dotted line below" if ceilings else "") + ". Both axes are logarithmic.",
        "height": 460,
        "data": traces,
        "layout": layout({"title": {"text": escape(parameter)}, "type": "log", "tickvals": places, "ticktext": [number(one) for one in places], "automargin": True},
                         {"title": {"text": "median time of a launch"}, "automargin": True, **log_ticks(every, short_duration)}, legend_below=True),
    }


def roofline(track, groups, floor):
    """Points: the bandwidth that each stage reaches, against the bytes of the problem, below two measured roofs: no launch
    is shorter than an empty kernel (a slope), and no kernel moves the bytes faster than the ceiling (flat)."""
    ceilings = [one for group in groups for one in group["ceilings"] if "operations" not in one and not one.get("cached")]
    if not ceilings or not floor or not floor["median"] > 0:
        return None
    lines = {}
    for group in groups:
        for row in timed(group) if group["fewest_bytes"] else []:
            lines.setdefault(name_of(row), []).append((group["fewest_bytes"], group["fewest_bytes"] / row["timing"]["median"]))
    if not lines:
        return None
    roof = max(one["bytes"] / one["timing"]["median"] for one in ceilings)
    ridge = roof * floor["median"]
    largest = max(x for points in lines.values() for x, _ in points)
    smallest = min(min(x for points in lines.values() for x, _ in points), ridge)
    heights = [smallest / 3 / floor["median"], roof, *(y for points in lines.values() for _, y in points)]
    low, high = math.log10(smallest / 3), math.log10(max(3 * largest, 3 * ridge))
    # A stage's name stands beside its best point of the largest problem, where the page keeps names apart.
    best = {name: max((y for x, y in points if x == largest), default=None) for name, points in lines.items()}
    labels = [{"x": math.log10(largest), "y": math.log10(y), "text": escape(name), "colour": place % PALETTE} for place, (name, y) in enumerate(best.items()) if y]
    traces = [{"type": "scatter", "mode": "lines", "name": "measured roofs", "x": [smallest / 3, ridge, 10.0 ** (high + 10)],
               "y": [smallest / 3 / floor["median"], roof, roof], "line": {"width": 3}, "hoverinfo": "skip", "colour": "ceiling"}]
    traces += [{"type": "scatter", "name": escape(name), "x": [x for x, _ in points], "y": [y for _, y in points],
                "text": [f"{y:.0f} GB/s, {100 * y / roof:.1f} % of the roof" for _, y in points], "hoverinfo": "name+text", **{**line_style(place), "mode": "markers"}}
               for place, (name, points) in enumerate(lines.items())]
    return {
        "description": f"Roofline of {track}: bandwidth (fewest bytes over median time) against the bytes of the problem. The roofs were measured in the "
        f"same run: an empty kernel takes {duration(floor['median'])}, and memory gives {roof:.0f} GB/s.",
        "height": 440,
        "data": traces,
        "layout": layout({"title": {"text": "fewest bytes that the problem must move"}, "automargin": True, **log_ticks([smallest / 3, 3 * largest], size_text), "range": [low, high]},
                         {"title": {"text": "GB/s"}, "automargin": True, **log_ticks(heights, lambda value: f"{value:g}"),
                          "range": [math.log10(min(heights)) - 0.1, math.log10(max(heights)) + 0.1]}, legend_below=True),
        "labels": labels,
        "roof": math.log10(roof),
    }


def arithmetic_roofline(track, groups):
    """Points: the operations a second that each stage reaches, against the operations for each byte that must be moved, below
    two measured roofs: what memory brings (a slope) and what the unit does (flat). None where no operations were measured."""
    roofs = [(memory, operations) for group in groups for memory in group["ceilings"][:1] for operations in group["ceilings"] if "operations" in operations]
    if not roofs:
        return None
    unit = roofs[0][1]["kind"]
    flat = max(one["operations"] / one["timing"]["median"] for _, one in roofs)
    bandwidth = max(one["bytes"] / one["timing"]["median"] for one, _ in roofs)
    lines = {}
    for group in groups:
        counted = next((one["operations"] for one in group["ceilings"] if "operations" in one), None)
        for row in timed(group) if counted and group["fewest_bytes"] else []:
            lines.setdefault(name_of(row), []).append((counted / group["fewest_bytes"], counted / row["timing"]["median"]))
    if not lines:
        return None
    ridge = flat / bandwidth
    places = [ridge, *(x for points in lines.values() for x, _ in points)]
    smallest, largest = min(places) / 4, max(places) * 4
    heights = [smallest * bandwidth, flat, *(y for points in lines.values() for _, y in points)]
    traces = [{"type": "scatter", "mode": "lines", "name": "measured roofs", "x": [smallest, ridge, largest], "y": [smallest * bandwidth, flat, flat],
               "line": {"width": 3}, "hoverinfo": "skip", "colour": "ceiling"}]
    traces += [{"type": "scatter", "name": escape(name), "x": [x for x, _ in points], "y": [y for _, y in points],
                "text": [f"{y / 1e3:.1f} TFLOP/s, {100 * y / flat:.1f} % of the unit's" for _, y in points], "hoverinfo": "name+text", **{**line_style(place), "mode": "markers"}}
               for place, (name, points) in enumerate(lines.items())]
    return {
        "description": f"Roofline of {track} on {unit}: operations a second against operations for each byte. The roofs were measured in the same run: memory "
        f"gives {bandwidth:.0f} GB/s, {unit} {flat / 1e3:.1f} TFLOP/s; they meet at {ridge:.1f} operations for each byte.",
        "height": 440,
        "data": traces,
        "layout": layout({"title": {"text": "operations for each byte that must be moved"}, "automargin": True, **log_ticks([smallest, largest], lambda value: f"{value:g}"),
                          "range": [math.log10(smallest), math.log10(largest)]},
                         {"title": {"text": "GFLOP/s"}, "automargin": True, **log_ticks(heights, lambda value: f"{value:g}"),
                          "range": [math.log10(min(heights)) - 0.1, math.log10(max(heights)) + 0.1]}, legend_below=True),
    }


def counter_bars(stages, rows):
    """Bars: each counter of each stage relative to the first stage that has it, for those that differ."""
    def figure(text):
        try:
            return float(text.replace("\u202f", ""))
        except ValueError:
            return None

    kept = []
    for name, *cells in rows:
        values = [figure(cell) for cell in cells]
        if len(values) > 1 and None not in values and values[0] and max(values) > 1.05 * min(values):
            kept.append((name, [value / values[0] for value in values]))
    if not kept:
        return None
    traces = [{"type": "bar", "orientation": "h", "name": escape(stage["stage"]), "y": [escape(name) for name, _ in kept],
               "x": [values[place] for _, values in kept], "hoverinfo": "x+name", "colour": place % PALETTE}
              for place, stage in enumerate(stages)]
    return {
        "description": f"Counters that differ, relative to {stages[0]['stage']}'s.",
        "height": 120 + len(kept) * (14 + 9 * len(stages)),
        "data": traces,
        "layout": layout({"title": {"text": f"relative to {escape(stages[0]['stage'])}"}, "automargin": True},
                         {"autorange": "reversed", "automargin": True, "type": "category"}, barmode="group", legend_below=True),
    }
