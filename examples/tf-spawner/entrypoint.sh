#!/bin/bash
# With -c, the workers run these lines instead of the script alone. Each line runs only if the one before succeeded.
python -c 'import tensorflow; print("TensorFlow", tensorflow.__version__)'
python /script/training-script.py
