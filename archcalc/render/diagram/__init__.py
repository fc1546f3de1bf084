"""A diagram as text: its layout, and renderers for SVG and Mermaid."""
