"""Compares filter policies by db_bench itself.

Every policy gets its own database with the same tree (checked: entries of every file, by level),
with auto compaction off so that it stays the same, and its bits are tuned until all filters
together take the bytes of the first policy's within 1% (checked, too). Then db_bench's read
benchmarks run interleaved: every policy once, then every policy again. The table shows medians;
the counts are db_bench's own tickers. Reads are direct and nothing but filters and indexes is held
in memory, so that a data block is read from the device each time.

cold_lookup_bench counts false positives on the same databases, of absent keys of its own; where it
does not agree with db_bench's tickers beyond chance, there is no result.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

import machine
from db_bench_tree import Loader, Shape, ToolError, run, writable_copy

# "@" is the number that is tuned; SHAPE the tree's shape, for policies that divide a budget.
DEFAULT_POLICIES = [
    "bloomfilter:10",
    "ribbonfilter:@:-1",
    "cuckoofilter:@",
    "tieredfilter:budget:@,kinds:bloom,shape:SHAPE",
    "tieredfilter:budget:@,kinds:cuckoo,shape:SHAPE",
    "tieredfilter:budget:@,kinds:bloom+ribbon+cuckoo,shape:SHAPE",
]
# With the part of --reads that each makes: where keys are found every operation reads from the
# device, a seek once for every sorted run.
BENCHMARKS = {"readmissing": 1.0, "readrandom": 0.1, "multireadrandom": 0.1, "seekrandom": 0.05,
              "readwhilewriting": 0.1}
# Lines of --statistics, by our names.
TICKERS = {
    "useful": "rocksdb.bloom.filter.useful",
    "positive": "rocksdb.bloom.filter.full.positive",
    "true_positive": "rocksdb.bloom.filter.full.true.positive",
    "data_block_reads": "rocksdb.block.cache.data.miss",
}
TOLERANCE = 0.01  # of the filter bytes
MOST_LOADS = 6  # per policy, until its bytes fit


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="tools/db_bench_compare.sh", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db_bench", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--driver", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--policies", default=" ".join(DEFAULT_POLICIES),
                        help="separated by blanks; the first one sets the filter bytes; @ is tuned "
                        "to them, SHAPE becomes the tree's shape (default: %(default)s)")
    parser.add_argument("--num", type=int, default=1000000,
                        help="keys of the last level (default: %(default)s)")
    parser.add_argument("--key_size", type=int, default=16, help="bytes (default: %(default)s)")
    parser.add_argument("--value_size", type=int, default=100, help="bytes (default: %(default)s)")
    parser.add_argument("--reads", type=int, default=100000,
                        help="operations of readmissing in each run; the others make a tenth or "
                        "less (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5,
                        help="interleaved runs (default: %(default)s)")
    parser.add_argument("--batch_size", type=int, default=32,
                        help="keys of a MultiGet (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--results", default="", metavar="PREFIX",
                        help="write PREFIX.txt and PREFIX.json")
    parser.add_argument("--db", default="", help="folder for the databases, on a disk "
                        "(default: a temporary one under /var/tmp)")
    arguments = parser.parse_args()
    arguments.policies = arguments.policies.split()
    if arguments.num < 100000:
        parser.error("--num: with fewer than 100000 keys the upper levels hold too little")
    if arguments.reads < 1 or arguments.runs < 1 or arguments.seed < 1 or not arguments.policies:
        parser.error("--reads, --runs and --seed start at 1, and there has to be a policy")
    if "@" in arguments.policies[0]:
        parser.error("--policies: the first one sets the filter bytes and needs a number for @")
    return arguments


class Contender:
    """One policy with its database."""

    def __init__(self, template, loader, path):
        self.template = template.replace("SHAPE", loader.shape.spec())
        self.loader = loader
        self.path = path
        self.policy = self.template
        self.tree = None
        self.runs = {name: [] for name in BENCHMARKS}
        self.driver_counts = None

    def load(self, wanted_bytes):
        """Loads the tree; with an @ in the policy, until the filters take `wanted_bytes`."""
        bits = 10.0
        for _ in range(MOST_LOADS):
            self.policy = self.template.replace("@", f"{bits:.3f}".rstrip("0").rstrip("."))
            self.tree = self.loader.load(self.policy, self.path)
            off = self.tree.filter_bytes / wanted_bytes if wanted_bytes else 1
            if abs(off - 1) <= TOLERANCE:
                return
            if "@" not in self.template:
                break
            bits /= off
        raise ToolError(f"{self.policy}: its filters take {self.tree.filter_bytes} bytes, not "
                        f"{wanted_bytes} within {100 * TOLERANCE:g}%: nothing to compare")

    def count_by_driver(self, arguments):
        """Filter checks and false positives of absent keys as cold_lookup_bench counts them."""
        path = f"{self.path}.json"
        run([arguments.driver, f"--existing_db={self.path}", f"--lookups={arguments.reads}",
             f"--seed={arguments.seed}", "--baseline=false", "--verify_keys=false",
             f"--json={path}"])
        with open(path, encoding="utf-8") as file:
            policy = json.load(file)["policies"][-1]
        self.driver_counts = {key: policy[key] for key in ("filter_checks", "false_positives")}

    def measure(self, name, arguments):
        path = self.path
        if name == "readwhilewriting":
            path = writable_copy(self.path)
        flags = [
            self.loader.db_bench, *self.loader.common_flags(), f"--db={path}",
            f"--filter_policy={self.policy}", "--use_existing_db", f"--benchmarks={name}",
            f"--reads={max(arguments.batch_size, int(BENCHMARKS[name] * arguments.reads))}",
            f"--batch_size={arguments.batch_size}",
            "--multiread_batched", "--use_direct_reads", "--cache_size=1", "--statistics",
            "--benchmark_write_rate_limit=1000000", "--disable_wal",
        ]
        if name != "readwhilewriting":
            flags.append("--readonly")
        output = run(flags)
        if path != self.path:
            shutil.rmtree(path)
        self.runs[name].append(parse_benchmark(name, output))


def parse_benchmark(name, output):
    speed = re.search(rf"^{name}\s*:\s*([\d.]+) micros/op (\d+) ops/sec ([\d.]+) seconds (\d+) "
                      r"operations", output, re.MULTILINE)
    if speed is None:
        raise ToolError(f"db_bench says nothing about {name}:\n{output}")
    figures = {"micros_per_op": float(speed.group(1)), "operations_per_second": int(speed.group(2)),
               "operations": int(speed.group(4))}
    for ticker, line in TICKERS.items():
        count = re.search(rf"^{re.escape(line)} COUNT : (\d+)", output, re.MULTILINE)
        if count is None:
            raise ToolError(f"db_bench shows no ticker {line}")
        figures[ticker] = int(count.group(1))
    return figures


def refuse_other_trees(contenders):
    first = contenders[0]
    for other in contenders[1:]:
        if other.tree.files != first.tree.files:
            raise ToolError(f"not the same tree, so there is nothing to compare:\n"
                            f"{first.policy}: {first.tree.as_text()}\n"
                            f"{other.policy}: {other.tree.as_text()}")


def refuse_other_counts(policy, tickers, counts):
    """Both are samples of the same filters, so their rates differ by chance alone; 5% are for keys
    that fall into the ranges of the files in other proportions."""
    checks = tickers["useful"] + tickers["positive"] - tickers["true_positive"]
    rate = tickers["positive"] / checks
    other = counts["false_positives"] / counts["filter_checks"]
    # One more of each, since a rare count could as well have been one higher.
    sigma = math.sqrt((tickers["positive"] + 1) / checks**2 +
                      (counts["false_positives"] + 1) / counts["filter_checks"]**2)
    if abs(rate - other) > 4 * sigma + 0.05 * other:
        raise ToolError(f"{policy}: {tickers['positive']} false positives of {checks} by "
                        f"db_bench's tickers, but {counts['false_positives']} of "
                        f"{counts['filter_checks']} by cold_lookup_bench")


def as_json(arguments, about, contenders):
    policies = []
    for contender in contenders:
        benchmarks = {}
        for name, runs in contender.runs.items():
            benchmarks[name] = {key: statistics.median(run[key] for run in runs)
                                for key in runs[0]}
            benchmarks[name]["runs"] = runs
        policies.append({
            "policy": contender.policy,
            "filter_bytes": contender.tree.filter_bytes,
            "filter_bits_per_key": 8 * contender.tree.filter_bytes / contender.tree.entries,
            "benchmarks": benchmarks,
            "cold_lookup_bench": contender.driver_counts,
        })
    return {
        "tool": "db_bench_compare", **about,
        "flags": {key: value for key, value in vars(arguments).items()
                  if key not in ("db_bench", "driver", "db", "results")},
        "tree": {"entries": contenders[0].tree.entries, "levels": contenders[0].tree.levels()},
        "policies": policies,
    }


def as_text(result):
    levels = ", ".join(f"L{level} {of['entries']} keys in {of['files']} files"
                       for level, of in result["tree"]["levels"].items())
    flags = result["flags"]
    operations = ", ".join(f"{result['policies'][0]['benchmarks'][name]['operations']} {name}"
                           for name in BENCHMARKS)
    lines = [
        f"db_bench of RocksDB {result['rocksdb_version']} with --filter_policy, on "
        f"{machine.as_text(result['machine'])}",
        f"The same tree for every policy: {levels}; keys of {flags['key_size']} bytes, values of "
        f"{flags['value_size']}; seed {flags['seed']}",
        f"Medians of {flags['runs']} interleaved runs, {operations}; direct reads, only "
        "filters and indexes in memory",
        "",
        "Thousands of operations per second; \"per 1000\": data blocks read per 1000 operations;",
        "false positives of absent keys by db_bench's tickers and, on the same databases, by "
        "cold_lookup_bench (\"driver\")",
        "",
    ]
    rows = [["filter bytes", "bits/key"] + [cell for name in BENCHMARKS
                                            for cell in (name, "per 1000")] +
            ["tickers", "driver", "policy"]]
    for policy in result["policies"]:
        row = [str(policy["filter_bytes"]), f"{policy['filter_bits_per_key']:.2f}"]
        for name in BENCHMARKS:
            of = policy["benchmarks"][name]
            row += [f"{of['operations_per_second'] / 1000:.1f}",
                    f"{1000 * of['data_block_reads'] / of['operations']:.1f}"]
        tickers, counts = policy["benchmarks"]["readmissing"], policy["cold_lookup_bench"]
        row.append(f"{100 * tickers['positive'] / (tickers['useful'] + tickers['positive']):.4f}%")
        row.append(f"{100 * counts['false_positives'] / counts['filter_checks']:.4f}%")
        rows.append(row + [policy["policy"]])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths)]
        lines.append("  ".join(cells + [row[-1]]))
    lines += ["", "seekrandom asks no filter here: without a prefix extractor a range has none to "
              "ask. Times depend on the disk; counts do not."]
    return "\n".join(lines) + "\n"


def compare(arguments, folder):
    shape = Shape(arguments.num, arguments.key_size, arguments.value_size, arguments.seed)
    loader = Loader(arguments.db_bench, shape)
    version = re.search(r"[\d.]+", run([arguments.db_bench, "--version"]).split("version", 1)[-1])
    about = {"rocksdb_version": version.group(0), "machine": machine.describe()}
    contenders = []
    for number, template in enumerate(arguments.policies):
        contender = Contender(template, loader, os.path.join(folder, f"policy-{number}"))
        machine.say(f"loading for {contender.template}")
        contender.load(contenders[0].tree.filter_bytes if contenders else 0)
        contenders.append(contender)
        refuse_other_trees(contenders)
        contender.count_by_driver(arguments)
    for number in range(arguments.runs):
        machine.say(f"run {number + 1} of {arguments.runs}")
        for name in BENCHMARKS:
            for contender in contenders:
                contender.measure(name, arguments)
    for contender in contenders:
        refuse_other_counts(contender.policy, contender.runs["readmissing"][0],
                            contender.driver_counts)
    return as_json(arguments, about, contenders)


def main():
    arguments = parse_arguments()
    if arguments.db:
        pathlib.Path(arguments.db).mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="db_bench_compare.",
                                         dir=arguments.db or "/var/tmp") as folder:
            result = compare(arguments, folder)
        text = as_text(result)
        if arguments.results:
            machine.write_json(f"{arguments.results}.json", result)
            machine.write_whole(f"{arguments.results}.txt", text)
    except (ToolError, OSError) as error:
        machine.say(f"error: {error}")
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
