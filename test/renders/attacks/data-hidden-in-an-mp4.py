"""Success: an arbitrary comment is published with the video.

Outcome: failed: The video's file isn't as the renderer writes it
Level: reduced
"""


class Attack(Scene):
    def construct(self):
        names = {"comment": TARGETS["marker"] * 20}
        before_done(lambda: write_again(names=names, movflags="+faststart+use_metadata_tags"))
