# Runs a server for as long as its owner lives: sh watchdog.sh SOCKET FOLDER COMMAND…
#
# Standard input is a pipe that the owner holds open and never writes to. When it ends, the socket
# is withdrawn first, so that nobody attaches to a server about to end; then the server is told to
# stop, and FOLDER is removed where one is given. Standard output is the lock of a kept directory,
# which the server inherits and holds until it is gone; standard error is the log.

socket=$1
folder=$2
shift 2

trap '' HUP INT
exec 3<&0 4>&1
"$@" </dev/null >&2 3<&- &
server=$!
trap 'kill -TERM "$server" 2>/dev/null' TERM
(
    read -r _ <&3
    rm -f -- "$socket"
    kill -TERM "$server"
) 2>/dev/null &
reader=$!
exec 3<&-

wait "$server"
while kill -0 "$server" 2>/dev/null; do
    wait "$server"
done
kill -KILL "$reader" 2>/dev/null
[ -z "$folder" ] || rm -rf -- "$folder"
