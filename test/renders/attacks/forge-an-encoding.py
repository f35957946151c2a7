"""Success: a job without a video counts as encoded.

Outcome: failed: before it had sent its whole video
"""


class Attack(Scene):
    def construct(self):
        os.write(channel_descriptor(), b'{"type":"encoded","frames":9,"seconds":9,"copiedFrames":0}\n')
        os._exit(0)
