"""Success: an arbitrary track name is published with the video.

Outcome: completed
Level: reduced
"""


class Attack(Scene):
    def construct(self):
        name = TARGETS["marker"][:50]

        def act():
            write_again(names={"handler_name": name})
            assert name[:40].encode() in open("video.mp4", "rb").read()

        before_done(act)
