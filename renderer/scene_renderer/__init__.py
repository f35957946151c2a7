"""Turns one Manim scene into a video, a thumbnail and captions.

A *zygote* (`zygote.py`) is a process that has imported Manim and forks a *job* for each request
(`job.py`). What they say to the service, and it to them, is `protocol.py`.
"""
