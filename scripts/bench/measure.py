"""Runs a command and prints what it took: ``measure.py COMMAND …``; one JSON object on standard output.

The memory is counted as that of the service's own jobs: of all processes together, five times a second.
"""

import json
import os
import resource
import subprocess
import sys
import time

from scene_renderer.sandbox import process_tree

INTERVAL_S = 0.2

began = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
peak_bytes = 0
error = ""
while True:
    try:
        _, error = process.communicate(timeout=INTERVAL_S)
        break
    except subprocess.TimeoutExpired:
        pids = [process.pid, *process_tree.descendants(process.pid)]
        held = process_tree.held_memory(pids, shared=True)
        peak_bytes = max(peak_bytes, process_tree.proportional_bytes(held, shared=True))
wall = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    json.dumps(
        {
            "wallMs": wall * 1000,
            "cpuMs": (used.ru_utime + used.ru_stime) * 1000,
            "memoryBytes": peak_bytes,
            "error": error[-2000:] if process.returncode else None,
        }
    )
)
os._exit(0)
