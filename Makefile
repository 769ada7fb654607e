# Everything a newcomer needs: `make demo` and `make test`. Both create their own
# virtual environment from pyproject.toml; see `make help` for the rest.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Workers of the tests: a third of their time is waiting, for processes and clocks.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) '*' 3 / 2)

# Tests and matches start a thousand processes; without bytecode each would translate every module.
unexport PYTHONDONTWRITEBYTECODE

# What the installation depends on; the sources themselves are used where they lie.
INSTALLED := pyproject.toml setup.py .ci/install.py

# Workers take over what others have not begun: some tests last a hundred times as long as most.
PYTEST = $(BIN)/pytest -q -n $(JOBS) --dist worksteal --failed-first --durations 10 --durations-min 1

.PHONY: help demo build test test-all test-rest test-compiled quick fuzz lint lint-web types format docs wheel-check bench peers clean

help:  ## show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 16

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Plyhouse needs Python 3.11 or newer; '$(PYTHON)' is not. Name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot create virtual environments; on Debian: apt-get install python3-venv" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# What running needs ...
$(VENV)/.run: $(VENV)/bin/python $(INSTALLED)
	@$(BIN)/python .ci/install.py --editable .
	@touch $@

# ... and what developing needs on top.
$(VENV)/.dev: $(VENV)/bin/python $(INSTALLED)
	@$(BIN)/python .ci/install.py --editable '.[dev]'
	@touch $@ $(VENV)/.run

# In a terminal the server stays up until Ctrl-C; in a pipe, as in CI, the demo ends by itself.
demo: $(VENV)/.run  ## start a server, let real bots play five games, print the leaderboards
	@if [ -t 1 ]; then $(BIN)/plyhouse demo --keep; else $(BIN)/plyhouse demo; fi

# The extra `dev` brings what the build needs; an environment of its own would hide ccache's entries.
build: $(VENV)/.dev  ## compile games and searches, or what has changed of them
	$(BIN)/python .ci/install.py --compile --no-deps --no-build-isolation --editable .

test: $(VENV)/.dev  ## the first tier of tests, on interpreted code: minutes
	PLYHOUSE_PURE=1 $(PYTEST) --tier=first

# With BUILT=1 both trust the compiled code, as building replaces what other programs load.
# A browser test loads axe-core; without npm it says so and is skipped.
test-all: TIER = all
test-all: test-compiled  ## all tests, on compiled code

test-rest: TIER = rest
test-rest: test-compiled  ## what can still fail after `make test`, on compiled code

test-compiled: $(if $(BUILT),,build)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/.package-lock.json || true; fi
	$(PYTEST) --tier=$(TIER)

# The areas, and the folders that each has, are in tests/tiers.py.  Options need "=": pytest would take
# an area for the folder of the same name, before it knows the option.
AREA ?= all
quick: $(VENV)/.dev  ## the first tier of one area of the code: make quick AREA=games
	PLYHOUSE_PURE=1 $(PYTEST) --tier=first --area=$(AREA) --exitfirst

# A short run; the long one is in docs/attacks.md.
FUZZ_RUNS ?= 20000
FUZZ_EXAMPLES ?= 20

$(VENV)/.fuzz: $(VENV)/.dev
	@$(BIN)/python .ci/install.py --editable '.[fuzz]'
	@touch $@

# The libraries of the field, whose tests are skipped where they are not installed.
$(VENV)/.bridges: $(VENV)/.dev
	@$(BIN)/python .ci/install.py --editable '.[pettingzoo,openspiel,parquet]'
	@touch $@

# All of these at once, as CI needs them: each installation takes seconds, even of nothing new.
$(VENV)/.extras: $(VENV)/bin/python $(INSTALLED)
	@$(BIN)/python .ci/install.py --editable '.[dev,fuzz,pettingzoo,openspiel,parquet]'
	@touch $(VENV)/.run $(VENV)/.dev $(VENV)/.fuzz $(VENV)/.bridges $@

fuzz: $(VENV)/.fuzz  ## fuzz frames, messages, notation and the HTTP API for a minute
	$(BIN)/python tests/attack/fuzz.py --runs $(FUZZ_RUNS)
	$(BIN)/python tests/attack/fuzz_api.py --examples $(FUZZ_EXAMPLES)

lint: $(VENV)/.dev  ## ruff: rules and format; and the web client's, where node is
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-web; \
	elif [ "$$PLYHOUSE_REQUIRE_NODE" = 1 ]; then echo "PLYHOUSE_REQUIRE_NODE is set, but npm is not there" >&2; exit 2; \
	else echo "npm is not there: the web client is not checked"; fi

# Nothing of it is needed to run or to build: it checks, and the browser tests load axe-core.
node_modules/.package-lock.json: package-lock.json
	npm ci --silent --ignore-scripts
	@touch $@

lint-web: node_modules/.package-lock.json  ## types (tsc) and rules (eslint) of the web client
	node_modules/.bin/tsc
	node_modules/.bin/eslint --max-warnings 0 clients/web

# The links in tests/typing bring in the packages.
types: $(VENV)/.dev  ## mypy --strict over the packages, benchmarks and tests
	$(BIN)/mypy benchmarks tests setup.py .ci/install.py .ci/wheel_check.py

format: $(VENV)/.dev  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## build the documentation into site/, strictly
	$(BIN)/mkdocs build --strict --quiet

wheel-check: $(VENV)/.dev  ## sdist -> wheel -> clean environment -> tests of the package
	$(BIN)/python .ci/wheel_check.py $(WHEEL_TESTS)

bench: $(VENV)/.dev  ## every benchmark, with its comparison in the same run
	for script in benchmarks/*.py; do echo "== $$script"; PYTHONPATH=. $(BIN)/python $$script || exit 1; done

PEERS := benchmarks/peers/node_modules/.package-lock.json
$(PEERS): benchmarks/peers/package-lock.json
	npm ci --silent --ignore-scripts --prefix benchmarks/peers
	@touch $@

peers: $(VENV)/.dev $(PEERS)  ## boardgame.io and Colyseus beside Plyhouse, in the same run
	$(BIN)/python benchmarks/peers.py

clean:  ## remove what the build made, also compiled modules
	rm -rf build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache
	find games search server -name '*.so' -delete
	rm -f search/_build.json
