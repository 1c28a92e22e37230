"""Loads one and the same tree with db_bench under any filter policy, and reads what the tree is."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

RATIO = 10  # keys of a level by keys of the level above
LEVEL0_FILES = 4


class ToolError(Exception):
    """A message for people; ends the run."""


def run(command):
    """Runs a command, returns its standard output; its complaints are shown when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        complaint = "\n".join(line for line in done.stderr.splitlines()
                              if not line.startswith("... finished"))
        raise ToolError(f"{' '.join(command)}: exit status {done.returncode}\n{complaint}")
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Shape:
    """Three sorted levels of ratio 10 with `num` keys in the last one, and four level-0 files."""
    num: int
    key_size: int
    value_size: int
    seed: int

    def level0_keys(self):
        return max(1, self.num // RATIO**3 // LEVEL0_FILES)

    def keys(self):
        """Keys of each sorted run, from the newest, as (level, keys)."""
        return ([(0, self.level0_keys())] * LEVEL0_FILES +
                [(level, self.num // RATIO**(3 - level)) for level in (1, 2, 3)])

    def spec(self):
        """For the property `shape` of a budget policy."""
        return f"{LEVEL0_FILES}x{self.level0_keys()}+" + "+".join(
            str(keys) for level, keys in self.keys() if level > 0)

    def write_buffer_bytes(self):
        # A run of level 1 has to be flushed as two files: with one, db_bench gives up, and of
        # three it would leave one in level 0. 60% of the run is far enough from both. A memtable
        # of the vector kind takes its keys and values, about 30 bytes more for each, and is full
        # at 7/8 of its buffer.
        run_bytes = (self.key_size + self.value_size + 30) * (self.num // RATIO**2)
        return max(64 * 1024, int(0.6 * run_bytes))


@dataclasses.dataclass
class Tree:
    """What is in a database: files as (level, entries), sorted, and its filters."""
    files: list
    filter_bytes: int
    entries: int

    def levels(self):
        totals = {}
        for level, entries in self.files:
            files, sum_of_entries = totals.get(level, (0, 0))
            totals[level] = (files + 1, sum_of_entries + entries)
        return {level: {"files": files, "entries": entries}
                for level, (files, entries) in sorted(totals.items())}

    def as_text(self):
        return ", ".join(f"L{level} {of['entries']} keys in {of['files']} files"
                         for level, of in self.levels().items())


class Loader:
    """Makes databases of one shape with one db_bench."""

    def __init__(self, db_bench, shape):
        self.db_bench = db_bench
        self.shape = shape

    def common_flags(self):
        return [
            f"--num={self.shape.num}", f"--key_size={self.shape.key_size}",
            f"--value_size={self.shape.value_size}", f"--seed={self.shape.seed}",
            "--num_levels=4", f"--max_bytes_for_level_multiplier={RATIO}",
            "--target_file_size_base=16777216", "--compression_type=none",
            "--disable_auto_compactions", "--stats_interval=0", "--open_files=-1",
        ]

    def load(self, policy, path):
        """Loads the tree into `path` under `policy`. The sorted levels are db_bench's
        deterministic fill; then level 0 gets its files by one explicit flush each."""
        shutil.rmtree(path, ignore_errors=True)
        flags = self.common_flags() + [f"--db={path}", f"--filter_policy={policy}", "--disable_wal"]
        fill = [self.db_bench, *flags, "--benchmarks=filluniquerandomdeterministic",
                f"--write_buffer_size={self.shape.write_buffer_bytes()}",
                "--memtablerep=vector", "--allow_concurrent_memtable_write=false"]
        # Two flushes that happen to become one make db_bench give up: rare, and worth another try.
        for attempt in (1, 2, 3):
            try:
                run(fill)
                break
            except ToolError as error:
                if attempt == 3 or "n is too small" not in str(error):
                    raise
        run([self.db_bench, *flags, "--use_existing_db",
             f"--benchmarks={','.join(['overwrite', 'flush'] * LEVEL0_FILES)}",
             f"--writes={self.shape.level0_keys()}"])
        return self.read(path, policy)

    def read(self, path, policy):
        """Reads levels, entries and filters from the files themselves; refuses files that carry
        another policy."""
        levels = {}
        level = None
        listing = run([self.db_bench, *self.common_flags(), f"--db={path}", "--use_existing_db",
                       "--readonly", f"--filter_policy={policy}", "--benchmarks=sstables"])
        for line in listing.splitlines():
            if match := re.match(r"--- level (\d+) ---", line):
                level = int(match.group(1))
            elif level is not None and (match := re.match(r" (\d+):\d+\[", line)):
                levels[int(match.group(1))] = level
        properties = run(["sst_dump", f"--file={path}", "--command=none", "--show_properties"])
        # The name that files carry is the policy's id without its parameters.
        name = policy.split(":")[0]
        files = []
        filter_bytes = 0
        for block in re.split(r"^Process ", properties, flags=re.MULTILINE)[1:]:
            number = int(pathlib.Path(block.splitlines()[0].strip()).stem)
            entries = int(re.search(r"# entries: (\d+)", block).group(1))
            filter_bytes += int(re.search(r"filter block size: (\d+)", block).group(1))
            written = re.search(r"filter policy name: (\S+)", block)
            if written is None or written.group(1) != name:
                raise ToolError(f"{path}: file {number} does not carry {name}")
            files.append((levels[number], entries))
        if len(files) != len(levels):
            raise ToolError(f"{path}: {len(levels)} files in the tree, {len(files)} on disk")
        return Tree(sorted(files), filter_bytes, sum(entries for _, entries in files))


def writable_copy(path):
    """The same tree in another folder, to be written to: links to the table files, which are never
    changed, and copies of the rest."""
    copy = f"{path}.written"
    shutil.rmtree(copy, ignore_errors=True)

    def link_or_copy(source, target):
        if source.endswith(".sst"):
            os.link(source, target)
        else:
            shutil.copy2(source, target)
    shutil.copytree(path, copy, copy_function=link_or_copy)
    return copy


def compaction_cpu(loader, policy, path):
    """CPU seconds of compacting a copy of the tree in `path` into its last level."""
    copy = writable_copy(path)
    output = run([loader.db_bench, *loader.common_flags(), f"--db={copy}", "--use_existing_db",
                  f"--filter_policy={policy}", "--benchmarks=compact", "--statistics"])
    shutil.rmtree(copy)
    micros = re.search(r"^rocksdb.compaction.times.cpu_micros .* COUNT : (\d+) SUM : (\d+)", output,
                       re.MULTILINE)
    if micros is None or int(micros.group(1)) == 0:
        raise ToolError(f"{policy}: db_bench made no compaction")
    return int(micros.group(2)) / 1e6
