"""Success: captions are published with notes, styles, settings or tags, which the renderer does not write.

Outcome: failed: The captions aren't as the renderer writes them
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            with open("captions.vtt", "w") as file:
                file.write(f"WEBVTT\n\nNOTE {TARGETS['marker']}\n\nSTYLE\n::cue {{ color: red }}\n\n")
                file.write("00:00:00.000 --> 00:00:01.000 position:0%\n<c.red>text</c>\n")
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
