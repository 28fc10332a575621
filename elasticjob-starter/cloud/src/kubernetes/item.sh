# Runs the items of a pod. The arguments are the command, the folder of the package or nothing, how many bytes the failure
# of an item may take or nothing where the pod has one item, and then a text for each pod of the Job: calls of `item`.
command=$1 package=$2 room=$3
shift 3
shift "${JOB_COMPLETION_INDEX:-0}"
items=$1

if [ -n "$package" ]; then
    cd "$package" || exit 126
    # Archives of a folder and archives of its content are both common.
    first=${command%%[[:space:]]*}
    if [ ! -e "$first" ]; then
        set -- *
        if [ $# -eq 1 ] && [ -e "$1/$first" ]; then cd "$1" || exit 126; fi
    fi
    export PATH="$PWD:$PATH"
fi

# How many places of these items were lost before is told to the pods of a launch, and is not for the program.
if [ -n "${ELASTICJOB_PLACES_LOST+told}" ]; then
    export ELASTICJOB_ATTEMPT=$((${ELASTICJOB_PLACES_LOST:-0} + 1))
    unset ELASTICJOB_PLACES_LOST
fi

children=
# item NUMBER CARRIED [VARIABLE=VALUE]... -- [ARGUMENT]...
item() {
    number=$1 carried=$2
    shift 2
    (
        # What is the same for all items is there already, as a JSON object.
        export ELASTICJOB_CARRIED="{$carried,${ELASTICJOB_CARRIED#?}"
        export ELASTICJOB_FAILURE=/dev/termination-log
        if [ -n "$room" ]; then export ELASTICJOB_FAILURE="/elasticjob/failures/$number"; fi
        while [ "$1" != -- ]; do
            export "$1"
            shift
        done
        shift
        # This shell, too, waits for the program: a trap ends a shell only when the command in front of it has ended.
        exec /bin/sh -c "trap : TERM INT HUP QUIT; $command \"\$@\"" sh "$@"
    ) &
    children="$children $number:$!"
}

# Kubernetes asks the first process of a container alone to end, and that one is this shell: it tells the others.
trap 'trap : TERM; kill -TERM 0' TERM
eval "$items"

worst=0
for child in $children; do
    number=${child%:*} process=${child#*:}
    # A signal ends the wait before the program has ended.
    while wait "$process"; code=$?; kill -0 "$process" 2>/dev/null; do :; done
    if [ "$code" -eq 0 ]; then continue; fi
    worst=$code
    # The separator says that these are words of the program, and not the end of its log.
    if [ -n "$room" ]; then
        text=$(head -c "$room" "/elasticjob/failures/$number" 2>/dev/null | tr '\036' ' ')
        printf '%s %s %s\036' "$number" "$code" "$text" >>/dev/termination-log
    elif [ -s /dev/termination-log ]; then
        printf '\036' >>/dev/termination-log
    fi
done
exit "$worst"
