"""Builds the site as a folder that any static host can serve: README and docs as pages, and the explorer.

    python tools/build_site.py OUT
    python tools/build_site.py OUT --base https://example.org/archcalc/

The explorer runs archcalc by Pyodide, whose core comes from npm; the wheels that archcalc needs come from PyPI. Nothing
of that is kept but in OUT. Needs npm, node, pip and `pip install 'archcalc[site]'`; `--pages` leaves the explorer out,
and then no network is needed. Addresses are relative, so OUT may stand at any path of a host.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from site_explorer import explorer
from site_links import dead
from site_pages import Unfit, pages


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the site for a static host.")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write")
    parser.add_argument("--base", default="", metavar="ADDRESS", help="where others will find OUT, for links to it")
    parser.add_argument("--pages", action="store_true", help="README and docs alone, which needs no network")
    parser.add_argument("--force", action="store_true", help="replace what OUT holds")
    asked = parser.parse_args()
    if asked.base and (urlsplit(asked.base).scheme not in ("http", "https") or not urlsplit(asked.base).netloc):
        sys.exit(f"error: {asked.base}: not an address\n  give it whole, as in https://example.org/archcalc/")
    if asked.out.exists() and not asked.out.is_dir():
        sys.exit(f"error: {asked.out}: not a folder")
    if asked.out.exists() and any(asked.out.iterdir()) and not asked.force:
        sys.exit(f"error: {asked.out}: the folder is not empty\n  name another, or add --force to replace it")
    try:
        site(asked.out, asked.base and f"{asked.base.rstrip('/')}/", has_explorer=not asked.pages)
    except (subprocess.SubprocessError, OSError, Unfit) as reason:
        sys.exit(f"error: the site could not be built: {reason}")
    sizes = [file.stat().st_size for file in asked.out.rglob("*") if file.is_file()]
    print(f"wrote {asked.out}: {sum(sizes):,} bytes in {len(sizes)} files")


def site(out: Path, base: str, *, has_explorer: bool) -> None:
    """All of it, put in place once it is whole and every link leads somewhere."""
    with tempfile.TemporaryDirectory() as folder:
        made, work = Path(folder) / "site", Path(folder) / "work"
        work.mkdir()
        pages(made, work, base, explorer=has_explorer)
        if has_explorer:
            explorer(made / "explorer", work, base and f"{base}explorer/")
        (made / ".nojekyll").write_text("", "utf-8")  # a host that leaves files of some names out keeps all
        if links := dead(made):
            raise Unfit("\n".join(links))
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)


if __name__ == "__main__":
    main()
