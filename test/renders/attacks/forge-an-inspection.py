"""Success: a job without a video counts as inspected.

Outcome: failed: left no video|video is incomplete
"""


class Attack(Scene):
    def construct(self):
        os.write(channel_descriptor(), b'{"type":"inspected","frames":9,"seconds":9}\n')
        os._exit(0)
