"""A dossier about a model, and its picture in the documentation if chromium is there.

Run: python examples/dossier.py [PICTURE]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image

import butfor as bf
from butfor.datasets import loans

X, y = loans.load()
explainer = bf.Explainer(loans.pipeline().fit(X, y), data=X)
made = bf.dossier(explainer, X, "dossier", target="approved", constraints="fixed age, sex", groups="sex", sample=100)
print(made)

browser = shutil.which("chromium")
if len(sys.argv) > 1 and browser:
    picture, page = Path(sys.argv[1]), Path("dossier", "dossier.html")
    size = ["--window-size=1000,1130", "--hide-scrollbars", f"--screenshot={picture.resolve()}"]
    subprocess.run([browser, "--headless", "--no-sandbox", *size, page.resolve().as_uri()], check=True)
    Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)
    print(f"written: {picture}")
