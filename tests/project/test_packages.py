"""What is shipped: the wheel, the sdist, the checker's own wheel, and the recipe for conda."""

from __future__ import annotations

import importlib.util
import re
import tarfile
import tomllib
import zipfile
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

import butfor

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHIPPED = {".py", ".css", ".js", ".toml", ".html", ".svg", ".typed"}
"""Kinds of files in the wheel: code, and what pages and letters are made of."""

DATA = re.compile(r"\.(csv|gz|zip|parquet|npz?|pkl|joblib|onnx|ubj|cbm|ipynb_checkpoints|jsonl|so|nb[ci])$")
MOST_BYTES = 2_000_000


def built(kind: str, folder: Path, source: Path = ROOT) -> Path:
    """A package, built as a release builds it."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install butfor[dev]")
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    builder = {"wheel": WheelBuilder, "sdist": SdistBuilder}[kind](str(source))
    (made,) = builder.build(directory=str(folder), versions=["standard"])
    return Path(made)


def script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    wheel = built("wheel", tmp_path)
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    inside = [name for name in names if ".dist-info/" not in name]
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "butfor").rglob("*.py")}
    assert {name for name in inside if name.endswith(".py")} == sources | {"butfor/proof/butfor_check.py"}
    assert {Path(name).suffix for name in inside} <= SHIPPED
    assert not [name for name in inside if "fuzz" in name or DATA.search(name)]
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_sdist_builds_the_wheel_and_brings_no_fuzzer_and_no_data(tmp_path: Path) -> None:
    sdist = built("sdist", tmp_path)
    with tarfile.open(sdist) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
        opened.extractall(tmp_path / "out", filter="data")
    tops = {name.partition("/")[0] for name in names}
    wanted = {"src", "checker", "docs", "examples", "changes", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
    assert tops == wanted | {"SECURITY.md", "CONTRIBUTING.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert not [name for name in names if name.startswith("tests") or DATA.search(name)]
    (unpacked,) = (tmp_path / "out").iterdir()
    here, again = built("wheel", tmp_path / "here"), built("wheel", tmp_path / "again", unpacked)
    with zipfile.ZipFile(here) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_the_checker_has_a_wheel_of_its_own_that_needs_nothing(tmp_path: Path) -> None:
    with zipfile.ZipFile(built("wheel", tmp_path, ROOT / "checker")) as opened:
        inside = [name for name in opened.namelist() if ".dist-info/" not in name]
        (metadata,) = (opened.read(name).decode() for name in opened.namelist() if name.endswith("/METADATA"))
        (license,) = (opened.read(name) for name in opened.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
    assert inside == ["butfor_check.py"]
    assert license == (ROOT / "LICENSE").read_bytes()
    assert "Requires-Dist" not in metadata


def test_the_recipe_for_conda_asks_for_what_the_wheel_asks_for() -> None:
    recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("  run_constrained:")[0]
    asked = {line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines() if line.strip()}
    assert asked == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_every_file_says_the_same_versions_of_python() -> None:
    first, last = map(int, re.findall(r"3\.(\d+)", PROJECT["requires-python"]))
    versions = [f"3.{minor}" for minor in range(first, last)]
    named = re.findall(r"^Programming Language :: Python :: (.+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert named == versions
    words = f"{', '.join(versions[:-1])} or {versions[-1]}"
    for name in ("README.md", "docs/install.md", "Makefile"):
        assert f"Python {words}" in (ROOT / name).read_text(encoding="utf-8"), name
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"(3, {first}) <= sys.version_info < (3, {last})" in makefile
    assert " ".join(f"python{version}" for version in versions) in makefile


def test_every_file_says_the_same_version() -> None:
    said = {
        "package": butfor.__version__,
        "conda": re.findall(r'version = "(.+)"', (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8"))[0],
        "citation": re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[
            0
        ],
    }
    assert {*said.values()} == {PROJECT["version"]}, said


def test_all_brings_every_extra_that_people_want() -> None:
    extras = PROJECT["optional-dependencies"]
    (all_of_them,) = extras["all"]
    named = {*all_of_them.removeprefix("butfor[").removesuffix("]").split(",")}
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)} == named
    assert named <= {*extras}
    others = {*extras} - named - {"all", "demo", "docs", "dev"}
    assert not [name for name in others if f"`{name}`" not in page]


def test_no_extra_of_ours_is_named_on_a_condition() -> None:
    named = [one for extra in PROJECT["optional-dependencies"].values() for one in extra if one.startswith("butfor[")]
    assert not [one for one in named if ";" in one], "hatchling drops the condition"


def test_fragments_become_a_section_of_the_changelog(tmp_path: Path) -> None:
    folder, changelog = tmp_path / "changes", tmp_path / "CHANGELOG.md"
    folder.mkdir()
    (folder / "README.md").write_text("# Changes\n")
    (folder / "002-old.md").write_text("# Trees\n\n- See [models](../docs/models.md).\n")
    (folder / "010-new.md").write_text("- A thing.\n")
    joining = script(ROOT / "changes" / "join.py")
    changelog.write_text(f"# Changelog\n\n{joining.NEWEST}\n## 0.1.0 (2026-01-01)\n")
    joining.join("0.2.0", date(2026, 2, 1), folder, changelog)
    assert changelog.read_text() == (
        f"# Changelog\n\n{joining.NEWEST}\n## 0.2.0 (2026-02-01)\n\n### Trees\n\n- See [models](docs/models.md).\n\n"
        "### And\n\n- A thing.\n\n## 0.1.0 (2026-01-01)\n"
    )
    assert [path.name for path in folder.iterdir()] == ["README.md"]
    assert joining.NEWEST in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_fragment_with_headings_begins_with_its_title() -> None:
    """After a release, there is none."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "changes").glob("[0-9]*.md")}
    assert not [
        name for name, text in texts.items() if not text.startswith("# ") and re.search("^#", text, re.MULTILINE)
    ]
