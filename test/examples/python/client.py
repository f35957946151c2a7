"""Renders a scene with the HTTP API; needs Python only. Usage: client.py URL KEY"""

import json
import sys
import time
import uuid
from urllib.request import Request, urlopen

url, key = sys.argv[1:]


def call(path, body=None):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if body is not None:
        headers["Idempotency-Key"] = str(uuid.uuid4())  # Repetitions of this request would make no second job.
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url + path, data, headers), timeout=30) as response:
        return json.load(response)


code = "from manim import *\nclass Hello(Scene):\n    def construct(self):\n        self.play(Create(Circle()))"
job = call("/api/v2/render", {"className": "Hello", "code": code})
pause = 0.5
while job["status"] not in ("completed", "failed"):
    time.sleep(pause)
    pause = min(pause * 1.5, 10)
    job = call(f"/api/v2/render/{job['jobId']}")
if job["status"] == "failed":
    sys.exit(job["error"])
with urlopen(job["result"]["video"]) as video, open("video.mp4", "wb") as file:
    file.write(video.read())
print("video.mp4")
