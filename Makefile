# make lab     open the lessons in JupyterLab, on the first page or where you left off
# make grade   grade submitted/, or the example class when there is none
# make test    run the tests           make test-all   ... and the long ones
# make bench   measure, into benchmarks/
# make build   write notebooks/ from solutions/
# make lint    ruff, mypy, import-linter
# make deps    install what the optional tests need (Debian, Ubuntu)
#
# Each makes .venv on first use. On Linux, this takes PyTorch's much smaller CPU build:
#     make lab TORCH_INDEX=https://download.pytorch.org/whl/cpu
# Another Python: make lab PYTHON=/path/to/python3.12

TORCH_INDEX ?=
# The first Python of 3.11 or later that can make a venv.
PYTHON := $(shell for p in python3.11 python3 python3.13 python3.12 python; do \
	"$$p" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$p" && break; done)

BIN := .venv/bin
READY := .venv/ready
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
# nbgrader starts `alembic` by name, so the venv's programs must be found.
WITH_VENV := PATH="$(CURDIR)/$(BIN):$$PATH"
UBUNTU := $(shell grep '^ID=ubuntu' /etc/os-release 2>/dev/null)
DEPS := $(if $(UBUNTU),chromium-browser,chromium) postgresql bubblewrap

.DEFAULT_GOAL := help
.PHONY: help lab grade test test-all bench build lint deps venv

help:
	@sed -n 's/^# \{0,1\}//p; /^$$/q' Makefile

venv: $(READY)

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "This needs Python 3.11 or later with venv" \
	  "(Debian, Ubuntu: apt-get install python3.11-venv)." >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@echo "Setting up .venv (the first time takes minutes): PyTorch, the largest part ..."
	@$(PIP) $(if $(TORCH_INDEX),--no-deps --index-url $(TORCH_INDEX)) torch
	@echo "... and the rest."
	@$(PIP) -e '.[dev]'
	@touch $@

lab: $(READY)
	@$(BIN)/autograder lab $(LAB_ARGS)

grade: $(READY)
	@if [ -d submitted ]; then $(WITH_VENV) $(BIN)/autograder grade; \
	  else $(WITH_VENV) $(BIN)/autograder grade --course examples/class; fi

test: $(READY)
	$(WITH_VENV) $(BIN)/python -m pytest -q -n 2 --dist loadgroup -m "not long" $(TEST_ARGS)

test-all: $(READY)
	$(WITH_VENV) $(BIN)/python -m pytest -q -n 2 --dist loadgroup $(TEST_ARGS)

bench: $(READY)
	$(WITH_VENV) $(BIN)/python -m benchmarks.engine
	$(WITH_VENV) $(BIN)/python -m benchmarks.grading
	$(WITH_VENV) $(BIN)/python -m benchmarks.confinement
	$(WITH_VENV) $(BIN)/python -m benchmarks.learner

build: $(READY)
	$(WITH_VENV) $(BIN)/autograder build

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

deps:
	@if ! command -v apt-get >/dev/null; then \
	  echo "Please install by hand, as this system does it: $(DEPS)" >&2; exit 1; fi; \
	missing=$$(for package in $(DEPS); do \
	  dpkg -s $$package 2>/dev/null | grep -q '^Status:.* installed' || echo $$package; done); \
	test -n "$$missing" || { echo "Already there: $(DEPS)"; exit 0; }; \
	echo "Installing:" $$missing; \
	if [ "$$(id -u)" = 0 ]; then root=; else root=sudo; fi; \
	$$root apt-get update -qq && $$root env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends $$missing >/dev/null
