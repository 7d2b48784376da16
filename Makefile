PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
SOURCES := $(shell find bundle web worker server -type f -not -path '*/node_modules/*' -not -path '*/static/*' -not -name '*.pyc')

run: .venv/installed
	$(BIN)/personae

check: .venv/tested
	$(BIN)/python -m bundle.gate check

test: .venv/tested
	$(BIN)/python -m bundle.gate

clean:
	rm -rf .venv build dist worker/node_modules server/personae_server/static

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml hatch_build.py $(SOURCES)
	$(PIP) install -e .
	touch $@

.venv/tested: .venv/bin/python pyproject.toml hatch_build.py $(SOURCES)
	$(PIP) install -e '.[test]'
	touch $@ .venv/installed

.PHONY: run check test clean
