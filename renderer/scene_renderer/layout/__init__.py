"""Looks at what a scene shows, and finds what its author wouldn't want to be seen."""
