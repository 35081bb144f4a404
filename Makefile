# The few commands that a newcomer needs; the work is done by tools/.
.PHONY: help demo build wheel dist docs test quick acceptance bench clean
.DEFAULT_GOAL := help

help:  ## show this
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo:  ## install what is needed, build, and train a classifier as one gang on this machine
	@tools/demo

build:  ## build the programs: build/release/src/gangrun and gangrun-agent
	@tools/install-deps build
	@tools/build release gangrun gangrun-agent

wheel:  ## the Python package with the programs in it: out/wheel/gangrun-*.whl
	@tools/install-deps build wheel
	@tools/wheel

dist:  ## a release: wheels, source, tarball, .deb, image of the agent, bill of materials, sums; the same bytes each time: out/dist
	@tools/install-deps build test
	@tools/dist

docs:  ## the documentation site: out/site; look at it by python3 -m http.server -d out/site
	@tools/install-deps docs
	@tools/docs

test:  ## decides whether a change is good, in 20 minutes; ends with "N passed, N failed"
	@tools/install-deps build test demo
	@tools/run_tests test $(if $(KEEP_GOING),--keep-going) $(if $(ONLY),--only $(ONLY))

quick:  ## while you work: the house rules, and the tests of the rooms that the change can reach
	@tools/install-deps build test
	@tools/run_tests quick

acceptance:  ## all the rest, for hours: make acceptance ONLY=yarn,fuzz (tools/run_tests list shows the names)
	@tools/install-deps build test
	@tools/run_tests acceptance $(if $(ONLY),--only $(ONLY))

bench:  ## measure the claims of speed beside their peers, and draw the plots of docs/benchmarks.md: make bench ONLY=gang_start
	@tools/install-deps build test plots
	@GANGRUN_FIGURES=$(CURDIR)/bench/figures tools/run_tests bench $(if $(ONLY),--only $(ONLY))
	@tools/plots

clean:  ## remove what was built here (caches outside the checkout stay)
	rm -rf build
