# Runs the job in the place named by CGROUP, in the checkout CHECKOUT. The kernel has both from its command line and
# gives them to its first process as environment variables.
set -e
TREE=/sys/fs/cgroup
USER_ID=57999
export HOME=/run/home
TAP=/srv/tap # On the disk, and empty.

# Makes a group, with memory and pids counted, and moves this process into it.
enter() {
  group=$TREE
  for name in $(echo "$1" | tr / ' '); do
    echo '+memory +pids' > "$group/cgroup.subtree_control"
    group=$group/$name
    mkdir "$group"
  done
  echo $$ > "$group/cgroup.procs"
}

# Marks a group as systemd does for a unit with Delegate=yes.
delegate() {
  python3 -S -c 'import os, sys
for mark in "trusted.delegate", "user.delegate": os.setxattr(sys.argv[1], mark, b"1")' "$group"
}

mkdir -p "$HOME" "$TAP" "$CHECKOUT/.tap"
mount --bind "$TAP" "$CHECKOUT/.tap"
cd "$CHECKOUT"
case $CGROUP in
  root) # A system without systemd.
    exec sh /run/job.sh ;;
  session) # A shell of root's on a system with systemd.
    enter user.slice/user-0.slice/session-1.scope
    exec sh /run/job.sh ;;
  unit)
    enter system.slice/scenepress.service
    delegate
    exec sh /run/job.sh ;;
  user) # A unit with User=.
    enter system.slice/scenepress.service
    delegate
    chown $USER_ID "$group" "$group/cgroup.procs" "$group/cgroup.threads" "$group/cgroup.subtree_control"
    chown $USER_ID "$HOME" .tap
    exec setpriv --reuid $USER_ID --regid $USER_ID --clear-groups sh /run/job.sh ;;
  container) # One that sees only its own part of the tree.
    enter system.slice/container.scope
    exec unshare --cgroup --mount sh -ec 'umount "$0"; mount -t cgroup2 cgroup2 "$0"; exec sh /run/job.sh' $TREE ;;
esac
echo "There is no place '$CGROUP'."
exit 1
