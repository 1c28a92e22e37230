"""The parts of tools/comparisons that need no database. Usage: comparisons_test.py ROOT"""

import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(ROOT / "tools/comparisons"), str(ROOT / "tools/key_sets")]

import db_bench_compare  # noqa: E402
import machine  # noqa: E402
import make_absent_paths  # noqa: E402
import rate_table  # noqa: E402
import sweep  # noqa: E402
import sweep_page  # noqa: E402
from db_bench_tree import Shape, ToolError, Tree  # noqa: E402


class Contender:
    def __init__(self, files):
        self.policy = "policy"
        self.tree = Tree(files, 0, 0)


class CompareTest(unittest.TestCase):
    def test_other_trees_are_refused(self):
        one = Contender([(0, 10), (1, 100)])
        db_bench_compare.refuse_other_trees([one, Contender([(0, 10), (1, 100)])])
        for files in ([(0, 10), (1, 99)], [(0, 10), (2, 100)], [(0, 10), (1, 50), (1, 50)]):
            with self.assertRaisesRegex(ToolError, "not the same tree"):
                db_bench_compare.refuse_other_trees([one, Contender(files)])

    def test_other_counts_are_refused(self):
        tickers = {"useful": 9900, "positive": 100, "true_positive": 0}
        for positives in (100, 70, 140):
            db_bench_compare.refuse_other_counts(
                "p", tickers, {"filter_checks": 10000, "false_positives": positives})
        for positives in (30, 200):
            with self.assertRaisesRegex(ToolError, "by cold_lookup_bench"):
                db_bench_compare.refuse_other_counts(
                    "p", tickers, {"filter_checks": 10000, "false_positives": positives})

    def test_shape(self):
        shape = Shape(1000000, 16, 100, 1)
        self.assertEqual(shape.spec(), "4x250+10000+100000+1000000")
        self.assertEqual(len(shape.keys()), 7)

    def test_missing_figures_are_refused(self):
        speed = "readmissing  :  3.057 micros/op 312783 ops/sec 0.064 seconds 20000 operations; (0"
        with self.assertRaisesRegex(ToolError, "no ticker"):
            db_bench_compare.parse_benchmark("readmissing", speed)
        with self.assertRaisesRegex(ToolError, "nothing about seekrandom"):
            db_bench_compare.parse_benchmark("seekrandom", speed)


def point(kind, bits, wasted, measured=10, low=5.0, high=15.0):
    return {"kind": kind, "bits": bits, "policy": f"{kind}:{bits}", "filter_bytes": 1,
            "filter_bits_per_key": bits, "wasted_reads_per_1000": wasted, "reads_avoided": 1,
            "false_positives": measured, "stored": {0: "bloom"},
            "expected_false_positives": {"low": low, "high": high}}


class SweepTest(unittest.TestCase):
    def test_a_count_outside_of_its_interval_is_named(self):
        points = [point("a", 4, 1), point("a", 8, 1, measured=4), point("a", 10, 1, measured=16),
                  point("b", 4, 1, measured=15)]
        outside = sweep.disagreements(points)
        self.assertEqual([line.split(":")[1] for line in outside], ["8", "10"])
        points[0]["expected_false_positives"] = None
        self.assertEqual(len(sweep.disagreements(points)), 3)

    def test_shape(self):
        result = {"shape": {"levels": [{"level": 0, "files": 4, "entries": 40},
                                       {"level": 3, "files": 1, "entries": 77}]}}
        self.assertEqual(sweep.shape_of(result), "4x10+77")

    def test_bits_for_equal_reads(self):
        # Ten times fewer reads for every two bits.
        points = [(2, 1000), (4, 100), (6, 10), (8, 0)]
        self.assertAlmostEqual(sweep_page.bits_for(points, 100), 4)
        self.assertAlmostEqual(sweep_page.bits_for(points, 10**1.5), 5)
        self.assertEqual(sweep_page.bits_for(points, 5), 8)
        self.assertIsNone(sweep_page.bits_for(points, 2000))

    def test_page(self):
        result = {"machine": machine.describe(), "parallel": 2, "compactions": None,
                  "wasted_reads_per_1000_without_filters": 8000,
                  "run": {"rocksdb_version": "1", "tool_version": "2", "compiler": "<3>",
                          "flags": {"num": "5"}},
                  "shape": {"levels": [{"level": 0, "files": 4, "entries": 40}]},
                  "points": [point("stock Bloom", 10, 77), point("other", 10, 0),
                             point("other", 4, 200)]}
        page = sweep_page.render(result)
        self.assertIn("77.0 are left with stock Bloom", page)
        self.assertIn("&lt;3&gt;", page)
        self.assertEqual(page.count("<polyline"), 2)
        self.assertNotIn("http", page)


class RateTableTest(unittest.TestCase):
    def test_ratios_are_to_bloom_of_the_same_rate(self):
        results = []
        for number, rate in enumerate(rate_table.RATES):
            for kind, factor in zip(rate_table.KINDS, (1, 2, 0.5)):
                size = factor * (number + 1)
                results.append({"filter": f"{kind}:{rate}", "keys": 8000000, "fpr": 0.01,
                                "bits_per_key": size, "build_ns_per_key": size,
                                "many": {"negative": {"ns": size}, "positive": {"ns": size}}})
        rows = rate_table.rows_of({"results": results})
        self.assertEqual([row["megabytes"] for row in rows], [1, 2, 0.5, 2, 4, 1])
        for row, percent in zip(rows, [0, 100, -50] * 2):
            self.assertEqual(set(row["against_bloom_percent"].values()), {percent})


class AbsentPathsTest(unittest.TestCase):
    def test_absent_and_plausible(self):
        present = sorted(f"usr/{folder:02}/{folder * name % 7}{name}" for folder in range(40)
                         for name in range(50))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "paths")
            path.write_text("".join(line + "\n" for line in present))
            made = {path.decode() for path in make_absent_paths.make(path, 500, 1)}
            self.assertEqual(made, {path.decode()
                                    for path in make_absent_paths.make(path, 500, 1)})
            with self.assertRaisesRegex(ValueError, "too few"):
                make_absent_paths.make(path, 1001, 1)
        self.assertGreater(len(made), 250)
        self.assertFalse(made & set(present))
        folders = {line.rpartition("/")[0] for line in present}
        names = {line.rpartition("/")[2] for line in present}
        for line in made:
            self.assertTrue(present[0] < line < present[-1])
            self.assertIn(line.rpartition("/")[0], folders)
            self.assertIn(line.rpartition("/")[2], names)


class ResultsTest(unittest.TestCase):
    def test_results_are_whole_and_name_no_folder_of_a_machine(self):
        results = sorted((ROOT / "tools/results").iterdir())
        self.assertTrue(results)
        for path in results:
            text = path.read_text()
            self.assertNotRegex(text, r"[ \"'=](/tmp|/var|/home|/root)/", path.name)
            if path.suffix == ".json":
                about = json.loads(text)
                self.assertTrue(about.get("machine") or about["run"]["cpu"], path.name)


class WriteTest(unittest.TestCase):
    def test_no_half_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "new", "result.json")
            machine.write_json(path, {"a": 1})
            with self.assertRaises(TypeError):
                machine.write_json(path, {"a": object()})
            self.assertEqual(path.read_text(), '{\n  "a": 1\n}\n')
            self.assertEqual([path], list(path.parent.iterdir()))


if __name__ == "__main__":
    unittest.main()
