"""A program that draws a progress bar, as those of training loops do."""

# On standard error, a state every 10 ms, until the file that its argument names is there.
BAR = """
import os, select, sys
step = 0
while not os.path.exists(sys.argv[1]):
    step += 1
    sys.stderr.write(f"\\rstep {step}")
    sys.stderr.flush()
    select.select([], [], [], 0.01)
sys.stderr.write("\\rall done\\n")
"""
