PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find bundle web worker server -type f -not -path '*/node_modules/*' -not -path '*/static/*' -not -name '*.pyc')

run: .venv/installed
	$(BIN)/personae

test: .venv/tested
	$(BIN)/python -m bundle.gate

clean:
	rm -rf .venv build dist worker/node_modules server/personae_server/static

.venv/installed: pyproject.toml hatch_build.py $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

.PHONY: run test clean
