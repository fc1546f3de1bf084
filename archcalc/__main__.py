"""`python -m archcalc` and the `archcalc` command."""

from archcalc.cli import main

if __name__ == "__main__":
    main()
