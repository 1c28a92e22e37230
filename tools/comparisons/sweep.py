"""Wasted reads against filter memory, for seven kinds of filter policy on one tree.

Every point of the sweep is one run of cold_lookup_bench with its own database, which is removed
afterwards. A point's JSON is kept, so that an interrupted sweep goes on where it stopped. Reads are
counted, which two runs at a time do not disturb; the points at 10 bits per key, whose times are
reported as well, run alone. What compactions cost is measured by db_bench on a smaller tree.

Exit status 1 if a run is not valid, or if measured false positives lie outside of the interval that
was predicted from the stored filters: the points are listed, and no result is written.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import machine
import sweep_page
from db_bench_tree import Loader, Shape, ToolError, compaction_cpu

BITS = [2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20]
TIMED_BITS = 10
# RocksDB's own Ribbon parameter means "as good as so many bits of Bloom"; it stores about 70% of
# it. The points are drawn where they really are.
RIBBON_PARAMETER = 1 / 0.7

# Kind: how it is called, the policy for the driver at so many bits per key, the fewest bits.
KINDS = {
    "stock Bloom": (lambda bits, shape: f"bloomfilter:{bits}", 2),
    "stock Ribbon": (lambda bits, shape: f"ribbonfilter:{bits * RIBBON_PARAMETER:.3f}:-1", 2),
    "Bloom by level": (lambda bits, shape: f"per-level-bloom:{bits}", 2),
    "Ribbon by level": (lambda bits, shape: f"per-level-ribbon:{bits}", 2),
    "cuckoo everywhere": (lambda bits, shape: f"cuckoofilter:{bits}", 4),
    "cuckoo by level": (lambda bits, shape: f"per-level-cuckoo:{bits}", 2),
    "best mix by budget": (lambda bits, shape:
                           f"tieredfilter:budget:{bits},kinds:bloom+ribbon+cuckoo,shape:{shape}",
                           2),
}
# The same kinds on the tree that db_bench compacts, which has a shape of its own.
COMPACTED = {
    "stock Bloom": "bloomfilter:10",
    "stock Ribbon": "ribbonfilter:14.286:-1",
    "Bloom by level": "tieredfilter:budget:10,kinds:bloom,shape:SHAPE",
    "Ribbon by level": "tieredfilter:budget:10,kinds:ribbon,shape:SHAPE",
    "cuckoo everywhere": "cuckoofilter:10",
    "cuckoo by level": "tieredfilter:budget:10,kinds:cuckoo,shape:SHAPE",
    "best mix by budget": "tieredfilter:budget:10,kinds:bloom+ribbon+cuckoo,shape:SHAPE",
}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tools/sweep.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build_dir", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--num", type=int, default=10000000, help="keys (default: %(default)s)")
    parser.add_argument("--lookups", type=int, default=100000,
                        help="of absent keys, for each point (default: %(default)s)")
    parser.add_argument("--bits", default=",".join(map(str, BITS)),
                        help="bits per key (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--parallel", type=int, default=os.cpu_count(),
                        help="runs at a time (default: one for each CPU)")
    parser.add_argument("--compaction_num", type=int, default=1000000,
                        help="keys of the tree that db_bench compacts; 0: leave that out "
                        "(default: %(default)s)")
    parser.add_argument("--compaction_runs", type=int, default=5,
                        help="compactions of each kind (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="a small tree, few points, nothing about compactions")
    parser.add_argument("--results", default="", metavar="PREFIX",
                        help="write PREFIX.html and PREFIX.json (default: sweep/sweep in the build "
                        "folder)")
    parser.add_argument("--work", default="", help="folder for points and databases, on a disk "
                        "(default: sweep in the build folder)")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.num, arguments.lookups, arguments.bits = 50000, 5000, "4,10"
        arguments.compaction_num = 0
    try:
        arguments.bits = [int(bits) for bits in arguments.bits.split(",")]
    except ValueError:
        parser.error("--bits: whole numbers, separated by commas")
    if not all(2 <= bits <= 20 for bits in arguments.bits):
        parser.error("--bits: each between 2 and 20")
    if arguments.parallel < 1 or arguments.compaction_runs < 1:
        parser.error("--parallel and --compaction_runs start at 1")
    arguments.work = arguments.work or os.path.join(arguments.build_dir, "sweep")
    arguments.results = arguments.results or os.path.join(arguments.work, "sweep")
    return arguments


class Points:
    """Runs the driver for one policy, or takes what an earlier run left."""

    def __init__(self, arguments):
        self.driver = os.path.join(arguments.build_dir, "tools/cold_lookup_bench/cold_lookup_bench")
        self.flags = [f"--num={arguments.num}", f"--lookups={arguments.lookups}",
                      f"--seed={arguments.seed}", "--key_size=16", "--value_size=100",
                      "--level0_files=4", "--max_bytes_for_level_multiplier=10",
                      "--baseline=false", "--verify_keys=false", "--per_level=false"]
        # Points of other flags, or of another build of the driver, are other points.
        with open(self.driver, "rb") as binary:
            digest = hashlib.sha256(binary.read() + "\0".join(self.flags).encode())
        self.folder = pathlib.Path(arguments.work, "points-" + digest.hexdigest()[:16])
        self.folder.mkdir(parents=True, exist_ok=True)
        self.databases = pathlib.Path(arguments.work, "databases")

    def get(self, policy):
        path = self.folder / (hashlib.sha256(policy.encode()).hexdigest()[:16] + ".json")
        if not self.is_whole(path, policy):
            databases = self.databases / path.stem
            shutil.rmtree(databases, ignore_errors=True)
            done = subprocess.run(
                [self.driver, *self.flags, f"--policies={policy}", f"--json={path}",
                 f"--db={databases}"],
                capture_output=True, text=True, check=False)
            shutil.rmtree(databases, ignore_errors=True)
            if done.returncode != 0 or not self.is_whole(path, policy):
                path.unlink(missing_ok=True)
                raise ToolError(f"{policy}: cold_lookup_bench ends with {done.returncode}\n"
                                f"{done.stdout}{done.stderr}")
        return json.loads(path.read_text())

    @staticmethod
    def is_whole(path, policy):
        try:
            result = json.loads(path.read_text())
        except (OSError, ValueError):
            return False
        return result["valid"] and [p["requested"] for p in result["policies"]] == [policy]


def shape_of(result):
    """The tree as the property `shape` of a budget policy has it."""
    levels = {level["level"]: level for level in result["shape"]["levels"]}
    level0 = levels.pop(0)
    return f"{level0['files']}x{level0['entries'] // level0['files']}+" + "+".join(
        str(level["entries"]) for level in levels.values())


def point_json(kind, bits, result, baseline):
    """What the sweep's page and file say about one point."""
    policy = result["policies"][0]
    lookups = policy["lookups"]
    expected = policy["expected_false_positives"]
    point = {
        "kind": kind, "bits": bits, "policy": policy["requested"], "spec": policy["spec"],
        "filter_bytes": policy["filter_bytes"],
        "filter_bits_per_key": policy["filter_bits_per_key"],
        "lookups": lookups,
        "wasted_reads_per_1000": 1000 * policy["wasted_data_block_reads"] / lookups,
        "reads_avoided": baseline["data_block_reads"] - policy["data_block_reads"],
        "false_positives": policy["false_positives"],
        "expected_false_positives": expected,
        "stored": {level["level"]: level["stored"] for level in policy["levels"]},
    }
    if bits == TIMED_BITS:
        point["cpu_us_per_lookup"] = policy["cpu_us_per_lookup"]
        # Most lookups read nothing, so that the median is one that memory answered.
        point["lookups_per_second_from_memory"] = 1e6 / policy["latency_us"]["p50"]
        if "filter_build" in policy:
            point["filter_build"] = policy["filter_build"]
    return point


def disagreements(points):
    """Points whose false positives lie outside of the predicted interval, as sentences."""
    outside = []
    for point in points:
        expected = point["expected_false_positives"]
        if expected is None:
            outside.append(f"{point['policy']}: nothing was predicted")
        elif not expected["low"] <= point["false_positives"] <= expected["high"]:
            outside.append(f"{point['policy']}: {point['false_positives']} false positives, where "
                           f"{expected['low']:.1f} to {expected['high']:.1f} were predicted")
    return outside


def measure_points(arguments, points):
    """All points, the timed ones alone and first, the others several at a time."""
    machine.say("without filters")
    baseline = points.get("none")
    shape = shape_of(baseline)
    wanted = [(kind, bits, policy(bits, shape)) for kind, (policy, fewest) in KINDS.items()
              for bits in arguments.bits if bits >= fewest]
    results = {}
    done = 0

    def progress(policy):
        nonlocal done
        done += 1
        machine.say(f"{done} of {len(wanted)}: {policy}")

    for kind, bits, policy in wanted:
        if bits == TIMED_BITS:
            results[policy] = points.get(policy)
            progress(policy)
    with concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
        running = {pool.submit(points.get, policy): policy
                   for _, bits, policy in wanted if bits != TIMED_BITS}
        try:
            for future in concurrent.futures.as_completed(running):
                results[running[future]] = future.result()
                progress(running[future])
        except ToolError:
            pool.shutdown(cancel_futures=True)
            raise
    for policy, result in results.items():
        if result["shape"]["fingerprint"] != baseline["shape"]["fingerprint"]:
            raise ToolError(f"{policy}: not the same tree as without filters")
    return baseline, [point_json(kind, bits, results[policy], baseline["policies"][0])
                      for kind, bits, policy in wanted]


def measure_compactions(arguments):
    """CPU time of compacting the whole tree into its last level, by kind; medians of interleaved
    runs."""
    shape = Shape(arguments.compaction_num, 16, 100, arguments.seed)
    loader = Loader(os.path.join(arguments.build_dir, "db_bench_patches/db_bench"), shape)
    folder = os.path.join(arguments.work, "compactions")
    times = {kind: [] for kind in COMPACTED}
    try:
        os.makedirs(folder, exist_ok=True)
        for number, (kind, policy) in enumerate(COMPACTED.items()):
            machine.say(f"loading a tree to compact: {kind}")
            loader.load(policy.replace("SHAPE", shape.spec()), os.path.join(folder, str(number)))
        for run_number in range(arguments.compaction_runs):
            machine.say(f"compactions, run {run_number + 1} of {arguments.compaction_runs}")
            for number, (kind, policy) in enumerate(COMPACTED.items()):
                times[kind].append(compaction_cpu(
                    loader, policy.replace("SHAPE", shape.spec()),
                    os.path.join(folder, str(number))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    medians = {kind: statistics.median(values) for kind, values in times.items()}
    return {
        "entries": sum(keys for _, keys in shape.keys()), "runs": arguments.compaction_runs,
        "cpu_seconds": medians,
        "of_stock_bloom": {kind: value / medians["stock Bloom"] for kind, value in medians.items()},
    }


def sweep(arguments):
    about = machine.describe()
    baseline, points = measure_points(arguments, Points(arguments))
    outside = disagreements(points)
    if outside:
        raise ToolError("\n  ".join(["prediction and measurement do not agree:"] + outside))
    # Nothing of where this machine keeps its files.
    run = dict(baseline["run"])
    run["flags"] = {name: value for name, value in run["flags"].items()
                    if name not in ("policies", "db", "json", "html", "csv")}
    result = {
        "tool": "sweep", "machine": about, "parallel": arguments.parallel,
        "run": run, "shape": baseline["shape"],
        "wasted_reads_per_1000_without_filters":
            1000 * baseline["policies"][0]["wasted_data_block_reads_per_lookup"],
        "points": points,
        "compactions": measure_compactions(arguments) if arguments.compaction_num else None,
    }
    machine.write_json(f"{arguments.results}.json", result)
    machine.write_whole(f"{arguments.results}.html", sweep_page.render(result))
    return len(points)


def main():
    arguments = parse_arguments()
    try:
        count = sweep(arguments)
    except (ToolError, OSError) as error:
        machine.say(f"error: {error}")
        return 1
    print(f"{count} points, all within the predicted interval; {arguments.results}.html and "
          f"{arguments.results}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
