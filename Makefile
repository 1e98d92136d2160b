# The project's own checks. Run inside an environment that has `pip install -e '.[test,dev,docs]'`.
PYTHON ?= python3
WORKERS ?= auto
MINUTES ?= 5

.PHONY: help check test bench bench-peers study validate nightly fuzz docs links clean

help:
	@echo "check     style, types, import directions, generated pages: seconds"
	@echo "test      the test suite"
	@echo "validate  the comparisons with published and simulated references, into docs/validation.md: three minutes"
	@echo "bench     seconds, memory and rates, into docs/benchmarks.md; wants a quiet machine"
	@echo "bench-peers  the same work by other simulators, each in its own environment, into docs/peers.md: half an hour"
	@echo "study     where closed forms are wrong: every point again, pictures, docs/analytic-error.md and docs/claims.md; a minute or two"
	@echo "nightly   long random searches for a wrong cycle or byte"
	@echo "fuzz      every reader, coverage-guided, MINUTES=5 for each; what is found lies in tests/fuzz/found; wants accelsim[fuzz]"
	@echo "docs      the documentation, into site/"
	@echo "links     whether links to elsewhere are alive; wants the network"
	@echo "clean     removes what these make"

check:
	$(PYTHON) -m ruff check
	$(PYTHON) -m mypy --strict accelsim
	lint-imports --no-logo
	$(PYTHON) docs/generate.py --check

test:
	$(PYTHON) -m pytest -n $(WORKERS)

validate:
	$(PYTHON) -m accelsim.cli.main validate --markdown docs/validation.md

bench:
	$(PYTHON) -m accelsim.cli.main bench --markdown docs/benchmarks.md

bench-peers:
	$(PYTHON) validation/peers/compare.py --markdown docs/peers.md

study:
	$(PYTHON) -m validation.study.build
	$(PYTHON) -m validation.claims.build

nightly:
	$(PYTHON) -m pytest -n $(WORKERS) -m nightly

fuzz:
	$(PYTHON) -m tests.fuzz.campaign --minutes $(MINUTES)

docs:
	$(PYTHON) docs/generate.py
	$(PYTHON) -m mkdocs build --strict

links:
	$(PYTHON) docs/links.py

clean:
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
