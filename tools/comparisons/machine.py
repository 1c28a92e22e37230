"""What every result says about where it was measured, and how results are written."""

import datetime
import json
import os
import pathlib
import platform
import sys


def describe():
    """The machine block: CPU, memory in bytes, kernel, load at the start, UTC time."""
    cpu = "unknown"
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = 0
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal:"):
            memory = int(line.split()[1]) * 1024
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "memory_bytes": memory,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_average": round(os.getloadavg()[0], 1),
        "time": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def as_text(machine):
    """One line for people."""
    gibibytes = machine["memory_bytes"] / 2**30
    return (f"{machine['cpu']} ({machine['cpus']} CPUs, {gibibytes:.0f} GiB), {machine['kernel']}, "
            f"{machine['time']}, load average {machine['load_average']} at the start")


def write_whole(path, text):
    """Replaces the file in one step, so that no half result is ever taken for a whole one."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    try:
        temporary.write_text(text)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path, value):
    write_whole(path, json.dumps(value, indent=2) + "\n")


def say(message):
    print(f"{pathlib.Path(sys.argv[0]).stem}: {message}", file=sys.stderr, flush=True)


def _lines(path):
    try:
        return pathlib.Path(path).read_text().splitlines()
    except OSError:
        return []
