# Two commands for newcomers: `make demo` and `make test`. Everything lives in .venv at the root.

PYTHON ?= python3
FRONTIER_SIZES ?= 1e5,1e6,1e7
SEARCH_SIZES ?= 20000,200000
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
KERNEL := $(VENV)/.kernel
TESTERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)  # tests from outside wait for a third of their time
PAGE := src/periplus/web/page
KILL_PAGES ?= 500
KILL_EVERY ?= 1
KILL_MINUTES ?= 60
KILL_LOSSES ?= 300
SOAK_MINUTES ?= 60
FUZZ_SECONDS ?= 60
PROPERTY_MINUTES ?= 25
PROOFS := $(VENV)/proofs
FUZZERS := $(VENV)/.fuzzers
STATIC := src/periplus/web/static
PAGE_SOURCES := $(shell find $(PAGE) -type f -not -path '*/node_modules/*' 2>/dev/null)

.PHONY: help setup demo test check bench prove prove-cluster prove-simulation kill-all soak sizing properties scoreboard fuzz audit eval train-places train-blend experiments screenshots docs lock page clean

help:            ## list the targets
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  +##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/ — /'

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# The inner loops (modules with a .pxd beside them) are compiled anew whenever they change; without a C compiler they stay plain Python.
$(KERNEL): $(READY) scripts/compile_kernel.py $(wildcard src/periplus/*/*.pxd) $(patsubst %.pxd,%.py,$(wildcard src/periplus/*/*.pxd))
	@test "$$PERIPLUS_PURE" = 1 || $(BIN)/python scripts/system_packages.py gcc "python headers"
	$(BIN)/python scripts/compile_kernel.py
	@touch $@

setup: $(KERNEL) ## make .venv with exact versions

# The web page is built once; users of the wheel need no Node.
$(STATIC)/index.html: $(PAGE_SOURCES)
	cd $(PAGE) && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

page: $(STATIC)/index.html ## build the web page

demo: setup page ## crawl the miniature web and show the map (DEMO_SERVE=0: stop after the summary)
	$(BIN)/python scripts/demo.py

test: ## set everything up and run the whole suite, checks included
	@$(MAKE) --no-print-directory -j2 setup page
	$(BIN)/python scripts/system_packages.py
	$(MAKE) --no-print-directory check
	@$(BIN)/periplus gazetteer info > /dev/null  # compiled once, before tests in several processes want it
	$(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile --no-loadscope-reorder

check: setup ## format, lint, types, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell

bench: setup ## speed, side by side with peers
	$(BIN)/python scripts/bench.py
	$(BIN)/python scripts/bench_engine.py
	$(BIN)/python scripts/bench_topics.py
	$(BIN)/python scripts/bench_strategies.py
	$(BIN)/python scripts/bench_nodes.py
	$(BIN)/python scripts/bench_evaluate.py
	$(BIN)/python scripts/bench_simulate.py
	$(BIN)/python scripts/bench_frontier.py --sizes $(FRONTIER_SIZES)
	$(BIN)/python scripts/bench_search.py --sizes $(SEARCH_SIZES)
	$(BIN)/python scripts/bench_network.py
	$(BIN)/python scripts/bench_cluster.py

prove-cluster: setup ## kills, partitions, lost disks and servers under a crawl of four processes
	$(BIN)/python scripts/prove_cluster.py

prove-simulation: setup ## crawls by 1, 2 and 4 nodes beside what periplus simulate says of them
	$(BIN)/python scripts/prove_simulation.py --write

prove: setup ## tests of promises at their full size: 500,000 polite requests, random schedules, endings, framing
	$(BIN)/python scripts/prove_promises.py --docs docs/operations.md
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md

kill-all: setup $(PROOFS) ## death and a full disk at every change of a crawl's files, losses of power, in pieces that go on (KILL_MINUTES=60)
	$(BIN)/python tests/support/kill_points.py deaths --pages $(KILL_PAGES) --state $(PROOFS)/kill-all-$(KILL_PAGES) --minutes $(KILL_MINUTES) --docs docs/operations.md
	for one in full normal; do $(BIN)/python tests/support/kill_points.py power --pages 8 --losses $(KILL_LOSSES) --durability $$one --docs docs/operations.md || exit 1; done
	$(BIN)/python tests/support/fault_runs.py full --pages 12 --every $(KILL_EVERY) --state $(PROOFS)/full-12-$(KILL_EVERY).json --minutes $(KILL_MINUTES) --docs docs/operations.md
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md

sizing: setup ## how much a crawl takes, from measured figures, into docs/operations.md
	$(BIN)/python scripts/sizing.py --docs docs/operations.md
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md

soak: setup ## four nodes, 2,000 hosts, faults and kills for an hour (SOAK_MINUTES=60); figures go to docs/operations.md
	$(BIN)/python scripts/soak.py --minutes $(SOAK_MINUTES) --docs docs/operations.md
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md

properties: setup ## every property of the suite with 20,000 examples and more, room after room (PROPERTY_MINUTES=25)
	$(BIN)/python scripts/prove_properties.py --minutes $(PROPERTY_MINUTES) --docs docs/operations.md
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md

scoreboard: setup ## what the long runs have reached beside what was aimed at; runs the hostile tests
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md --hostile

$(FUZZERS): fuzz.lock $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r fuzz.lock && touch $@ || echo "atheris cannot be had here: inputs are mutated blindly"

fuzz: setup $(FUZZERS) ## feed every parser of outside bytes with what breaks parsers (FUZZ_SECONDS=60 each), guided by atheris
	$(BIN)/python scripts/fuzz.py --seconds $(FUZZ_SECONDS) --docs docs/operations.md
	$(BIN)/python scripts/scoreboard.py --docs docs/operations.md

audit: setup ## known vulnerabilities of the locked versions, by pip-audit, where its service can be reached
	$(BIN)/python scripts/audit.py

$(PROOFS):
	mkdir -p $@

eval: setup ## accuracy on the corpora in the folder that PERIPLUS_DATA names
	$(BIN)/python scripts/eval.py

train-places: setup ## learn the geoparser's weights from the corpora in PERIPLUS_DATA
	$(BIN)/python scripts/train_places.py

train-blend: setup ## learn the weights of the strategy blend from recorded webs (PERIPLUS_DATA)
	$(BIN)/python scripts/train_blend.py

experiments: setup ## all strategies on three collections, written to docs/experiments.md (PERIPLUS_DATA)
	$(BIN)/python scripts/experiments.py

screenshots: setup page ## pictures of the demo's collection for the docs
	$(BIN)/python scripts/screenshots.py

docs: setup ## write the generated parts of docs/ anew
	$(BIN)/python scripts/docs.py

lock: ## write requirements.lock and fuzz.lock anew
	$(BIN)/python scripts/lock.py

clean: ## remove everything that make made
	rm -rf $(VENV) $(STATIC) $(PAGE)/node_modules demo-crawl dist src/periplus/*/*.so src/periplus/compiled.txt
