"""LaTeX: text, symbols, formulas and tables, of which `as_latex` makes a sheet. All that is written is plain ASCII."""
