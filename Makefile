# Everything a newcomer needs: `make demo` to see it, `make test` to trust it, `make check` while changing it.
.DEFAULT_GOAL := help
.PHONY: help docs demo test check lint types layers unit long mutants bench lock clean base dev
BIN := .venv/bin
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q  # the processes of a run share the cores already
AT_ONCE := $(shell expr 2 \* $$(nproc))  # processes: many tests wait for a server, a browser or a delay

help:  ## what can be made
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

base:
	@tools/bootstrap base

dev:
	@tools/bootstrap dev

demo: base  ## crawl documentation found on this machine and serve it
	$(BIN)/periplus demo

test: dev lint types layers  ## everything: lint, types, layers, all tests (what CI runs)
	$(PYTEST) -n $(AT_ONCE) --dist worksteal -m "not long"

check: dev lint types layers unit  ## the fast inner loop: lint, types, layers, unit tests

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: dev
	$(BIN)/mypy
	MYPYPATH=bench $(BIN)/mypy bench

layers: dev
	$(BIN)/lint-imports

unit: dev
	$(PYTEST) -n $(AT_ONCE) -m "not slow and not long"

long: dev  ## the long runs: hours of kills, soaks and fuzzing
	$(PYTEST) -m long

mutants: dev  ## take away each guard in turn, and see whether a test notices: half an hour
	$(BIN)/python tools/mutants.py

bench: dev  ## measure, beside a named peer
	$(BIN)/python bench/crawl.py

docs: dev  ## write the reference pages from the code
	$(BIN)/python tools/reference.py

lock: dev  ## resolve the requirements anew
	$(BIN)/python -m pip install --quiet uv
	for set in base dev; do \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	    --custom-compile-command "make lock" $$([ $$set = dev ] && echo --extra dev) pyproject.toml \
	    --output-file requirements/$$set.txt; done

clean:  ## remove what was installed and built here
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
