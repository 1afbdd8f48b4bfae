# Each target sets up what it needs: a fresh machine with Python 3.11 and make is enough.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= $(shell $(PYTHON) -c "import os; print(os.cpu_count())")
SCALE ?= paper
SEED ?= 1
VENV := .venv
READY := $(VENV)/.installed
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
UV := UV_HTTP_RETRIES=0 $(VENV)/bin/uv pip install --quiet --python $(VENV)/bin/python
TORCH := $(shell grep '^torch==' requirements.lock)
HASHED := --no-deps --require-hashes -r

# Python compiles what it imports once and keeps it. Without this, every job would compile again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo figures paper verify publish test same-bits cluster-test campaign coverage docs tutorial bench develop lock

help: ## Say what there is
	@echo "make demo            every table and figure at scale quick, in 4 to 10 minutes on two cores"
	@echo "make figures         every table and figure of what docs/results holds: nothing is trained (3 minutes)"
	@echo "make paper CORES=8   the same with the paper's sizes and five seeds"
	@echo "make verify          whether all results are whole, in place and of today's code"
	@echo "make publish         what has been run so far at the paper's scale into docs/results/"
	@echo "make test            format, lint, types, unit, workflow and smoke tests"
	@echo "make same-bits       that emulated processors give the same bits (needs qemu-user, 3 minutes)"
	@echo "make cluster-test    a run on Slurm with two nodes, one of which dies (as root on Debian, 5 minutes)"
	@echo "make campaign SEED=1 thousands of random faults, kills and damages; none may go unnoticed"
	@echo "make coverage        which lines the unit tests run"
	@echo "make docs            docs/settings.md, docs/api.md and the editors' schema, from the declarations"
	@echo "make tutorial        run docs/tutorial.md as it stands; its pictures and its notebook (3 minutes)"
	@echo "make bench           how fast the learner is, as ratios"
	@echo "make develop         settings compared on worlds of which nothing is reported (75 minutes on two cores; WORLDS=2: some)"
	@echo "make lock            write requirements.lock and its hashes again from requirements.in"
	@echo "An interrupted command goes on where it stopped when it is given again."

demo: $(READY)
	@$(VENV)/bin/icl run --scale quick --cores $(CORES)
	@echo "The report: $(CURDIR)/results/quick/report.html"

figures: $(READY)
	@$(VENV)/bin/icl restore --scale $(SCALE) --show --cores $(CORES)

paper: $(READY)
	@$(VENV)/bin/icl run --scale paper --cores $(CORES)
	@echo "The report: $(CURDIR)/results/paper/report.html"

verify: $(READY)
	@$(VENV)/bin/icl verify --scale $(SCALE)

publish: $(READY)
	@$(VENV)/bin/python -m workflow.lib.publish $(SCALE) $(CORES)

test: $(READY)
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/snakefmt --check Snakefile workflow
	$(VENV)/bin/lint-imports
	$(VENV)/bin/mypy
	$(VENV)/bin/snakemake --lint
	$(VENV)/bin/snakemake --dry-run --quiet rules -- all
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2

same-bits: $(READY)
	$(VENV)/bin/python -m tests.same_bits compare

campaign: $(READY)
	$(VENV)/bin/python -m tests.campaign --seed $(SEED) --cores $(CORES)

cluster-test: $(READY)
	$(VENV)/bin/python -m tests.cluster.run $(TARGETS)

coverage: $(READY)
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2 --cov=icl_core --cov=workflow --cov-report=term:skip-covered --ignore=tests/workflow

docs: $(READY)
	@$(VENV)/bin/python -m workflow.lib.settings_page
	@$(VENV)/bin/python -m workflow.lib.api_page

tutorial: $(READY)
	$(VENV)/bin/python -m tests.tutorial

bench: $(READY)
	$(VENV)/bin/python bench/run.py

develop: $(READY)
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m develop.run --cores $(CORES) $(if $(WORLDS),--worlds $(WORLDS))

# The stamp is older than the lock after an edit or a pull: then the environment is brought up to date.
# Every package but PyTorch is compared with its hash; PyTorch comes last, when all that it needs is
# there. uv, with a hash too, is four times as fast as pip, and knows the builds of PyTorch for CPUs;
# where it does not find them, pip brings PyTorch; where uv does not work at all, pip brings everything.
$(READY): requirements.lock requirements.hashes pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info[:2] != (3, 11) and \
	'error: expected Python 3.11, found %d.%d; name one with make PYTHON=...' % sys.version_info[:2])"
	@$(VENV)/bin/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Setting up $(VENV): half a minute, or some with a slow network"
	@{ sed -n '/^uv==/,/[^\\]$$/p' requirements.hashes | $(PIP) $(HASHED) /dev/stdin && \
	$(UV) $(HASHED) requirements.hashes; } 2> /dev/null || $(PIP) $(HASHED) requirements.hashes
	@$(UV) --torch-backend cpu $(TORCH) 2> /dev/null || $(PIP) $(TORCH)
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# Hashes stand in a file of their own, without torch: it comes as a different wheel on every kind of
# machine, and pip checks hashes for all packages of a file or for none.
lock:
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet torch==2.13.0
	.venv-lock/bin/python -m pip install --quiet -r requirements.in
	(echo "# Written by make lock from requirements.in. Python 3.11."; \
	.venv-lock/bin/python -m pip freeze --all --exclude-editable | sed 's/+cpu$$//' | grep -v '^pip==') > requirements.lock
	(echo "# Written by make lock: the packages of requirements.lock but torch, with the hashes of all"; \
	echo "# their files."; grep -v '^torch==' requirements.lock | .venv-lock/bin/uv pip compile - --quiet \
	--no-deps --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.11) \
	> requirements.hashes
	(sed '/- pip:/q' workflow/envs/locked.yaml; sed -n '/==/s/^/      - /p' requirements.lock) > .venv-lock/conda
	mv .venv-lock/conda workflow/envs/locked.yaml
	rm -rf .venv-lock
