"""Success: the scene changes the files of the encoder that takes its frames.

Outcome: completed
"""

import glob


class Attack(Scene):
    def construct(self):
        self.wait(0.2)
        for folder in [*glob.glob("../*.out"), f"{os.getcwd()}.out"]:
            for name in ("video.mp4", "thumbnail.jpg", "captions.vtt", "frames"):
                refused(open, f"{folder}/{name}", "wb")
                refused(os.symlink, TARGETS["files"][0], f"{folder}/{name}")
            refused(os.rename, folder, f"{folder}.gone")
