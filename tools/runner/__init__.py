"""What `make quick`, `make test` and `make acceptance` run. tools/run_tests is their command line."""
