"""Makes plausible paths that a file of paths does not hold: a real name in a real folder that has
no such name. They lie between the first and the last path, since no filter is asked outside."""

import argparse
import os
import random
import sys


def make(paths, count, seed):
    """A set of about `count` absent paths, as bytes. Reads the sorted file three times instead of
    holding it."""
    with open(paths, "rb") as lines:
        total = sum(1 for _ in lines)
    if total < 2 * count:
        raise ValueError(f"{paths}: {total} paths are too few to make {count} absent ones of")
    chooser = random.Random(seed)
    chosen = set(chooser.sample(range(total), 2 * count))
    picked = []
    with open(paths, "rb") as lines:
        for number, line in enumerate(lines):
            if number in chosen:
                picked.append(line.rstrip(b"\n"))
            if number == 0:
                first = line.rstrip(b"\n")
        last = line.rstrip(b"\n")
    chooser.shuffle(picked)
    absent = set()
    for folder, name in zip(picked[:count], picked[count:]):
        path = os.path.join(os.path.dirname(folder), os.path.basename(name))
        if first < path < last:
            absent.add(path)
    with open(paths, "rb") as lines:
        for line in lines:
            absent.discard(line.rstrip(b"\n"))
    return absent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", help="sorted by bytes, one a line")
    parser.add_argument("file", help="where the absent ones go, sorted; replaced as a whole")
    parser.add_argument("--count", type=int, default=1000000,
                        help="a few less come out (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    arguments = parser.parse_args()
    temporary = f"{arguments.file}.part.{os.getpid()}"
    try:
        absent = make(arguments.paths, arguments.count, arguments.seed)
        with open(temporary, "wb") as file:
            file.writelines(path + b"\n" for path in sorted(absent))
        os.replace(temporary, arguments.file)
    except (OSError, ValueError) as error:
        print(f"make_absent_paths: error: {error}", file=sys.stderr)
        return 1
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
