"""The parts of tools/comparisons that need no database. Usage: comparisons_test.py ROOT"""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "tools/comparisons"))

import db_bench_compare  # noqa: E402
import machine  # noqa: E402
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
