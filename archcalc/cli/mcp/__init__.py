"""The commands as tools of the Model Context Protocol, by which assistants ask archcalc."""
