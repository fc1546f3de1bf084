"""Charts, drawn as SVG from the values of reports: `drawing` and `scale` are the pens, each other file is one chart."""
