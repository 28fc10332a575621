#!/bin/sh
# The program of the carried job of README.md: a process for each item says which one it is.
echo "item $ELASTICJOB_SHARDING_ITEM of the fire of $ELASTICJOB_SCHEDULED_AT"
