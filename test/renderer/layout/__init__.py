"""Inspections of scenes: what they find on the layout."""
