# shellcheck shell=bash disable=SC2154
# The daemons of a cluster: each has a file in run/ with its process and the time that it started at, its command line
# beside that, and its output in log/.

kLookAgainS=0.2
kEndS=5

# pause SECONDS leaves the processor to those that are waited for: nobody writes into this pipe.
pause() { read -rt "$1" _ <> <(:) || :; }

# A process is ours when its pid file's start time is still that of the pid.
started_at() {
  local line fields
  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  read -ra fields <<<"${line##*) }"
  echo "${fields[19]}"
}

alive() {
  local pid start
  read -r pid start 2>/dev/null <"$dir/run/$1.pid" || return 1
  [ "$(started_at "$pid")" = "$start" ]
}

# launch NAME COMMAND... starts a daemon in a session of its own, in the cluster's control group where there is one.
launch() {
  local name=$1
  shift
  printf '%q ' "$@" >"$dir/run/$name.command"
  (
    exec </dev/null >>"$dir/log/$name.log" 2>&1
    cd "$dir" || exit
    if [ -n "$tracker" ]; then echo $BASHPID >"$tracker/daemons/cgroup.procs"; fi
    exec setsid "$@"
  ) &
  local pid=$!
  echo "$pid $(started_at $pid)" >"$dir/run/$name.pid"
}

# launch_lasting NAME COMMAND... starts a daemon that comes again when it ends by itself, as kubelet sees to it on a real
# control plane: a scheduler exits when it and the API server disagree about where a pod is.
launch_lasting() {
  local name=$1
  shift
  # shellcheck disable=SC2016
  launch "$name" bash -c '
    trap "kill \$daemon; wait \$daemon; exit" TERM
    while :; do
      setpriv --pdeathsig KILL "$@" &
      daemon=$!
      wait "$daemon" || :
      read -rt 0.2 _ <> <(:) || :
    done' "$name" "$@"
}

# launch_again NAME... starts daemons as they were started before.
launch_again() {
  local name words
  for name in "$@"; do
    [ -r "$dir/run/$name.command" ] || die "there never was a $name in $dir"
    ! alive "$name" || die "$name runs"
    eval "words=($(cat "$dir/run/$name.command"))"
    launch "$name" "${words[@]}"
  done
}

signal() {  # NAME SIGNAL
  local pid
  if alive "$1"; then
    read -r pid _ <"$dir/run/$1.pid"
    kill "-$2" "$pid" 2>/dev/null || :  # it may just have ended
  fi
}

# terminate NAME... asks all of them to end and kills those that have not after a while.
terminate() {
  local name end=$((SECONDS + kEndS))
  for name in "$@"; do signal "$name" TERM; done
  for name in "$@"; do
    while alive "$name" && [ $SECONDS -le $end ]; do pause "$kLookAgainS"; done
    signal "$name" KILL
    rm -f "$dir/run/$name.pid"
  done
}

# kill_all ends all daemons of a cluster that nobody needs any more.
kill_all() {
  local file name end=$((SECONDS + kEndS))
  for file in "$dir"/run/*.pid; do signal "$(basename "$file" .pid)" KILL; done
  for file in "$dir"/run/*.pid; do
    name=$(basename "$file" .pid)
    while alive "$name" && [ $SECONDS -le $end ]; do pause "$kLookAgainS"; done
  done
}

# await NAME WHAT COMMAND... waits until COMMAND succeeds, as long as the daemon NAME lives.
await() {
  local name=$1 what=$2 end=$((SECONDS + startup))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! alive "$name"; then
      tail -n 15 "$dir/log/$name.log" >&2
      die "$name has ended; its log is $dir/log/$name.log"
    fi
    if [ $SECONDS -ge $end ]; then
      tail -n 15 "$dir/log/$name.log" >&2
      die "no $what after $startup s; see $dir/log/$name.log"
    fi
    pause "$kLookAgainS"
  done
}

# watch_over PID ends the cluster when that process ends, also when it is killed. Whoever does so is not in the cluster's
# control group, as taking that down would take it, too.
watch_over() {
  # shellcheck disable=SC2016
  tracker='' launch keeper bash -c '
    tail --pid="$1" -s 0.5 -f /dev/null
    rm -f "$3/run/keeper.pid"
    exec "$2" down --purge --dir "$3"' keeper "$1" "$here/kubernetes-cluster" "$dir"
}
