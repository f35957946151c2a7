"""Tells the author of a scene what an error is, and what to write instead."""
