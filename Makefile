PYTHON ?= python3
BIN := .venv/bin
TOOLS := build/tools
PIP := -m pip --quiet --disable-pip-version-check install
LOCKED := $(PIP) --require-hashes
# What the lock brought builds the project: nothing else is fetched for that.
PROJECT := $(PIP) --no-deps --no-build-isolation -e .
SOURCES := $(shell find bundle web worker server -type f -not -path '*/node_modules/*' -not -path '*/static/*' -not -name '*.pyc')
LOCKS := $(wildcard requirements/*.lock)

run: .venv/installed
	$(BIN)/personae

check: .venv/tested
	$(BIN)/python -m bundle.gate check

test: .venv/tested
	$(BIN)/python -m bundle.gate

# The newest versions that pyproject.toml allows, into requirements/*.lock.
lock: $(TOOLS)/installed
	$(TOOLS)/bin/python -m bundle.lock

# Fails on known vulnerabilities in what is locked, and when nobody could be asked.
audit: $(TOOLS)/installed
	$(TOOLS)/bin/python -m bundle.audit

# The container's base image by the digest that its tag has now.
pin-image:
	$(PYTHON) -m bundle.pin

clean:
	rm -rf .venv build dist worker/node_modules server/personae_server/static

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml hatch_build.py $(LOCKS) $(SOURCES)
	$(BIN)/python $(LOCKED) -r requirements/build.lock -r requirements/server.lock
	$(BIN)/python $(PROJECT)
	touch $@

.venv/tested: .venv/bin/python pyproject.toml hatch_build.py $(LOCKS) $(SOURCES)
	$(BIN)/python $(LOCKED) -r requirements/test.lock
	$(BIN)/python $(PROJECT)
	touch $@ .venv/installed

$(TOOLS)/installed: requirements/tools.lock
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python $(LOCKED) -r requirements/tools.lock
	touch $@

.PHONY: run check test lock audit pin-image clean
