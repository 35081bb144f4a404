#!/bin/sh
echo "I am $GANGRUN_TASK_TYPE:$GANGRUN_TASK_INDEX of job $GANGRUN_JOB_ID"
echo "My address: $GANGRUN_HOST:$GANGRUN_PORT"
echo "We are all here: $GANGRUN_CLUSTER_SPEC"
