"""What checks the output of a job and writes the files to publish. Needs no Manim."""
