"""Turns one Manim scene into a video, a thumbnail and captions.

A *zygote* (`zygote.py`) is a process that has imported Manim and forks a *job* for each request
(`job/process.py`). `protocol.py` defines their messages to and from the service.
"""
