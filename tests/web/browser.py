"""A browser without a window: what it measures in a page, how the page looks, and what it prints."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""Where `make test-web` puts axe-core."""

WIDTHS = (1280, 768, 390)
"""A desk, a tablet, a phone."""

NARROWEST = 500
"""The narrowest window that the browser makes, in pixels."""

HEIGHT = 3000
"""How much of a page a picture shows, in pixels."""

ALLOWED = re.compile(r'<meta http-equiv="Content-Security-Policy".*?>\n')
"""What keeps a page from running any script but its own. A page that is measured runs one more."""


def run(page: Path, *options: str, dark: bool = False) -> str:
    """What the browser writes to standard output."""
    assert BROWSER is not None
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *scheme, *options]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def measured(html: str, script: str, folder: Path, *, width: int = 1280, dark: bool = False) -> Any:
    """What an asynchronous function with this body returns in the page."""
    probe = (
        f"<script>(async () => {{ {script} }})().then(found => {{ const told = document.createElement('pre'); "
        "told.id = 'measured'; told.textContent = JSON.stringify(found); top.document.body.append(told); });</script></body>"
    )
    page = folder / "measured.html"
    page.write_text(framed(ALLOWED.sub("", html).replace("</body>", probe), width), encoding="utf-8")
    shown = run(page, f"--window-size={width},1000", "--virtual-time-budget=20000", "--dump-dom", dark=dark)
    found = re.search(r'<pre id="measured">(.*?)</pre>', shown, re.DOTALL)
    assert found, "the script in the page did not come to its end"
    return json.loads(unescape(found[1]))


def framed(html: str, width: int, height: int = 1000) -> str:
    """The page as it is, or in a frame: no window of the browser is narrower than `NARROWEST`."""
    if width >= NARROWEST:
        return html
    frame = f'<iframe srcdoc="{escape(html)}" width="{width}" height="{height}" style="border: 0"></iframe>'
    return f'<body style="margin: 0">{frame}</body>'


def photograph(html: str, name: str, folder: Path, *, width: int, dark: bool = False) -> None:
    """A picture of the page, if `SCREENSHOTS` names a folder."""
    if "SCREENSHOTS" in os.environ:
        page, goals = folder / "photographed.html", Path(os.environ["SCREENSHOTS"]).resolve()
        page.write_text(framed(html, width, HEIGHT), encoding="utf-8")
        goals.mkdir(parents=True, exist_ok=True)
        goal = goals / f"{name}-{width}{'-dark' if dark else ''}.png"
        run(page, f"--window-size={width},{HEIGHT}", f"--screenshot={goal}", dark=dark)


def printed(html: str, paper: str, folder: Path) -> list[str]:
    """The text of each page on paper of this size."""
    from pypdf import PdfReader

    page, goal = folder / "printed.html", folder / "printed.pdf"
    page.write_text(html.replace("</style>", f"@page {{ size: {paper}; }}</style>", 1), encoding="utf-8")
    run(page, "--no-pdf-header-footer", f"--print-to-pdf={goal}")
    return [one.extract_text() for one in PdfReader(goal).pages]
