"""Starts the stock Hadoop daemons, each in a JVM of its own, and stops only what it started. Standard library only."""
