"""Success: a job without a video counts as completed.

Outcome: failed: before it had sent its whole video
"""


class Attack(Scene):
    def construct(self):
        os.write(channel_descriptor(), b'{"type":"done"}\n')
        os._exit(0)
