# The few commands that a newcomer needs; the work is done by tools/.
.PHONY: help demo build wheel test quick tidy coverage fuzz bench soak clean
.DEFAULT_GOAL := help

STAGE = tools/run_tests $(if $(KEEP_GOING),--keep-going)

help:  ## show this
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo:  ## install what is needed, build, and train a classifier as one gang on this machine
	@tools/demo

build:  ## build the programs: build/release/src/gangrun and gangrun-agent
	@tools/install-deps build
	@tools/build release gangrun gangrun-agent

wheel:  ## the Python package with the programs in it: out/wheel/gangrun-*.whl
	@tools/install-deps build test
	@tools/wheel

test:  ## everything that passes or fails, cheap failures first; ends with "N passed, N failed"
	@tools/install-deps build test demo frameworks
	@$(STAGE)

quick:  ## the house rules and the rooms' tests only
	@tools/install-deps build test
	@$(STAGE) tidy unit

tidy:  ## the house rules and clang-tidy
	@tools/install-deps build test
	@$(STAGE) tidy lint

coverage:  ## the lines of gang, journal and registry that their tests and the simulation run
	@tools/install-deps build test
	@$(STAGE) coverage

fuzz:  ## every parser of outside bytes, half a minute each
	@tools/install-deps build test
	@$(STAGE) fuzz

bench:  ## the speed claims, beside their peers
	@tools/install-deps build bench hadoop
	@$(STAGE) bench

soak:  ## 500 jobs whose processes are killed at random, 200 gangs beside a thief of ports, 1,000 kills at either end of a feed
	@tools/install-deps build test
	@tools/build release gangrun gangrun-agent core
	@python3 tests/soak/soak.py --rounds 500
	@python3 tests/soak/ports.py --gangs 200
	@"$$(tools/install-deps --venv test)/bin/python" tests/soak/feed.py --rounds 1000

clean:  ## remove what was built here (caches outside the checkout stay)
	rm -rf build
