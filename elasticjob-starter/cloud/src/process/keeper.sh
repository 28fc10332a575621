# Keeps the process of an item: leads its process group, and writes into the folder of the item that it began (pid) and how
# it ended (exit). It outlives the scheduler, so it is what holds the lock of the item: standard input, here 9. The program
# does not get the lock, so that what it leaves in the background does not keep it.
exec 9<&0 </dev/null
# What is written into the folder is for this user alone. The program has the mask of the scheduler.
mask=$(umask)
umask 077
folder=$1 command=$2 kilobytes=$3 cgroup=$4 events=$5
shift 5
# A signal to the group is for the program. A trap, as opposed to an ignored signal, is not handed on to it.
trap : TERM INT HUP QUIT
printf %s "$$" >"$folder/pid.new" && mv "$folder/pid.new" "$folder/pid" || exit 1
# What an earlier start left is not of this one. The outputs are open to append: the scheduler empties those that grow too large.
: >"$folder/stdout"
: >"$folder/stderr"
rm -f "$folder/stdout.before" "$folder/stderr.before"
(
    umask "$mask"
    exec 9<&-
    if [ -n "$cgroup" ]; then echo 0 >"$cgroup/cgroup.procs" || exit 126; fi
    if [ -n "$kilobytes" ]; then ulimit -v "$kilobytes" || exit 126; fi
    # This shell, too, waits for the program: a trap ends a shell only when the command in front of it has ended. What is asked to
    # end while it is being started is not started: these shells have taken the signal.
    exec /bin/sh -c "trap : TERM INT HUP QUIT; [ -e \"\$1\" ] && exit 143; shift; $command \"\$@\"" sh "$folder/ending" "$@"
) >>"$folder/stdout" 2>>"$folder/stderr" &
child=$!
# A signal ends the wait before the program has ended.
while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
exceeded=
if [ -n "$events" ] && grep -q '^oom_kill [1-9]' "$events"; then exceeded=' exceeded'; fi
printf %s "$code$exceeded" >"$folder/exit.new" && mv "$folder/exit.new" "$folder/exit"
if [ -n "$cgroup" ]; then rmdir "$cgroup" 2>/dev/null; fi
exit 0
