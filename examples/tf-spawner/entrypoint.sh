#!/bin/bash
# With -c: what the workers run instead of the script alone, one command a line; each begins if the one before succeeded.
python -c 'import tensorflow; print("TensorFlow", tensorflow.__version__)'
python /script/training-script.py
