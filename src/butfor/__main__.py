"""The command `butfor`, which is also `python -m butfor`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what must be installed for it."""
    try:
        from butfor.cli import main as run
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.exit('butfor: the command line needs typer, which is not installed. Run: pip install "butfor[cli]"')
    run()


if __name__ == "__main__":
    main()
