#!/usr/bin/env bash
# Counts the wines of each quality; every worker counts its part of the file. Written for tf-spawner.
set -euo pipefail
echo "worker $WORKER_NUMBER of $TOT_WORKERS"
awk -F ';' -v mine="$WORKER_NUMBER" -v workers="$TOT_WORKERS" \
  'NR > 1 && NR % workers == mine {count[$12]++; all++}
   END {for (quality in count) print "quality", quality, count[quality]; print "wines", all}' "$1"
