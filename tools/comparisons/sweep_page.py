"""The sweep as one HTML page without outside resources."""

import html
import math

import machine

STYLE = """
:root { color-scheme: light dark; --text: #1c1f23; --page: #fff; --line: #d5d9de; --soft: #5d6670;
  --c0: #1f6fb2; --c1: #c4560a; --c2: #0e8fa0; --c3: #b8860b; --c4: #8e44ad; --c5: #18794e;
  --c6: #b3264f; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8ea; --page: #16191d; --line: #3a4149; --soft: #a2abb4; --c0: #6ab0ee;
    --c1: #f39a57; --c2: #5fd0de; --c3: #e6c05a; --c4: #cf98e6; --c5: #5fce98; --c6: #f080a0; } }
@media print { :root { --text: #000; --page: #fff; --line: #bbb; --soft: #444; }
  svg, tr { break-inside: avoid; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  margin: 0 auto; padding: 1rem; max-width: 60rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.lead { font-size: 1.1rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { min-width: 4.5rem; text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
summary { cursor: pointer; }
ul.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 13px; }
@media (max-width: 40rem) { svg text { font-size: 19px; } }
svg .grid { stroke: var(--line); } svg polyline { fill: none; stroke-width: 2; }
"""
# Shapes beside colours, for colour-blind readers and grey print.
MARKERS = ["●", "■", "▲", "▼", "◆", "★", "✚"]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 760, 460, 76, 44, 12


def render(result):
    kinds = list(dict.fromkeys(point["kind"] for point in result["points"]))
    parts = [
        "<h1>Wasted reads against filter memory</h1>", lead(result, kinds),
        "<p>Each point is a run of its own on the same tree: so many lookups of keys that are not "
        "there, counted by the data blocks they read in vain. One step of the scale is a factor "
        "of ten. Further left is less memory, further down fewer reads.</p>",
        chart(result, kinds), legend(kinds), "<h2>The same reads, and what it costs</h2>",
        cost_table(result, kinds), "<h2>All points</h2>", points_table(result), settings(result),
    ]
    return ("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            f"<title>Wasted reads against filter memory</title>\n<style>{STYLE}</style>\n"
            "</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n")


def curve(result, kind):
    """(bits per key, wasted reads per 1000) of a kind, by bits."""
    return sorted((point["filter_bits_per_key"], point["wasted_reads_per_1000"])
                  for point in result["points"] if point["kind"] == kind)


def bits_for(points, wasted):
    """The bits per key at which a curve falls to so many wasted reads, between its points along a
    straight line on the chart; None where it does not get there or starts below."""
    for (bits_a, wasted_a), (bits_b, wasted_b) in zip(points, points[1:]):
        if wasted_a > wasted >= wasted_b:
            if wasted_b <= 0:
                return bits_b
            share = math.log(wasted_a / wasted) / math.log(wasted_a / wasted_b)
            return bits_a + share * (bits_b - bits_a)
    return None


def stock_bloom_at_10(result):
    for point in result["points"]:
        if point["kind"] == "stock Bloom" and point["bits"] == 10:
            return point["wasted_reads_per_1000"]
    return None


def lead(result, kinds):
    """What the page comes to, in a sentence."""
    reference = stock_bloom_at_10(result)
    if reference is None:
        return ""
    at_10 = {point["kind"]: point["wasted_reads_per_1000"] for point in result["points"]
             if point["bits"] == 10}
    rest = "; ".join(f"{short(at_10[kind])} with {kind}" for kind in kinds
                     if kind in at_10 and kind != "stock Bloom")
    without = result["wasted_reads_per_1000_without_filters"]
    return (f"<p class=\"lead\">Of 1000 lookups of absent keys, {without:.0f} reads are in vain "
            f"without filters. With 10 bits per key {short(reference)} are left with stock Bloom; "
            f"{html.escape(rest)}.</p>")


def short(value):
    return f"{value:.1f}" if value >= 10 else f"{value:.2g}"


def chart(result, kinds):
    curves = {kind: curve(result, kind) for kind in kinds}
    positive = [wasted for points in curves.values() for _, wasted in points if wasted > 0]
    low = math.floor(math.log10(min(positive))) if positive else 0
    high = math.ceil(math.log10(max(positive))) if positive else 1
    high = max(high, low + 1)
    most_bits = max(bits for points in curves.values() for bits, _ in points)
    last = 2 * math.ceil(most_bits / 2)

    def x_of(bits):
        return LEFT + bits / last * (WIDTH - LEFT - 16)

    def y_of(wasted):
        # No read at all has no place on a logarithmic scale; it is drawn at the lower edge.
        power = low if wasted <= 0 else math.log10(wasted)
        return TOP + (high - power) / (high - low) * (HEIGHT - TOP - BOTTOM)

    svg = [f"<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" "
           "aria-label=\"wasted reads per 1000 lookups by filter bits per key\">"]
    for power in range(low, high + 1):
        y = y_of(10.0**power)
        svg.append(f"<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH - 16}\" y1=\"{y:.1f}\" "
                   f"y2=\"{y:.1f}\"/><text x=\"{LEFT - 8}\" y=\"{y + 4:.1f}\" "
                   f"text-anchor=\"end\">{10.0**power:g}</text>")
    for bits in range(0, last + 1, 2):
        svg.append(f"<text x=\"{x_of(bits):.1f}\" y=\"{HEIGHT - BOTTOM + 18}\" "
                   f"text-anchor=\"middle\">{bits}</text>")
    svg.append(f"<text x=\"{(LEFT + WIDTH) / 2:.0f}\" y=\"{HEIGHT - 6}\" text-anchor=\"middle\">"
               "filter bits per key, as stored</text>")
    for number, points in enumerate(curves.values()):
        path = " ".join(f"{x_of(bits):.1f},{y_of(wasted):.1f}" for bits, wasted in points)
        svg.append(f"<polyline points=\"{path}\" style=\"stroke: var(--c{number})\"/>")
        for bits, wasted in points:
            svg.append(f"<text x=\"{x_of(bits):.1f}\" y=\"{y_of(wasted) + 4.5:.1f}\" "
                       f"text-anchor=\"middle\" style=\"fill: var(--c{number})\">"
                       f"{MARKERS[number]}<title>{bits:.2f} bits, {short(wasted)} per 1000</title>"
                       "</text>")
    return "\n".join(svg + ["</svg>"])


def legend(kinds):
    return "<ul class=\"legend\">" + "".join(
        f"<li><span style=\"color: var(--c{number})\">{MARKERS[number]}</span> "
        f"{html.escape(kind)}</li>" for number, kind in enumerate(kinds)) + "</ul>"


def table(head, rows):
    lines = ["<div class=\"wide\"><table>"]
    for cell, row in [("th", head)] + [("td", row) for row in rows]:
        lines.append("<tr>" + "".join(f"<{cell}>{html.escape(str(text))}</{cell}>"
                                      for text in row) + "</tr>")
    return "\n".join(lines + ["</table></div>"])


def cost_table(result, kinds):
    reference = stock_bloom_at_10(result)
    compactions = result["compactions"]
    timed = {point["kind"]: point for point in result["points"] if "cpu_us_per_lookup" in point}
    rows = []
    for kind in kinds:
        bits = bits_for(curve(result, kind), reference) if reference is not None else None
        row = [kind, "-" if bits is None else f"{bits:.2f}"]
        point = timed.get(kind)
        row += (["-"] * 3 if point is None else
                [f"{point['cpu_us_per_lookup']:.2f}",
                 f"{point['lookups_per_second_from_memory']:.0f}", build_cost(point)])
        row.append("-" if compactions is None else
                   f"{compactions['cpu_seconds'][kind]:.2f} s, "
                   f"{compactions['of_stock_bloom'][kind]:.2f}")
        rows.append(row)
    note = ("<p>Times are at 10 bits per key, one run at a time. \"From memory\": the median "
            "lookup, which reads nothing. ")
    if compactions is not None:
        note += (f"Compaction: {compactions['entries']} keys into the last level by db_bench, "
                 f"median of {compactions['runs']}.")
    return table(["kind", "bits per key for the reads of stock Bloom with 10",
                  "CPU µs per lookup", "lookups per second from memory",
                  "filter build, CPU ns per key", "compaction CPU, and of stock Bloom's"],
                 rows) + note + "</p>"


def build_cost(point):
    build = point.get("filter_build") or {}
    cost = build.get("cpu_ns_per_key")
    return "-" if cost is None else f"{cost:.0f}"


def points_table(result):
    rows = []
    for point in result["points"]:
        expected = point["expected_false_positives"]
        stored = ", ".join(f"L{level} {what}" for level, what in point["stored"].items())
        rows.append([point["kind"], f"{point['filter_bits_per_key']:.3f}", point["filter_bytes"],
                     short(point["wasted_reads_per_1000"]), point["reads_avoided"],
                     point["false_positives"],
                     f"{expected['low']:.1f} to {expected['high']:.1f}", stored])
    return ("<p>Predicted: from the stored filters alone; chance leaves the interval once in "
            "a thousand points.</p>" +
            table(["kind", "bits per key", "filter bytes", "wasted reads per 1000",
                   "reads avoided", "false positives", "predicted", "stored filters"], rows))


def settings(result):
    run = result["run"]
    levels = ", ".join(f"L{level['level']} {level['entries']} keys in {level['files']} files"
                       for level in result["shape"]["levels"])
    rows = [["machine", machine.as_text(result["machine"])], ["RocksDB", run["rocksdb_version"]],
            ["tieredfilter", run["tool_version"]], ["compiler", run["compiler"]],
            ["tree", levels], ["runs at a time", f"{result['parallel']}, one where times count"]]
    rows += [["--" + name, value] for name, value in run["flags"].items()]
    return "<h2>Settings</h2>" + table(["", ""], rows)
