# Everything starts from a fresh machine with python3 (3.11 to 3.13) and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo format check test test-portable test-slow bench clean

setup: .venv/.installed

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || \
		{ echo "ptenmt needs Python 3.11 to 3.13; choose one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/ptenmt translate --run starter "Gostaria de uma mesa perto da janela."
	$(BIN)/ptenmt train --config demo.yaml
	$(BIN)/ptenmt evaluate --run demo
	$(BIN)/ptenmt translate --run demo "este modelo parece funcionar bem" \
		"este é um problema que temos que resolver"

format: setup
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

# Options of the shell's own for pytest change what is tested.
unexport PYTEST_ADDOPTS PYTEST_PLUGINS PYTEST_DISABLE_PLUGIN_AUTOLOAD

# Files of tests go to several processes, one more than there are cores, since some tests wait for others: tests in one
# file share costly fixtures. They go in the order of tests/conftest.py, long ones first.
PROCESSES = $(shell $(PYTHON) -c 'import os; print(min(4, 1 + (os.cpu_count() or 1)))')
PYTEST = $(BIN)/python -m pytest --numprocesses=$(PROCESSES) --dist=loadfile --no-loadscope-reorder

# TESTS=FILES runs some of them.
test: setup
	$(PYTEST) $(TESTS)

# The models' arithmetic on other CPUs: without oneDNN's kernels and without AVX2, AVX-512 or FMA in CTranslate2.
# PORTABLE=FILES runs some of them.
PORTABLE := tests/model tests/translation
test-portable: setup
	TF_ENABLE_ONEDNN_OPTS=0 CT2_FORCE_CPU_ISA=AVX $(PYTEST) $(PORTABLE)

# SLOW=FILES runs some of them. Tests that need packages of other environments are skipped without these options:
#   make test-slow SLOW="tests/export --transformers-python PYTHON"   (transformers, torch)
#   make test-slow SLOW="tests/translation/test_clusters.py --cluster-python PYTHON"  (ray, pyspark, ./deploy)
test-slow: setup
	$(PYTEST) -m slow $(SLOW)

bench: setup
	$(BIN)/ptenmt train --config demo.yaml --quiet
	$(BIN)/python benchmarks/translation.py --run demo --rounds 2 --repeat 2 --loop-sentences 4
	$(BIN)/python benchmarks/parity.py --run demo
	$(BIN)/python benchmarks/training.py --warmup 5 --seconds 5 --rounds 2 \
		$(if $(TORCH_PYTHON),--torch-python $(TORCH_PYTHON))

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache
