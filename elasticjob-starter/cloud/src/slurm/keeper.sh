#!/bin/sh
# Keeps a process on the node that Slurm gave it, and writes what became of it into a folder that all hosts share.
#   keeper.sh item FOLDER     runs the item once
#   keeper.sh daemon FOLDER   starts the process again when it ends, after a pause that grows
# FOLDER has a folder for each index of the array, and in it `run.sh`, which becomes the program.
kind=$1
folder=$2
place=$folder/$SLURM_ARRAY_TASK_ID
attempt=${SLURM_RESTART_COUNT:-0}
stop=$place/stop
child= ending=

# A file that is there as a whole or not at all.
write() {
    printf %s "$2" >"$1.$SLURM_JOB_ID" && mv "$1.$SLURM_JOB_ID" "$1"
}

# Slurm sends the signal to all processes of the job. When the grace is over this script ends, and Slurm kills the rest. The note
# keeps a scheduler whose request got no answer from sending a second signal.
asked_to_end() {
    [ -z "$ending" ] && grace=$(cat "$stop" 2>/dev/null) || return
    ending=yes
    (trap '' TERM; sleep "$grace"; kill -USR1 $$) &
    write "$place/ending-$SLURM_ARRAY_JOB_ID" ''
}
trap asked_to_end TERM
trap 'exit 143' USR1
trap : INT HUP QUIT

# Runs the program until it ends; its exit code is in `code`.
run() {
    ELASTICJOB_FAILURE=$1/failure /bin/sh "$place/run.sh" "$stop" >"$1/stdout" 2>"$1/stderr" </dev/null &
    child=$!
    # A signal ends the wait before the program has ended.
    while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
    # Or just before it ends: then its exit code is still to be had, else 127. Bash may say -1 first.
    for _ in 1 2 3; do
        [ "$code" -gt 128 ] || break
        wait "$child" 2>/dev/null
        again=$?
        [ "$again" -eq 127 ] && break
        [ "$again" -ge 0 ] && code=$again
    done
}

run_item() {
    # The first array that comes here runs the item. Another one comes of a submission whose answer got lost.
    claim=$place/claim.$SLURM_JOB_ID
    printf %s "$SLURM_ARRAY_JOB_ID" >"$claim" || exit 1
    ln "$claim" "$place/claim" 2>/dev/null
    rm -f "$claim"
    [ "$(cat "$place/claim")" = "$SLURM_ARRAY_JOB_ID" ] || exit 0
    # A cluster may be set to run failed jobs again. A program that has ended is not.
    for ended in "$place"/*/exit; do
        [ -e "$ended" ] && exit "$(cat "$ended")"
    done
    [ -e "$stop" ] && exit 143
    if [ "$attempt" -ge 3 ]; then
        write "$place/given-up" "$attempt"
        exit 1
    fi
    # Without -p: a launch that is forgotten does not come back.
    mkdir "$place/$attempt" || exit 1
    write "$place/attempt" "$attempt"
    # The token of the run is the same for each attempt, and the program on a lost node may still write.
    export ELASTICJOB_ATTEMPT=$((attempt + 1))
    run "$place/$attempt"
    write "$place/$attempt/exit" "$code"
    exit "$code"
}

# The highest number of a claim is in `last`.
find_last() {
    last=0
    for found in "$claims"/claim-*; do
        [ "${found##*-}" -gt "$last" ] 2>/dev/null && last=${found##*-}
    done
}

# Goes on if this array holds the process: it has the claim with the highest number. A scheduler offers a number when the holder of
# the one before has ended. It comes too late where another array has it, where there is a higher one, and where the folder was
# removed and made again meanwhile. An array that Slurm starts again has its claim.
hold() {
    mine=$claims/of.$SLURM_JOB_ID
    number= offered_in=
    printf %s "$SLURM_ARRAY_JOB_ID" >"$mine" || exit 1
    read -r number offered_in <"$claims/next"
    [ "$offered_in" = "$(cat "$claims/id")" ] && ln "$mine" "$claims/claim-$number" 2>/dev/null
    rm -f "$mine"
    find_last
    holder=$(cat "$claims/claim-$last" 2>/dev/null)
    if [ "$holder" != "$SLURM_ARRAY_JOB_ID" ]; then
        echo "array $SLURM_ARRAY_JOB_ID runs nothing: array ${holder:-of a later submission} has this process" >&2
        exit 0
    fi
    # The one before stays: a keeper that lists the folder at this time sees one of the two.
    for found in "$claims"/claim-*; do
        [ "${found##*-}" -lt $((last - 1)) ] && rm -f "$found"
    done
    for note in "$place"/stop-* "$place"/asked-* "$place"/ending-*; do
        case ${note#"$place"/} in
            stop-"$SLURM_ARRAY_JOB_ID" | ending-"$SLURM_ARRAY_JOB_ID") ;;
            asked-"$SLURM_ARRAY_JOB_ID" | asked-"$SLURM_ARRAY_JOB_ID"-*) ;;
            # One that is being written.
            *.*) ;;
            *) rm -f "$note" ;;
        esac
    done
    rm -f "$place/status" "$place/failure"
}

keep_daemon() {
    # The claims of all settings of the job are in one folder beside those of its settings, JOB-SETTINGS.
    claims=${folder%-*}-claims/$SLURM_ARRAY_TASK_ID
    # A stop of this array is not one of another array of the process.
    stop=$place/stop-$SLURM_ARRAY_JOB_ID
    # One that is not wanted any more leaves the process to the array behind it.
    [ -e "$stop" ] && exit 0
    hold
    restarts=$(cat "$place/restarts" 2>/dev/null) || restarts=0
    pause=1
    while [ ! -e "$stop" ]; do
        began=$(date +%s)
        rm -f "$place/failure"
        write "$place/status" "$SLURM_ARRAY_JOB_ID running $restarts $began"
        run "$place"
        [ -e "$stop" ] && break
        # One that lived for a minute has started well.
        [ $(($(date +%s) - began)) -ge 60 ] && pause=1
        restarts=$((restarts + 1))
        write "$place/restarts" "$restarts"
        write "$place/status" "$SLURM_ARRAY_JOB_ID waiting $restarts $pause $code"
        sleep "$pause" &
        wait $!
        pause=$((pause * 2))
        [ "$pause" -gt 300 ] && pause=300
    done
    exit 0
}

cd "$place" || exit 1
case $kind in
    item) run_item ;;
    daemon) keep_daemon ;;
esac
