# Two commands matter: `make demo` shows an answer, `make test` checks everything. `make help` lists the rest.
# They need Python 3.11, 3.12, 3.13 or 3.14 and nothing else; `make PYTHON=/path/to/python ...` names one.

VENV := .venv
BIN := $(VENV)/bin
CHECK := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
FOUND = $(shell for p in $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$p" -c '$(CHECK)' 2>/dev/null && { echo "$$p"; break; }; done)
# What is never imported need not be compiled: half of the time of installing.
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check

# PyTorch for the tests of networks, in one version, so that a build for the CPU that pip is told of is taken
# (PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL). `make TORCH= test` leaves them out; no build is there for every Python.
TORCH ?= $(shell $(FOUND) -c 'import sys; print("torch==2.13.0 skorch" if sys.version_info < (3, 12) else "")')

# Where nothing of what Python compiles may be kept, each of the tests' many processes compiles all of it anew.
unexport PYTHONDONTWRITEBYTECODE

NEWEST = $(shell for p in python3.14 python3.13 $(FOUND); do $$p -c '' 2>/dev/null && { echo $$p; break; }; done)

# Two processes, which read the kernels that were compiled for them. Tests that look at what is compiled get a copy of their own.
COMPILED := $(abspath $(VENV))/compiled
PYTEST := WARMED=$(COMPILED)/warmed NUMBA_CACHE_DIR=$(COMPILED)/used $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: help demo test test-long prepared fast test-web fuzz oldest newest bench bench-ensembles bench-networks bench-swarm bench-survival bench-portfolio bench-serve bench-proofs bench-log reproduce docs packages picture clean
.DELETE_ON_ERROR:

help: ## these lines
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 17

demo: $(VENV)/.demo ## install, explain a rejected loan application, write demo.html
	$(BIN)/butfor demo

test: $(VENV)/.dev prepared ## style, types, documentation and the tests that every change must pass
	$(PYTEST) -m "not long"

test-long: $(VENV)/.dev prepared ## the same with every test, also more of what a shorter one guards: before a release
	$(PYTEST)

prepared: $(VENV)/.dev # what no test needs to wait for: kernels are compiled once, beside the check of types, in a cache of the tests' own
	@echo "Style first, then types while kernels are compiled: one to two minutes."
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf $(COMPILED) && mkdir $(COMPILED)
	NUMBA_CACHE_DIR=$(COMPILED)/warmed $(BIN)/butfor warm & warming=$$!; $(BIN)/mypy && wait $$warming
	cp -r $(COMPILED)/warmed $(COMPILED)/used

fast: $(VENV)/.dev ## the quick tests only
	$(BIN)/python -m pytest -m "not slow and not long"

test-web: $(VENV)/.dev ## pages in a browser (needs chromium, and npm for axe-core); leaves pictures in screenshots/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright schemathesis
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4
	SCREENSHOTS=screenshots $(BIN)/python -m pytest -m web tests/web

fuzz: $(VENV)/.dev ## random questions, judged by enumeration (MINUTES=5 SEED=0); writes what fails into fuzz-failures
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),5) --seed $(or $(SEED),0)

oldest: | $(BIN)/python ## the quick tests and the documentation with the oldest versions allowed, in .venv-oldest
	test -d .venv-oldest || $(FOUND) -m venv --upgrade-deps .venv-oldest
	$(BIN)/python tests/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-oldest/oldest.txt --editable '.[dev,lifelines]'
	.venv-oldest/bin/python -m pytest -n 2 -m "(not slow and not long) or documentation" -o filterwarnings=default

newest: ## the same with the newest versions and the newest Python that is here, in .venv-newest
	test -d .venv-newest || $(NEWEST) -m venv --upgrade-deps .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager --editable '.[dev]'
	.venv-newest/bin/python -m pytest -n 2 -m "(not slow and not long) or documentation"

bench: $(VENV)/.dev ## measure everything, goes on where it was stopped (RIVAL_PYTHON=a Python 3.12 adds OCEAN and DiCE, pip install treecf dtai-veritas optbinning adds these); writes benchmarks/results and the pages made from them
	$(BIN)/python -m benchmarks

bench-ensembles: $(VENV)/.dev ## measure sums of trees (an hour; RIVAL_PYTHON=a Python 3.12 adds OCEAN and DiCE, pip install treecf dtai-veritas optbinning adds these); writes docs/benchmarks.md
	$(BIN)/python -m benchmarks.ensembles
	$(BIN)/python -m benchmarks.ensembles.report

bench-proofs: $(VENV)/.dev ## measure proofs: their size, how long they take to make, and to check (half an hour); writes benchmarks/results/proofs
	$(BIN)/python -m benchmarks.proofs

bench-networks: $(VENV)/.dev ## measure networks (half an hour; RIVAL_PYTHON=a Python 3.12 adds DiCE); writes docs/benchmarks-networks.md
	$(BIN)/python -m benchmarks.networks
	$(BIN)/python -m benchmarks.networks_report

bench-swarm: $(VENV)/.dev ## measure the swarm (RIVAL_PYTHON=a Python 3.12 adds DiCE); writes benchmarks/results
	$(BIN)/python -m benchmarks.swarm

bench-survival: $(VENV)/.dev ## measure survival (half an hour; needs scikit-survival); writes benchmarks/results/survival
	$(BIN)/python -m benchmarks.survival

bench-portfolio: $(VENV)/.dev ## measure portfolios (ten minutes); writes benchmarks/results/portfolios.jsonl
	$(BIN)/python -m benchmarks.portfolios
	$(BIN)/python -m benchmarks.portfolios_picture

bench-serve: $(VENV)/.dev ## measure the server of the what-if page (five minutes); writes benchmarks/results/serving.jsonl
	$(BIN)/python -m benchmarks.serving

bench-log: $(VENV)/.dev ## measure the log of answers (ten minutes; PostgreSQL too, if it is installed); writes benchmarks/results/logs.jsonl
	$(BIN)/python -m benchmarks.logs

reproduce: $(VENV)/.dev ## the published tables and pictures, seven to eight hours of one core, goes on where it was stopped (RIVAL_PYTHON=a Python 3.12 adds DiCE); writes reproductions/*/results
	$(BIN)/python -m reproductions

docs: $(VENV)/.dev ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

packages: $(BIN)/python ## what a release uploads, in dist/: butfor as wheel and sdist, and butfor-check as a wheel
	rm -rf dist
	$(PIP) build twine
	$(BIN)/python -m build
	$(BIN)/python -m build --wheel --outdir dist checker
	$(BIN)/python -m twine check --strict dist/*

picture: $(VENV)/.dev ## draw the pictures in the README and in the documentation anew
	$(BIN)/python examples/picture.py docs/images/answer.png
	$(BIN)/python examples/compress.py docs/images
	$(BIN)/python examples/report.py docs/images/report.png
	$(BIN)/python examples/dossier.py docs/images/dossier.png
	$(BIN)/python examples/groups.py docs/images
	$(BIN)/python examples/gallery.py docs/images

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) site dist build demo.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The pip that comes with Python 3.11 takes three times as long to choose versions as a newer one.
$(BIN)/python:
	@test -n "$(FOUND)" || { echo "butfor needs Python 3.11, 3.12, 3.13 or 3.14 with venv: none was found. Install one, or say make PYTHON=/path/to/python."; exit 1; }
	$(FOUND) -m venv --upgrade-deps $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "Installing butfor and what its demo needs: half a minute to a minute."
	$(PIP) --editable '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing butfor and all that its tests use: one to two minutes."
	$(PIP) --editable '.[dev]' $(TORCH)
	@touch $@ $(VENV)/.demo
