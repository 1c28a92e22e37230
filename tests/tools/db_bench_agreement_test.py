"""db_bench's tickers and the driver's counts on the same databases: both ask keys that are not
there, each its own, so the filters' rates agree up to chance, and every lookup comes to as many
filters. Usage: db_bench_agreement_test.py DRIVER DB_BENCH"""

import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

NUM = 100000
LOOKUPS = 20000
POLICIES = ["bloomfilter:6", "ribbonfilter:6:-1", "cuckoofilter:5"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def ticker(output, name):
    return int(re.search(rf"^rocksdb\.{re.escape(name)} COUNT : (\d+)", output, re.M).group(1))


def main():
    driver, db_bench = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        # The keys that db_bench makes of numbers: eight big-endian bytes, filled up with zeros; a
        # missing one has a zero more.
        for name, zeros in (("keys", "30" * 8), ("absent", "30" * 9)):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                # The last one with a zero more would lie behind all keys.
                file.writelines(f"{number:016x}{zeros}\n" for number in range(NUM - (name != "keys")))
        path = os.path.join(folder, "result.json")
        run([driver, f"--key_file={folder}/keys", f"--absent_key_file={folder}/absent",
             "--key_encoding=hex", f"--lookups={LOOKUPS}", f"--policies={' '.join(POLICIES)}",
             "--baseline=false", "--keep_db", f"--db={folder}/db", f"--json={path}",
             "--verify_keys=false"])
        with open(path, encoding="utf-8") as file:
            policies = json.load(file)["policies"]
        assert [policy["requested"] for policy in policies] == POLICIES
        for number, policy in enumerate(policies):
            databases = glob.glob(f"{folder}/db/*/seed-1-policy-{number}.*")
            assert len(databases) == 1, databases
            output = run([db_bench, f"--db={databases[0]}", "--use_existing_db", "--readonly",
                          "--benchmarks=readmissing", f"--num={NUM}", f"--reads={LOOKUPS}",
                          "--num_levels=5", "--seed=1", "--statistics", "--compression_type=none",
                          f"--filter_policy={policy['requested']}", "--cache_size=1"])
            assert f"(0 of {LOOKUPS} found)" in output, output
            positive = ticker(output, "bloom.filter.full.positive")
            checks = ticker(output, "bloom.filter.useful") + positive
            # Few lookups fall outside of a small file's range.
            assert abs(checks / policy["filter_checks"] - 1) < 0.005, (checks, policy)
            assert ticker(output, "block.cache.data.miss") >= positive
            rate = policy["false_positives"] / policy["filter_checks"]
            sigma = math.sqrt(rate * (1 / checks + 1 / policy["filter_checks"]))
            print(f"{policy['requested']}: {positive} of {checks} by db_bench's tickers, "
                  f"{policy['false_positives']} of {policy['filter_checks']} by the driver")
            assert abs(positive / checks - rate) < 5 * sigma, (positive, checks, policy)


if __name__ == "__main__":
    main()
