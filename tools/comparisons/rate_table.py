"""Bloom against cuckoo and Ribbon at the same false-positive rate: memory, insert time, query time.

All filters are built and asked by filter_bench in one process, interleaved; RocksDB's own code is
compiled with the same flags. Query times are of filters so many that they do not fit the caches, as
a database's do not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import machine

KINDS = {"bloom": "Bloom (RocksDB)", "ribbon": "Ribbon (RocksDB)", "cuckoo-equations": "cuckoo"}
RATES = ["1%", "0.1%"]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tools/rate_table.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter_bench", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--keys", default="10m", help="keys of a filter (default: %(default)s)")
    parser.add_argument("--reps", type=int, default=5,
                        help="interleaved repetitions (default: %(default)s)")
    parser.add_argument("--results", default="", metavar="PREFIX",
                        help="write PREFIX.txt and PREFIX.json")
    return parser.parse_args()


def measure(arguments):
    filters = ",".join(f"{kind}:{rate}" for rate in RATES for kind in KINDS)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        subprocess.run([arguments.filter_bench, f"--keys={arguments.keys}",
                        f"--filters={filters}", "--patterns=many", f"--reps={arguments.reps}",
                        f"--json={path}"], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def rows_of(result):
    """One row for each rate and kind, with what it is relative to Bloom of the same rate."""
    measured = {entry["filter"]: entry for entry in result["results"]}
    rows = []
    for rate in RATES:
        bloom = None
        for kind, name in KINDS.items():
            entry = measured[f"{kind}:{rate}"]
            row = {
                "rate": rate, "filter": name, "false_positive_percent": 100 * entry["fpr"],
                "bits_per_key": entry["bits_per_key"],
                "megabytes": entry["bits_per_key"] * entry["keys"] / 8e6,
                "insert_ns_per_key": entry["build_ns_per_key"],
                "query_absent_ns": entry["many"]["negative"]["ns"],
                "query_present_ns": entry["many"]["positive"]["ns"],
            }
            bloom = bloom or row
            row["against_bloom_percent"] = {
                key: 100 * (row[key] / bloom[key] - 1)
                for key in ("megabytes", "insert_ns_per_key", "query_absent_ns",
                            "query_present_ns")}
            rows.append(row)
    return rows


def as_text(run, keys, rows):
    lines = [
        f"Filters of {keys} keys at equal false-positive rates, on {run['cpu']} "
        f"({run['cpus']} CPUs), {run['kernel']}, {run['time']}, load average "
        f"{float(run['load_average']):.1f}",
        f"filters of RocksDB {run['rocksdb_version']} and of tieredfilter "
        f"{run['tieredfilter_version']}, both {run['compiler']} {run['cxx_flags']}; medians of "
        f"{run['repetitions']} interleaved repetitions; seed {run['seed']}",
        "Against Bloom of the same rate in parentheses; lower is better.",
        "",
    ]
    table = [["rate", "filter", "measured", "bits/key", "memory MB", "insert ns/key",
              "query ns, absent", "query ns, present"]]
    for row in rows:
        against = row["against_bloom_percent"]

        def cell(key, digits):
            return f"{row[key]:.{digits}f} ({against[key]:+.1f}%)"
        table.append([row["rate"], row["filter"], f"{row['false_positive_percent']:.3f}%",
                      f"{row['bits_per_key']:.2f}", cell("megabytes", 2),
                      cell("insert_ns_per_key", 1), cell("query_absent_ns", 1),
                      cell("query_present_ns", 1)])
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines += ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
              for row in table]
    if run["warnings"]:
        lines += [""] + [f"Warning: {warning}" for warning in run["warnings"]]
    return "\n".join(lines) + "\n"


def main():
    arguments = parse_arguments()
    try:
        result = measure(arguments)
        rows = rows_of(result)
        text = as_text(result["run"], result["results"][0]["keys"], rows)
        if arguments.results:
            machine.write_json(f"{arguments.results}.json",
                               {"tool": "rate_table", "run": result["run"], "rows": rows})
            machine.write_whole(f"{arguments.results}.txt", text)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        machine.say(f"error: {error}")
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
