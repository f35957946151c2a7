"""TeX expressions: LaTeX as a server, what is set before the first job, and DVI as SVG."""
