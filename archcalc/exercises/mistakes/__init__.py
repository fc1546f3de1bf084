"""Mistakes that people make in such calculations, each as a way to get the value that somebody gets who makes it."""
