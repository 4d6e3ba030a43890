"""A report about 300 applications, and its picture in the documentation if chromium is there.

Run: python examples/report.py [PICTURE]
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
model = loans.pipeline().fit(X, y)
explainer = bf.Explainer(model, data=X)
answers = explainer.explain(
    X.iloc[:300], target="approved", constraints=[bf.fixed("sex", "age"), bf.only_up("education")]
)

page = Path("portfolio.html")
answers.report(page, title="Loans of May", by="sex")
print(f"written: {page}")

browser = shutil.which("chromium")
if len(sys.argv) > 1 and browser:
    picture = Path(sys.argv[1])
    size = ["--window-size=1000,1260", "--hide-scrollbars", f"--screenshot={picture.resolve()}"]
    subprocess.run([browser, "--headless", "--no-sandbox", *size, page.resolve().as_uri()], check=True)
    Image.open(picture).quantize(48).save(picture, optimize=True)
    print(f"written: {picture}")
