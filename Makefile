# softlookup: `make demo` and `make test` work on a fresh clone with Python 3.11+ and nothing else.
VENV ?= .venv
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := $(VENV)/bin
STAMP := $(VENV)/.softlookup-installed

.PHONY: setup model demo test check lessons bench samples

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "softlookup needs Python 3.11 or newer"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $(STAMP)

model: setup
	$(BIN)/softlookup model pull

# asks the sample contract the question of the README
demo: model
	$(BIN)/softlookup ask samples/supply-agreement.docx "Does the liability cap conflict with the termination right?"

# one process per core
test: model
	$(BIN)/python -m pytest -n auto

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# runs every lesson in both languages and compares outputs and figures with the pages
lessons: model
	$(BIN)/python -m softlookup.learn.build

# needs the evaluation data (SOFTLOOKUP_SHARED or ../shared)
bench: model
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/cost_reference.py
	$(BIN)/python benchmarks/evidence.py --contracts 40
	$(BIN)/python benchmarks/cost_of_trust.py
	$(BIN)/python benchmarks/decode.py
	$(BIN)/python benchmarks/attention.py speed
	$(BIN)/python benchmarks/observation.py
	$(BIN)/python benchmarks/monitors.py --faults
	$(BIN)/python benchmarks/conformance_libraries.py

samples: setup
	$(BIN)/python samples/build_samples.py
